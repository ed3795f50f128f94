"""Results of a node's probes. Pure functions.

None means that a probe could not finish, because the node did not answer or limited its callers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Sample(NamedTuple):
    """A height from a node, and its time: `time.monotonic` before the request and after the response."""

    asked: float
    answered: float
    height: int


class Pool(NamedTuple):
    """What many quick requests reveal about the machines behind a URL."""

    requests: int
    apart: int
    """Minimum number of blocks between the machines; 0 if all responses could come from one machine."""


class Tag(NamedTuple):
    """A block tag such as `finalized`."""

    is_supported: bool
    behind: int = 0
    """Blocks below the newest."""


@dataclass
class NodeFacts:
    """What one RPC URL supports."""

    host: str
    failure: str | None = None
    """Why no probe was possible, as a sentence; nothing else is known then."""
    chain_id: int | None = None
    pool: Pool | None = None
    batch: int | None = None
    """Largest batch that was answered, 1 if the node refuses batches."""
    batch_asked: int = 0
    """Largest batch that was tried."""
    history: int | None = None
    """Blocks below the newest at which `eth_call` and `eth_getBalance` work; 0 is the newest block only."""
    is_archive: bool = False
    """Whether the oldest probed state can be read too."""
    ignores_block: bool | None = None
    """Whether `eth_call` answers for a block that does not exist, so that its block parameter has no effect."""
    log_range: int | None = None
    """Largest number of blocks of one `eth_getLogs` that worked, 0 if even one block is refused."""
    log_range_asked: int = 0
    logs_by_hash: bool | None = None
    logs_with_block: bool | None = None
    """Whether a block and its logs come in one batch."""
    safe: Tag | None = None
    final: Tag | None = None
    priority_fee: bool | None = None
    fee_history: bool | None = None
    gas_price: bool | None = None
    estimates: bool | None = None
    receipts: bool | None = None
    sends: bool | None = None
    age: float | None = None
    """Seconds since the newest block's timestamp."""
    gas_limit: int | None = None
    calls: int = 0
    limited: int = 0
    """Number of calls that met a rate limit."""
    notes: list[str] = field(default_factory=list)


def blocks_apart(samples: Sequence[Sample], block_time: float) -> int:
    """Return the minimum number of blocks between the machines behind a URL, 0 if one machine explains all heights.

    One machine never goes back, and advances by about a block per `block_time`; two more blocks are tolerated.
    """
    return max((_beyond_chance(a, b, block_time) for a in samples for b in samples), default=0)


def _beyond_chance(higher: Sample, lower: Sample, block_time: float) -> int:
    difference = higher.height - lower.height
    if higher.answered <= lower.asked:
        return max(0, difference)
    elapsed = max(higher.answered, lower.answered) - min(higher.asked, lower.asked)
    return max(0, difference - math.ceil(elapsed / block_time) - 2)
