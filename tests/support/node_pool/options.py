"""Capabilities of a node pool and faults of its machines."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Batches(StrEnum):
    """How a provider responds to a JSON-RPC batch."""

    ANSWERED = "answered"
    HTTP_400 = "http_400"
    """Status 400 and a line of text."""
    ERROR_OBJECT = "error_object"
    """One error object (-32600) instead of a list."""
    ERROR_LIST = "error_list"
    """A list of one error object that has no id."""


@dataclass(frozen=True)
class PoolOptions:
    """The behaviour of one RPC URL. The defaults are those of a single healthy node.

    `machines` machines stand behind the URL, and each request goes to one of them, chosen by `seed`. A machine is up
    to `most_behind` blocks behind the chain; how many changes as it answers requests, and its own head never goes back.
    `lags` fixes the machines and how far behind each of them is. `syncing_at` adds a machine that is stuck at a height.
    """

    seed: int = 0
    machines: int = 1
    most_behind: int = 0
    lags: tuple[int, ...] | None = None
    syncing_at: int | None = None
    routes: Mapping[str, int] = field(default_factory=dict)
    """Method to the number of the machine that answers it; a batch follows its first call that has a route."""
    splits_batches: bool = False
    """Each call of a batch goes to a machine of its own, so nothing in a batch fits together."""

    batches: Batches = Batches.ANSWERED
    most_calls: int | None = None
    """Most calls in a batch."""
    log_range: int | None = None
    """Most blocks of one `eth_getLogs`."""
    log_results: int | None = 10_000
    """Most logs of one answer."""
    log_addresses: int | None = None
    """Most addresses in one `eth_getLogs`."""
    refuses_logs_beyond_head: bool = False
    """Whether `eth_getLogs` beyond the machine's head is an error; most nodes truncate the range silently."""
    history: int | None = None
    """Blocks below a machine's head whose state it has: 0 is the head only, None all of them."""
    safe: int | None = 6
    final: int | None = 12
    """Blocks below a machine's head that its tags `safe` and `finalized` name; None where it lacks the tag."""
    missing: frozenset[str] = frozenset()
    """Methods that do not exist."""

    rate_limited: float = 0.0
    """Share of requests answered with status 429."""
    retry_after: int = 0
    """Seconds in the header of such a response."""
    gateway_errors: float = 0.0
    """Share of requests answered with status 502, before they reach a machine."""
    lost: float = 0.0
    """Share of `eth_sendRawTransaction` that the chain accepts and whose response is lost."""
    stuck: frozenset[str] = frozenset()
    """Methods without a response: the connection stays open."""
    hangs: bool = False
    """Whether the connection stays open if a response is lost, so that the caller runs into its own timeout."""

    automine: bool = True
    """Whether a transaction is mined before its sender has the response; otherwise with the next block."""
    mines_every: int | None = None
    """Mine a block after this many requests: the chain grows while someone polls it, independent of the clock."""
    switches_within: int = 0
    """After a reorg each machine responds to up to this many more requests from the old branch."""
    returned: float = 1.0
    """Share of the transactions of a reorg's blocks that return to the mempool."""
