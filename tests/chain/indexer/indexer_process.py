"""A process that indexes a chain: `python -m tests.chain.indexer.indexer_process EID`.

It prints a line when it leads the chain.
"""

import asyncio
import os
import sys

import backend.registrations.listeners  # noqa: F401  (changes are announced to them)
from backend import models
from backend.chain.coordination import leadership
from backend.core.connections import database
from backend.registrations import event_streams

assert models, "every table is known"


async def main(eid: int) -> None:
    database.start(os.environ["DATABASE_URL"])
    indexer = asyncio.create_task(event_streams.run_indexer(asyncio.Event()))
    while not leadership.leads(eid):  # noqa: ASYNC110 - a lock is taken
        await asyncio.sleep(0.01)
    print("leads", flush=True)  # noqa: T201
    await indexer


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
