"""The block of a chain at a time."""

from dataclasses import dataclass, field

from backend.chain.rpc.json_rpc import Rpc
from backend.core.runtime import runtime

MOST = 10_000


@dataclass(frozen=True, slots=True)
class Timed:
    """A block and its time (Unix seconds)."""

    number: int
    time: int


@dataclass
class KnownTimes:
    """Times of blocks that this process has read below the newest final one, by chain and block."""

    times: dict[tuple[int, int], int] = field(default_factory=dict)


async def last_until(rpc: Rpc, moment: int, first: int, last: int) -> Timed | None:
    """Return the last block from `first` to `last` whose time is not after a moment; None if all are after it.

    Blocks are about equally far apart in time, so the next guess is interpolated; every third one halves the range, in
    case they are not.
    """
    newest = await _timed(rpc, last)
    if newest.time <= moment:
        return newest
    oldest = await _timed(rpc, first)
    if oldest.time > moment:
        return None
    turn = 0
    while newest.number - oldest.number > 1:
        turn += 1
        middle = _guess(oldest, newest, moment) if turn % 3 else (oldest.number + newest.number) // 2
        found = await _timed(rpc, middle)
        oldest, newest = (found, newest) if found.time <= moment else (oldest, found)
    return oldest


def _guess(oldest: Timed, newest: Timed, moment: int) -> int:
    """Return the block between two others that a moment would have if blocks were equally far apart."""
    span = max(newest.time - oldest.time, 1)
    guess = oldest.number + (newest.number - oldest.number) * (moment - oldest.time) // span
    return min(max(guess, oldest.number + 1), newest.number - 1)


async def _timed(rpc: Rpc, number: int) -> Timed:
    known = runtime.part(KnownTimes).times
    if (rpc.eid, number) not in known:
        block = await rpc.request("eth_getBlockByNumber", hex(number), False)
        if len(known) >= MOST:
            known.clear()
        known[rpc.eid, number] = int(block["timestamp"], 16)
    return Timed(number, known[rpc.eid, number])
