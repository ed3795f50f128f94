"""A process that indexes, beside the tests' own: `python -m tests.chain.indexing_process EID`. It prints a line when it
leads the chain."""

import asyncio
import os
import sys

import backend.listeners  # noqa: F401  (changes are announced to them)
from backend import db, indexing, models
from backend.chain import leadership

assert models, "every table is known"


async def main(eid: int) -> None:
    db.start(os.environ["DATABASE_URL"])
    indexer = asyncio.create_task(indexing.run_indexer(asyncio.Event()))
    while not leadership.leads(eid):  # noqa: ASYNC110 - a lock is taken
        await asyncio.sleep(0.01)
    print("leads", flush=True)  # noqa: T201
    await indexer


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
