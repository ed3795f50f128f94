"""The engine's queues: their names, which of them this process works on, and how they are worked on."""

from collections.abc import Sequence

from dbos import DBOS

from backend.chain import endpoints
from backend.settings import settings

QUEUE = "chain"
WEBHOOKS = "webhooks"
POLL = 0.2
"""Seconds between two looks at a queue for what other processes have enqueued; what is enqueued here rings."""


def queue_of(eid: int) -> str:
    """The queue of a chain whose work is done by workers of its own."""
    return f"{QUEUE}:{eid}"


def queues_here() -> list[str]:
    """The queues of the server: all but those of chains that have workers."""
    theirs = settings().worker_chains
    return [QUEUE, WEBHOOKS, *(queue_of(eid) for eid in endpoints.reachable() if eid not in theirs)]


async def register_queues(names: Sequence[str] = (QUEUE,)) -> None:
    """Queues for what goes to the chains: one run at a time per subject, in order."""
    for name in names:
        await DBOS.register_queue_async(name, partition_concurrency=1, polling_interval_sec=POLL)


async def register_webhooks() -> None:
    """A queue for webhooks: a few runs at a time per endpoint, so that one that hangs holds up nobody else."""
    await DBOS.register_queue_async(
        WEBHOOKS, partition_worker_concurrency=5, worker_concurrency=200, polling_interval_sec=POLL
    )
