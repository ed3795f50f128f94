"""Limits of one `eth_getLogs` of a chain: learned from its nodes' refusals, for this process only."""

from dataclasses import dataclass, field

from backend.chain.errors import RpcError
from backend.chain.rpc.terms import terms_of
from backend.chain.rpc.transport import is_behind
from backend.core.runtime import runtime

ADDRESSES = 200
"""Contracts named in one query."""
CAP = 10_000
"""Number of results at which providers truncate an answer; an answer of exactly this size counts as truncated."""
_MOST_PATIENT = 16
"""Maximum number of reads at a smaller range before a refused range is tried again."""


@dataclass
class LogLimits:
    """The blocks and addresses of one query. A refusal halves them. Successful reads double them again, up to the
    chain's terms; if that is refused too, the next attempt needs more reads."""

    most: int
    blocks: int
    addresses: int = ADDRESSES
    succeeded: int = 0
    """Reads of the whole range since it last changed."""
    patience: int = 1
    """Number of such reads before the range grows."""
    is_tried: bool = False
    """Whether the range has just grown and was not accepted yet."""

    def refused(self, blocks: int, addresses: int) -> bool:
        """Halve the range, or at one block the addresses; return False if nothing can be halved."""
        if blocks == 1 and addresses == 1:
            return False
        if self.is_tried:
            self.patience = min(self.patience * 2, _MOST_PATIENT)
        self.shrink(blocks, addresses)
        return True

    def shrink(self, blocks: int, addresses: int) -> None:
        """Halve the next query."""
        if blocks > 1:
            self.blocks = max(1, min(self.blocks, blocks) // 2)
        else:
            self.addresses = max(1, min(self.addresses, addresses) // 2)
        self.succeeded, self.is_tried = 0, False

    def accepted(self, blocks: int) -> None:
        """Count a read; grow after enough reads of the whole range."""
        if blocks < self.blocks or (self.blocks >= self.most and self.addresses >= ADDRESSES):
            return
        if self.is_tried:
            self.patience = 1
        self.succeeded, self.is_tried = self.succeeded + 1, False
        if self.succeeded >= self.patience:
            self.succeeded, self.is_tried = 0, True
            if self.addresses < ADDRESSES:
                self.addresses = min(self.addresses * 2, ADDRESSES)
            else:
                self.blocks = min(self.blocks * 2, self.most)


@dataclass
class LearnedLimits:
    """What this process has learned, by chain."""

    by_chain: dict[int, LogLimits] = field(default_factory=dict)


def limits_of(eid: int) -> LogLimits:
    """Return the limits of a chain, initially those of its terms."""
    most = terms_of(eid).log_range
    learned = runtime.part(LearnedLimits).by_chain
    known = learned.get(eid)
    if known is None or known.most != most:
        known = learned[eid] = LogLimits(most, most)
    return known


def is_beyond(error: RpcError) -> bool:
    """Return whether a machine refused because it does not have the last block yet; a shorter range may end before
    it."""
    return is_behind(error) or error.says("beyond current head", "beyond the current head", "greater than latest")


def is_unknown_method(error: RpcError) -> bool:
    """Return whether a node does not have the method, which no smaller range changes."""
    return error.code == -32601
