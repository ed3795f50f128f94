"""The indexer with the streams of every vertical. Importing this module registers them."""

import asyncio

from backend.assets.indexed_events import Transfers
from backend.chain.indexer import indexer, streams
from backend.chain.transactions import settlement
from backend.distributions.indexed_events import Claims
from backend.markets import blocked_orders, halts
from backend.markets.indexed_events import Orders
from backend.requests.corrections import settle_awaiting

streams.register(Transfers(), Orders(), Claims())
streams.then(halts.refresh, blocked_orders.refresh)
settlement.then(settle_awaiting)


async def run_indexer(stop: asyncio.Event) -> None:
    """Index every chain until stopped."""
    await indexer.run(stop)
