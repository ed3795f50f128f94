"""The nodes of a chain: which is asked first, and what the last calls told of each. Known to this process alone."""

import time
from dataclasses import dataclass, field

from backend.chain import endpoints

LONGEST_REST = 60.0
"""Seconds; a node that asks for more is asked again then."""
AGAIN = (0.2, 15.0)
"""Seconds that a node is passed over after its first failure, doubled with each one more, and at most."""


LIMIT_LASTS = 600.0
"""Seconds until a node that refused a batch is offered one again."""


REFUSALS = 3
"""Refusals of recent state in a row after which a node counts as one that keeps the newest only."""
LATEST_ONLY = 60.0
"""Seconds until that is tried again."""


class NodeFault(Exception):
    """A node did not do its part. `rest` is how long it wants to be left alone, in seconds; `is_passing` says that the
    same call may pass at once, as after a gateway's error."""

    def __init__(self, why: str, rest: float | None = None, *, is_passing: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.rest = rest
        self.is_passing = is_passing


class NodeBehind(NodeFault):
    """The machine that answered does not have a block yet that we have built on. Another machine behind the same URL
    may have it, so this does not count against the node."""


@dataclass
class Node:
    """One RPC URL of a chain. The URL may carry a provider's key, so nothing shows it."""

    url: str = field(repr=False)
    is_known: bool = False
    """Whether it was seen to be of its chain."""
    failures: int = 0
    error: str | None = None
    """What was wrong at the last call; None where it went well."""
    passed_over_until: float = 0.0
    rests_until: float = 0.0
    """By `time.monotonic`; before it the node has asked not to be called at all."""
    batch_limit: int = 1_000
    """Most calls that it takes in a batch; 1 where it takes none."""
    batch_limited_at: float = 0.0
    refused_states: int = 0
    """How often in a row it refused the state of a recent block."""
    latest_only_until: float = 0.0

    @property
    def is_latest_only(self) -> bool:
        """Whether it was seen, several times in a row and not long ago, to keep no state but the newest."""
        return time.monotonic() < self.latest_only_until

    def kept_state(self) -> None:
        """It answered for the block that was asked for."""
        self.refused_states = 0

    def refused_state(self) -> None:
        """It refused the state of a recent block: it keeps none, or one of its machines was being changed."""
        self.refused_states += 1
        if self.refused_states >= REFUSALS:
            self.refused_states, self.latest_only_until = 0, time.monotonic() + LATEST_ONLY

    def takes_batch(self, size: int) -> bool:
        """Whether a number of calls can be sent as one batch; a limit is tried again after a while."""
        if self.batch_limit < 1_000 and time.monotonic() - self.batch_limited_at > LIMIT_LASTS:
            self.batch_limit = 1_000
        return self.batch_limit > 1 and size <= self.batch_limit

    def refused_batch(self, size: int) -> None:
        """Remember that a batch of a size was refused."""
        self.batch_limit, self.batch_limited_at = max(1, size // 2), time.monotonic()

    def answered(self) -> None:
        """A call went well."""
        self.failures, self.error = 0, None
        self.passed_over_until = self.rests_until = 0.0

    def failed(self, fault: NodeFault) -> None:
        """A call went wrong."""
        now = time.monotonic()
        self.failures, self.error = self.failures + 1, fault.why
        self.passed_over_until = now + min(AGAIN[0] * 2 ** min(self.failures, 20), AGAIN[1])
        if fault.rest is not None:
            self.rests_until = now + min(fault.rest, LONGEST_REST)


_nodes: dict[tuple[int, str], Node] = {}


def of(eid: int) -> list[Node]:
    """The nodes of a chain in the order of the settings; none where the operator gave no URL."""
    return [_nodes.setdefault((eid, url), Node(url)) for url in endpoints.urls_of(eid)]


def in_turn(eid: int) -> list[Node]:
    """The nodes to ask, the best first: those that failed lately come last, those that want to rest not at all."""
    now = time.monotonic()
    awake = [node for node in of(eid) if node.rests_until <= now]
    return sorted(awake, key=lambda node: node.passed_over_until if node.passed_over_until > now else 0.0)


def rest(eid: int) -> float:
    """Seconds until a node of the chain may be called again; 0 where one may be now."""
    now = time.monotonic()
    return max(0.0, min((node.rests_until - now for node in of(eid)), default=0.0))


def faulty(eid: int) -> list[Node]:
    """The nodes whose last call went wrong."""
    return [node for node in of(eid) if node.error is not None]
