"""The nodes of a chain: their order of use, and the results of their latest calls. Known to this process only."""

import time
from dataclasses import dataclass, field

from backend.chain.rpc import node_urls
from backend.core.runtime import runtime

LONGEST_REST = 60.0
"""Maximum seconds; a node that asks for a longer rest is used again then."""
AGAIN = (0.2, 15.0)
"""Seconds that a node is skipped after its first failure, doubled with each further one, and the maximum."""


LIMIT_LASTS = 600.0
"""Seconds until a batch is sent again to a node that refused one."""


REFUSALS = 3
"""Refusals of recent state in a row after which a node counts as keeping only the newest state."""
LATEST_ONLY = 60.0
"""Seconds until older state is tried again."""


class NodeFault(Exception):
    """A failure of a node. `rest` is how long it must not be called, in seconds; `is_passing` says that the same call
    may pass immediately, as after a gateway's error."""

    def __init__(self, why: str, rest: float | None = None, *, is_passing: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.rest = rest
        self.is_passing = is_passing


class NodeBehind(NodeFault):
    """The machine that answered does not yet have a block that we rely on. Another machine behind the same URL may have
    it, so this does not count against the node."""


@dataclass
class Node:
    """One RPC URL of a chain. The URL may contain a provider's key, so it is never shown."""

    url: str = field(repr=False)
    eid: int = 0
    is_known: bool = False
    """Whether its chain ID was verified."""
    failures: int = 0
    error: str | None = None
    """The error of the last call; None if it succeeded."""
    passed_over_until: float = 0.0
    rests_until: float = 0.0
    """By `time.monotonic`; before it, the node has asked not to be called."""
    batch_limit: int = 1_000
    """Maximum number of calls in a batch; 1 if it accepts none."""
    batch_limited_at: float = 0.0
    refused_states: int = 0
    """How often in a row it refused the state of a recent block."""
    latest_only_until: float = 0.0

    @property
    def is_latest_only(self) -> bool:
        """Whether it recently and repeatedly showed that it keeps only the newest state."""
        return time.monotonic() < self.latest_only_until

    def kept_state(self) -> None:
        """Record an answer for the requested block."""
        self.refused_states = 0

    def refused_state(self) -> None:
        """Record a refusal of a recent block's state: it keeps none, or one of its machines was being replaced."""
        self.refused_states += 1
        if self.refused_states >= REFUSALS:
            self.refused_states, self.latest_only_until = 0, time.monotonic() + LATEST_ONLY

    def takes_batch(self, size: int) -> bool:
        """Return whether a number of calls can be sent as one batch; a limit is tested again after a while."""
        if self.batch_limit < 1_000 and time.monotonic() - self.batch_limited_at > LIMIT_LASTS:
            self.batch_limit = 1_000
        return self.batch_limit > 1 and size <= self.batch_limit

    def refused_batch(self, size: int) -> None:
        """Record that a batch of a size was refused."""
        self.batch_limit, self.batch_limited_at = max(1, size // 2), time.monotonic()

    def answered(self) -> None:
        """Record a successful call."""
        self.failures, self.error = 0, None
        self.passed_over_until = self.rests_until = 0.0

    def failed(self, fault: NodeFault) -> None:
        """Record a failed call."""
        now = time.monotonic()
        self.failures, self.error = self.failures + 1, fault.why
        self.passed_over_until = now + min(AGAIN[0] * 2 ** min(self.failures, 20), AGAIN[1])
        if fault.rest is not None:
            self.rests_until = now + min(fault.rest, LONGEST_REST)


@dataclass
class NodeList:
    """The nodes that this process has used, by chain and URL."""

    nodes: dict[tuple[int, str], Node] = field(default_factory=dict, repr=False)


def of(eid: int) -> list[Node]:
    """Return the nodes of a chain in the order of the settings; none if the operator configured no URL."""
    known = runtime.part(NodeList).nodes
    return [known.setdefault((eid, url), Node(url, eid)) for url in node_urls.urls_of(eid)]


def in_turn(eid: int) -> list[Node]:
    """Return the nodes to use, the best first: those that failed recently come last, resting ones are omitted."""
    now = time.monotonic()
    awake = [node for node in of(eid) if node.rests_until <= now]
    return sorted(awake, key=lambda node: node.passed_over_until if node.passed_over_until > now else 0.0)


def rest(eid: int) -> float:
    """Return the seconds until a node of the chain may be called; 0 if one may be called now."""
    now = time.monotonic()
    return max(0.0, min((node.rests_until - now for node in of(eid)), default=0.0))


def faulty(eid: int) -> list[Node]:
    """Return the nodes whose last call failed."""
    return [node for node in of(eid) if node.error is not None]
