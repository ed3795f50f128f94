"""Balance of the operator's wallet on each chain. It is read in the background: a scrape does not wait for chains."""

import asyncio
import time
from dataclasses import dataclass, field

import structlog
from prometheus_client import CollectorRegistry, Gauge, generate_latest

from backend.chain.chain_list import CHAINS
from backend.chain.deployment import contracts
from backend.chain.rpc import json_rpc, node_urls
from backend.core.errors import SignumError
from backend.core.runtime import runtime

log = structlog.get_logger()
FRESH = 60.0
"""Seconds between two readings."""
WAIT = 5.0
"""Seconds that a chain has to answer."""
UNIT = 10**18
"""Base units of a chain's native currency."""


@dataclass
class Balances:
    """The last balances, in whole units of the native currency, by endpoint ID; and the reading that runs."""

    of: dict[int, float] = field(default_factory=dict)
    read_at: float = -FRESH
    reading: "asyncio.Task[None] | None" = None


def text() -> bytes:
    """Return the last balances in Prometheus' text format; begin a reading if they are old."""
    balances = runtime.loop_part(Balances)
    if time.monotonic() - balances.read_at >= FRESH:
        balances.read_at = time.monotonic()
        balances.reading = asyncio.create_task(read(balances))
    registry, symbols = CollectorRegistry(), {entry.eid: entry.symbol for entry in CHAINS}
    gauge = Gauge(
        "signum_operator_balance",
        "Balance of the operator's wallet, in whole units of the chain's native currency.",
        ["chain", "currency"],
        registry=registry,
    )
    for eid, amount in balances.of.items():
        gauge.labels(str(eid), symbols.get(eid, "ETH")).set(amount)
    return bytes(generate_latest(registry))


async def read(balances: Balances) -> None:
    """Read the balances of all chains. One that does not answer keeps its last balance."""
    try:
        operator = await contracts.operator()
        await asyncio.gather(*(_read_one(balances, eid, operator) for eid in node_urls.reachable()))
    except Exception as error:
        log.warning("metrics.balances_not_read", error=type(error).__name__)


async def _read_one(balances: Balances, eid: int, operator: str) -> None:
    try:
        async with asyncio.timeout(WAIT):
            balances.of[eid] = await json_rpc.native_balance(eid, operator) / UNIT
    except (SignumError, TimeoutError, OSError) as error:
        log.info("metrics.balance_not_read", eid=eid, error=type(error).__name__)
