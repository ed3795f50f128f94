"""The server of the stories: the product in a separate process, which can be killed and started again.

As a program (`python -m tests.nodes.stories.server`) it is that process. It is the product with shorter pauses: the
chains of the stories mine every fraction of a second, where public ones take seconds.
"""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import aiohttp
import httpx

CHECKOUT = Path(__file__).resolve().parents[3]
NAME = "tests.nodes.stories.server"
from tests.support.night import NIGHT


class Server:
    """Starts the product, kills it and starts it again on the same database and port."""

    def __init__(self, folder: Path, port: int, settings: dict[str, str]) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.log = folder / "server.log"
        self.starts = 0
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SIGNUM_")}
        self._environment = kept | NIGHT | settings | {"SIGNUM_HOME": str(folder), "PORT": str(port)}
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        """Start the process and wait until it answers."""
        self.starts += 1
        with self.log.open("ab") as log:
            command = [sys.executable, "-m", NAME]
            self._process = subprocess.Popen(  # noqa: ASYNC220 - it starts immediately
                command, cwd=CHECKOUT, env=self._environment, stdout=log, stderr=log
            )
        async with httpx.AsyncClient(trust_env=False) as client, asyncio.timeout(120):
            while not await self._answers(client):
                if self._process.poll() is not None:
                    raise RuntimeError(f"The server ended while it started; see {self.log}.")
                await asyncio.sleep(0.05)

    async def _answers(self, client: httpx.AsyncClient) -> bool:
        try:
            return (await client.get(f"{self.url}/v1/health")).status_code == 200
        except httpx.TransportError:
            return False

    async def end(self, number: signal.Signals) -> None:
        """Send a signal and wait until the process is gone."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.send_signal(number)
        try:
            await asyncio.to_thread(self._process.wait, 30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)

    @property
    def is_running(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.poll() is None


def hasten() -> None:
    """Shorten the polling pauses, and the time that an observation must last, for the chains of the stories. The
    conclusions from the observations stay the same."""
    from backend.bridges import delivery, late_deliveries, own_delivery
    from backend.chain.deployment import preparation
    from backend.chain.indexer import index_pass, indexer, reorgs
    from backend.chain.rpc import connections, health, nodes
    from backend.chain.transactions import confirmation, replacement, settlement
    from backend.engine import executors
    from backend.limits import rate_limits
    from backend.server import sweep

    confirmation.RESEND = {True: 0.3, False: 1.5}
    confirmation._delays = lambda eid: iter(lambda: 0.25, None)  # type: ignore[assignment]
    replacement.TAKEN = dict.fromkeys((True, False), timedelta(seconds=6))
    replacement.STUCK = dict.fromkeys((True, False), timedelta(seconds=6))
    settlement.LEFT_ALONE, settlement.SEARCH = timedelta(seconds=2), 2.0
    indexer.POLL, indexer.NEXT = {True: 1.0, False: 0.5}, {True: (0.02, 0.02), False: (0.1, 0.3)}
    preparation.AGAIN = {True: 1.0, False: 0.5}
    delivery.PAUSES, own_delivery.EXECUTORS, late_deliveries.AGAIN = (0.15, 0.5), 15.0, timedelta(seconds=5)
    sweep.INTERVAL, executors.BEAT, health.AGAIN, reorgs.SECOND_LOOK = 5.0, 1.0, 2.0, 0.2
    index_pass.WINDOW_TIME, index_pass.READ_AGAIN = 4.0, (32, 2.0)
    nodes.AGAIN, connections.TIMEOUT = (0.05, 0.5), aiohttp.ClientTimeout(3.0)
    rate_limits.is_on = lambda: False  # type: ignore[assignment]


async def main() -> None:
    """Serve until SIGTERM."""
    from granian.constants import Interfaces
    from granian.log import LogLevels
    from granian.server.embed import Server as Granian

    from backend.api import create_api
    from backend.core.logs import output
    from backend.core.settings import settings
    from backend.server import runtime

    output.configure()
    hasten()
    app = create_api()
    web = Granian(
        app, address="127.0.0.1", port=settings().port, interface=Interfaces.ASGINL, log_level=LogLevels.warning
    )
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, web.stop)
    async with runtime.running(settings()):
        with suppress(asyncio.CancelledError):
            await web.serve()


if __name__ == "__main__":
    import uvloop

    uvloop.run(main())
