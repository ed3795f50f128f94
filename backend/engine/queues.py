"""The engine's queues: their names, which of them this process serves, and their concurrency."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from dbos import DBOS

from backend.chain.rpc import node_urls
from backend.core.settings import settings
from backend.engine import dbos_internals, fair_partitions

QUEUE = "chain"
WEBHOOKS = "webhooks"
LOGOUTS = "logouts"
"""Logout notices have slots of their own: no webhook can delay them."""
NIGHTLY = "nightly"
BULK = "bulk"
BULK_RUNS = 4
"""Runs of bulk work at a time in this process."""
SLOTS = MappingProxyType({WEBHOOKS: 200, LOGOUTS: 50})
"""Requests to receivers that a process sends at a time, by queue. `fair_partitions` divides them."""


def queue_of(eid: int) -> str:
    """Return the queue of a chain that has its own workers."""
    return f"{QUEUE}:{eid}"


def queues_here() -> list[str]:
    """Return the queues of the server: all except those of chains that have workers."""
    with_workers = settings().worker_chains
    chains = [queue_of(eid) for eid in node_urls.reachable() if eid not in with_workers]
    return [QUEUE, *SLOTS, BULK, NIGHTLY, *chains]


async def register_queues(names: Sequence[str] = (QUEUE,)) -> None:
    """Register queues for chain work: one run at a time per subject, in order."""
    for name in names:
        await _register(name, partition_concurrency=1)


async def register_fair() -> None:
    """Register the queues whose slots are shared fairly."""
    for name, slots in SLOTS.items():
        await _register(
            name,
            partition_worker_concurrency=fair_partitions.EACH,
            worker_concurrency=slots,
        )


def share_slots() -> None:
    """Let `fair_partitions` choose what starts in these queues.

    Call before the engine is launched; repeated calls have no effect.
    """
    dbos_internals.choose_partitions(_choose)


def _choose(queue: str, waiting: Sequence[str], running: Mapping[str, int]) -> dict[str, int] | None:
    return fair_partitions.choose(waiting, running, SLOTS[queue]) if queue in SLOTS else None


async def register_bulk() -> None:
    """Register the queue for bulk work: one run at a time per root organization, and few in all."""
    await _register(BULK, partition_concurrency=1, worker_concurrency=BULK_RUNS)


async def register_nightly() -> None:
    """Register the queue for nightly work."""
    await _register(NIGHTLY)


async def _register(name: str, **limits: Any) -> None:
    await DBOS.register_queue_async(name, **limits)
    dbos_internals.note_registration()
