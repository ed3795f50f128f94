"""The indexer with the streams of every vertical. Importing this module is what makes them known."""

import asyncio

from backend.assets.indexing import Transfers
from backend.chain import indexer
from backend.distributions.indexing import Claims
from backend.markets import halting
from backend.markets.indexing import Orders

indexer.register(Transfers(), Orders(), Claims())
indexer.then(halting.refresh)


async def run_indexer(stop: asyncio.Event) -> None:
    """Follow every chain until told to stop."""
    await indexer.run(stop)
