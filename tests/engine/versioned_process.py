"""Another process with the engine on the same database, which knows some workflows.

They are given by their names and versions: `python -m tests.engine.versioned_process URL NAME HOLD old:1 new:2`. A
workflow of the argument `hold` waits until the file HOLD exists.
"""

import asyncio
import signal
import sys
from pathlib import Path

from dbos import DBOS

from backend import models
from backend.core.connections import database
from backend.engine import engine, executors, queue_wakeup, versions

assert models, "every table is known, as in the server"
ORDERED, FREE = "versions:ordered", "versions:free"
"""Queues of the test: one run of a partition at a time, and any."""


async def main(url: str, name: str, hold: Path, known: list[str]) -> None:
    """Work until SIGTERM."""

    async def run(how: str) -> None:
        while how == "hold" and not hold.exists():  # noqa: ASYNC110, ASYNC240 - the test makes it
            await asyncio.sleep(0.02)

    for workflow in known:
        kind, version = workflow.split(":")
        versions.register(kind, run, int(version))
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    database.start(url)
    async with executors.present(url, name):
        await asyncio.to_thread(engine.start, url, name, [ORDERED, FREE])
        listening = asyncio.create_task(queue_wakeup.listen(stopping))
        await DBOS.register_queue_async(ORDERED, partition_concurrency=1)
        await DBOS.register_queue_async(FREE)
        await executors.watch(stopping)
        listening.cancel()
        await asyncio.to_thread(engine.stop)
    await database.stop()


if __name__ == "__main__":
    url, name, hold, *known = sys.argv[1:]
    asyncio.run(main(url, name, Path(hold), known))
