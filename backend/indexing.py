"""The indexer with the streams of every vertical. Importing this module is what makes them known."""

import asyncio

from backend.assets.indexing import Transfers
from backend.chain import indexer, settlement, streams
from backend.distributions.indexing import Claims
from backend.markets import halting
from backend.markets.indexing import Orders
from backend.requests.corrections import settle_awaiting

streams.register(Transfers(), Orders(), Claims())
streams.then(halting.refresh)
settlement.then(settle_awaiting)


async def run_indexer(stop: asyncio.Event) -> None:
    """Follow every chain until told to stop."""
    await indexer.run(stop)
