"""Lock files and orphans that a killed PostgreSQL server leaves in its data folder."""

from collections.abc import Iterator
from pathlib import Path

import psutil

PATIENCE = 1.0
"""Seconds for which the processes of a dead server may finish before they are killed."""


def is_served(folder: Path, pid: int) -> bool:
    """Return whether a process is the living server of a data folder. Every server works in its own data folder."""
    try:
        process = psutil.Process(pid)
        return process.status() != psutil.STATUS_ZOMBIE and Path(process.cwd()).resolve() == folder.resolve()
    except (psutil.Error, OSError):
        return False


def clear(folder: Path, socket_folder: Path | None = None) -> None:
    """Delete the lock files of a dead server and end its remaining processes; do nothing while the server lives.

    The process id in a lock file may be that of a zombie or of a different program: after kill -9 the id is free, or
    waits for init to reap it, and a server that finds such an id refuses to start.
    """
    pid_file = folder / "postmaster.pid"
    lines = pid_file.read_text().splitlines() if pid_file.exists() else []
    if lines and lines[0].strip().isdigit() and is_served(folder, int(lines[0])):
        return
    # They still write to the data files: a second server beside them would corrupt the database.
    _end(list(_orphans(folder)))
    pid_file.unlink(missing_ok=True)
    named = Path(lines[4].strip()) if len(lines) > 4 and lines[4].strip() else None
    for place in {folder, *(place for place in (named, socket_folder) if place is not None)}:
        for path in place.glob(".s.PGSQL.*"):
            path.unlink(missing_ok=True)


def _orphans(folder: Path) -> Iterator[psutil.Process]:
    wanted = str(folder.resolve())
    for process in psutil.process_iter(["name", "cwd"]):
        if process.info["cwd"] == wanted and str(process.info["name"]).startswith("postgres"):
            yield process


def _end(processes: list[psutil.Process]) -> None:
    _, alive = psutil.wait_procs(processes, PATIENCE)
    for process in alive:
        process.kill()
    psutil.wait_procs(alive, PATIENCE)
