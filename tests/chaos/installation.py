"""An installation for chaos: `signum serve` with its PostgreSQL and chains, workers, and Redis if it is installed.

It starts a process again when it dies, as a service manager does.
"""

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import httpx
import psutil

from backend.chain.rpc import node_urls
from backend.core.connections.embedded import outside_url
from tests.support.firm import BASE
from tests.support.night import NIGHT
from tests.support.server import free_port

CHECKOUT = Path(__file__).resolve().parents[2]
SIGNUM = [sys.executable, "-m", "backend.cli"]
PAUSE = 0.5
"""Seconds until a dead process is started again."""
_ENTRY = re.compile(r"^\d{4}-\d\d-\d\dT\S+ ", re.MULTILINE)
TRACEBACK = 12
"""Lines that are shown of a traceback."""
DISK_MIB = 2_500
"""Enough for 200 runs: the chains keep states of older blocks on it."""


class Installation:
    """The processes of an installation in one data folder."""

    def __init__(self, folder: Path, workers: int = 2, *, own_disk: bool = True) -> None:
        self.folder, self.home = folder, folder / "home"
        self.home.mkdir()
        self.has_own_disk = own_disk and _mounted(self.home)
        self.url = f"http://127.0.0.1:{(port := free_port())}"
        environment = {k: v for k, v in os.environ.items() if not k.startswith("SIGNUM_")} | NIGHT
        environment |= {"SIGNUM_HOME": str(self.home), "PORT": str(port), "SIGNUM_DEMO": "0"}
        environment |= {"SIGNUM_RATE_LIMITS": "off"}
        environment |= {"SIGNUM_WEBHOOK_LOOPBACK": "true"}
        self.commands = {"web": [*SIGNUM, "serve"]}
        if workers:
            environment["SIGNUM_WORKER_CHAINS"] = f"[{BASE}]"
        for number in range(1, workers + 1):
            self.commands[f"worker-{number}"] = [*SIGNUM, "worker", "--chain", str(BASE)]
        if redis := shutil.which("redis-server"):
            port = free_port()
            self.commands["redis"] = [redis, "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
            environment |= {"REDIS_URL": f"redis://127.0.0.1:{port}", "SIGNUM_RATE_LIMITS": "on"}
        self._environment = environment
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._watching: asyncio.Task[None] | None = None
        self.starts = 0

    @property
    def database(self) -> str:
        """Return the database's URL, the owner's."""
        return outside_url(self.home)

    async def start(self) -> None:
        """Start everything and wait until the server is ready."""
        self._watching = asyncio.create_task(self._watch())
        await self.ready(600)

    async def ready(self, seconds: float = 120) -> None:
        """Wait until the server is ready."""
        async with httpx.AsyncClient(trust_env=False, timeout=30) as client, asyncio.timeout(seconds):
            while not await self._is_ready(client):  # noqa: ASYNC110 - another process becomes ready
                await asyncio.sleep(0.1)

    async def _is_ready(self, client: httpx.AsyncClient) -> bool:
        try:
            return (await client.get(f"{self.url}/v1/ready")).status_code == 200
        except httpx.TransportError:
            return False

    async def _watch(self) -> None:
        for name in sorted(self.commands, key=lambda name: name != "redis"):
            self._launch(name)
        while True:
            await asyncio.sleep(PAUSE)
            for name, process in self._processes.items():
                if process.poll() is not None:
                    self._launch(name)

    def _launch(self, name: str) -> None:
        self.starts += 1
        with (self.folder / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                self.commands[name], cwd=CHECKOUT, env=self._environment, stdout=log, stderr=log, start_new_session=True
            )

    def parts(self) -> list[str]:
        """Return the names of all parts."""
        return [*self.commands, "postgres", *(f"chain {eid}" for eid in node_urls.EMBEDDED)]

    def processes_of(self, part: str) -> list[psutil.Process]:
        """Return the living processes of a part, the first one to end first; none while it is down."""
        pid = self._pid(part)
        try:
            first = psutil.Process(pid) if pid is not None else None
            if first is None or first.status() == psutil.STATUS_ZOMBIE:
                return []
            return [first, *first.children()] if part == "postgres" else [first]
        except psutil.Error:
            return []

    def _pid(self, part: str) -> int | None:
        if part in self._processes:
            return self._processes[part].pid
        file = self.home / "pg" / "postmaster.pid"
        if part.startswith("chain "):
            file = self.home / "chains" / f"{part.removeprefix('chain ')}.pid"
        try:
            return int(file.read_text().split("\n")[0])
        except (OSError, ValueError):
            return None

    async def command(self, *arguments: str) -> tuple[int, str]:
        """Run a command of the operator; return its exit code and output."""
        done = await asyncio.to_thread(
            subprocess.run,
            [*SIGNUM, *arguments],
            cwd=CHECKOUT,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def log_about(self, identifier: str) -> list[str]:
        """Return the warnings and errors about a request in all logs; of a traceback, the last lines."""
        entries = [e for name in self.commands for e in _ENTRY.split((self.folder / f"{name}.log").read_text())]
        found = [e.splitlines() for e in entries if identifier in e.partition("\n")[0] and not e.startswith("[info")]
        return [line for entry in found for line in (entry[0], *entry[1:][-TRACEBACK:])]

    async def stop(self) -> None:
        """Stop everything."""
        if self._watching is not None:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching
        for name in sorted(self._processes, key=lambda name: ("worker", "web", "redis").index(name.partition("-")[0])):
            if (process := self._processes[name]).poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    await asyncio.to_thread(process.wait, 60)
                except subprocess.TimeoutExpired:
                    process.kill()
        if self.has_own_disk:
            subprocess.run(["umount", "--lazy", str(self.home)], check=False)  # noqa: ASYNC221


def _mounted(home: Path) -> bool:
    """Give the data folder a small disk of its own in memory, where this user may."""
    if os.geteuid() != 0 or sys.platform != "linux":
        return False
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m,mode=700", "signum-chaos", str(home)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
