"""The processes of the cluster, and a service manager that starts them again when they die."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import httpx

from tests.cluster import proxy
from tests.cluster.chains import Chains
from tests.cluster.findings import Differs
from tests.cluster.layout import WORKED_ON, Layout
from tests.cluster.postgres import Postgres
from tests.nodes.stories.comparison import Tables

CHECKOUT = Path(__file__).resolve().parents[2]
SIGNUM = [sys.executable, "-m", "backend.cli"]
PAUSE = 0.5
"""Seconds until a dead process is started again."""
DEPLOYED = "select chain_eid from chain_contracts where name = 'market_factory'"
WEB = ("web-1", "web-2")
WORKERS = ("worker-1", "worker-2")


class Cluster:
    """Everything that runs. A process that starts is of the version that is in the folder `version` then."""

    def __init__(self, layout: Layout, chains: Chains, version: Path = CHECKOUT) -> None:
        self.layout, self.chains, self.version = layout, chains, version
        self.postgres = Postgres(layout)
        redis = ["--port", str(layout.redis), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self._commands = {"redis": [str(shutil.which("redis-server")), *redis], "nginx": proxy.command(layout)}
        self._commands |= {name: [*SIGNUM, "serve"] for name in WEB}
        self._commands |= {name: [*SIGNUM, "worker", "--chain", str(WORKED_ON)] for name in WORKERS}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._held: set[str] = set()
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start everything: the second web process after the first one, which creates the operator."""
        await asyncio.to_thread(self.postgres.start)
        self._tasks = [asyncio.create_task(self.chains.fund(self.layout.database))]
        for name in ("redis", "web-1"):
            self.launch(name)
        await self.ready("web-1", seconds=300)
        for name in ("web-2", *WORKERS, "nginx"):
            self.launch(name)
        await self.ready("web-2", *WORKERS, seconds=120)
        self._tasks.append(asyncio.create_task(self._watch()))
        await self._contracts()

    async def _contracts(self) -> None:
        """Wait until the first web process has deployed Signum's contracts, which its wallet has to be funded for."""
        tables, eids = Tables(self.layout.database), self.chains.by_eid
        async with asyncio.timeout(180):
            while len(await asyncio.to_thread(tables.rows, DEPLOYED)) < len(eids):  # noqa: ASYNC110 - a web process does it
                await asyncio.sleep(0.5)

    async def stop(self) -> None:
        """Stop everything."""
        for task in self._tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        for name in (*WORKERS, *WEB, "nginx", "redis"):
            if name in self._processes:
                await self._end(name, signal.SIGTERM, 40)
        await asyncio.to_thread(self.postgres.stop)

    def launch(self, name: str) -> None:
        """Start a process."""
        self._held.discard(name)
        environment = self._environment()
        environment |= self.layout.own(name) if name in self.layout.ports else {"SIGNUM_HOME": str(self.layout.folder)}
        with (self.layout.folder / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                self._commands[name], cwd=self.version, env=environment, stdout=log, stderr=log, start_new_session=True
            )

    def _environment(self) -> dict[str, str]:
        own = {k: v for k, v in os.environ.items() if not k.startswith("SIGNUM_")}
        return own | self.layout.shared() | self.chains.settings()

    async def migrate(self) -> None:
        """Run `signum migrate` of the version, as an operator does. Raises Differs where it refuses."""
        environment = self._environment() | {"SIGNUM_HOME": str(self.layout.folder)}
        ended = await asyncio.to_thread(
            subprocess.run,
            [*SIGNUM, "migrate"],
            cwd=self.version,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode != 0:
            raise Differs(f"signum migrate ended with {ended.returncode}: {ended.stdout} {ended.stderr}")

    def send(self, name: str, number: signal.Signals) -> None:
        """Send a signal to a process."""
        self._processes[name].send_signal(number)

    def pid(self, name: str) -> int:
        """Return the id of a process."""
        return self._processes[name].pid

    async def end(self, name: str, number: signal.Signals = signal.SIGTERM) -> None:
        """End a process, and do not start it again before `launch`."""
        self._held.add(name)
        await self._end(name, number, 60)

    async def _end(self, name: str, number: signal.Signals, seconds: float) -> None:
        process = self._processes[name]
        process.send_signal(number)
        try:
            await asyncio.to_thread(process.wait, seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            await asyncio.to_thread(process.wait)

    async def ready(self, *names: str, seconds: float = 60) -> float:
        """Wait until web processes and workers are ready; return how long that took."""
        began = time.monotonic()
        async with httpx.AsyncClient(trust_env=False, timeout=5) as client:
            for name in names:
                while not await self._is_ready(client, name):
                    if time.monotonic() > began + seconds:
                        raise TimeoutError(f"{name} is not ready after {seconds:.0f} s")
                    await asyncio.sleep(0.1)
        return time.monotonic() - began

    async def _is_ready(self, client: httpx.AsyncClient, name: str) -> bool:
        try:
            return (await client.get(f"{self.layout.url(name)}/v1/ready")).status_code == 200
        except httpx.TransportError:
            return False

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(PAUSE)
            for name, process in self._processes.items():
                if name not in self._held and process.poll() is not None:
                    self.launch(name)
