"""How much one `eth_getLogs` of a chain may ask for: learned from what its nodes refuse, for this process alone."""

from dataclasses import dataclass

from backend.chain.errors import RpcError
from backend.chain.terms import terms_of
from backend.chain.transport import is_behind

ADDRESSES = 200
"""Contracts named in one query."""
CAP = 10_000
"""Results at which providers cut an answer off; one of exactly this size is taken as cut off."""
_MOST_PATIENT = 16
"""Reads at a smaller range before a range that was refused is tried again, at most."""


@dataclass
class LogLimits:
    """The blocks and addresses of one query. Refused ones are halved. Reads that succeed double them again, up to the
    chain's terms; where that is refused, too, it is tried again after more of them."""

    most: int
    blocks: int
    addresses: int = ADDRESSES
    succeeded: int = 0
    """Reads of the whole range since it last changed."""
    patience: int = 1
    """Such reads before the range grows."""
    is_tried: bool = False
    """Whether the range has just grown, and was not accepted yet."""

    def refused(self, blocks: int, addresses: int) -> bool:
        """Halve the range, or at one block the addresses; False where there is nothing left to halve."""
        if blocks == 1 and addresses == 1:
            return False
        if self.is_tried:
            self.patience = min(self.patience * 2, _MOST_PATIENT)
        self.shrink(blocks, addresses)
        return True

    def shrink(self, blocks: int, addresses: int) -> None:
        """Ask for half of what was asked for next time."""
        if blocks > 1:
            self.blocks = max(1, min(self.blocks, blocks) // 2)
        else:
            self.addresses = max(1, min(self.addresses, addresses) // 2)
        self.succeeded, self.is_tried = 0, False

    def accepted(self, blocks: int) -> None:
        """Count a read; grow where there were enough of the whole range."""
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


_limits: dict[int, LogLimits] = {}


def limits_of(eid: int) -> LogLimits:
    """Return the limits of a chain, at first those of its terms."""
    most = terms_of(eid).log_range
    known = _limits.get(eid)
    if known is None or known.most != most:
        known = _limits[eid] = LogLimits(most, most)
    return known


def is_beyond(error: RpcError) -> bool:
    """Whether a machine refused because it does not have the last block yet, which a shorter range may end before."""
    return is_behind(error) or error.says("beyond current head", "beyond the current head", "greater than latest")


def is_unknown_method(error: RpcError) -> bool:
    """Whether a node says that it has no such method, which no smaller range changes."""
    return error.code == -32601
