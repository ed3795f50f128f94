"""One pass of the indexer over a chain: what is new is read and written, piece by piece.

No transaction is open while a node is asked. A pass reads the cursor and the followed contracts in one short
transaction, asks the chain, and writes each piece in another one that locks the cursor and checks that it did not move.
"""

import math
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import structlog

from backend import db
from backend.chain import (
    alarms,
    cursor,
    endpoints,
    finality,
    floors,
    followed,
    health,
    log_reader,
    reorgs,
    streams,
)
from backend.chain.cursor import Block, Moved, Place
from backend.chain.errors import ChainUnavailable
from backend.chain.followed import Followed
from backend.chain.log_limits import limits_of
from backend.chain.log_reader import Behind, Forked, Piece
from backend.chain.models import AlarmKind
from backend.chain.rpc import Rpc
from backend.chain.terms import terms_of

log = structlog.get_logger()
STARTS = 10
"""Times that a pass begins again because another one wrote, or the chain was rewound, before it gives up."""
HISTORIES = 10.0
"""Seconds that a pass spends on the histories of newly followed contracts; the next one goes on with them."""
INCOMPLETE = -1
"""What a pass returns while the history of a contract is still being read."""
WINDOW = 64
"""Blocks at the end of what was read of a public chain that are read again, and at least `WINDOW_TIME`."""
WINDOW_TIME = 120.0
"""Seconds of the chain's time that the window covers."""
READ_AGAIN = (32, 60.0)
"""The window is read again after so many blocks, or so many seconds with a new block: each block twice or more."""
WINDOW_SHARE = 2.0
"""Seconds that one pass spends on the window; the next one goes on with it. Others wait for the pass."""

_left: dict[int, int] = {}
"""The block at which this process left the cursor of a chain."""
_read_again: dict[int, tuple[int, float]] = {}
"""The cursor's block and the time by `time.monotonic` when a chain's window was last read again."""
_windows: dict[int, "_Window"] = {}
"""By chain, the window that is being read again."""
_unalarmed: set[int] = set()
"""Chains on which this process has seen that no alarm about a deep reorganization is open."""


APART = 60.0
"""Seconds for which contracts are written one by one, after the events of one of them could not be written."""
_apart: Final[dict[int, float]] = {}
"""By chain, since when they are."""


@dataclass(slots=True)
class _Window:
    """Blocks from `first` on, which is the next to read, up to `last`; when the reading began, by `time.monotonic`."""

    first: int
    last: int
    began: float


async def make(rpc: Rpc) -> int:
    """Read what is new on a chain; return the block up to which the tables are right now, or INCOMPLETE."""
    for _ in range(STARTS):
        try:
            return await _Pass(rpc).make()
        except Moved:
            continue
        except streams.Unreadable:
            log.exception("indexer.reads_apart", eid=rpc.eid)
            _apart[rpc.eid] = time.monotonic()
    raise ChainUnavailable(f"The chain {rpc.eid} is being written by other processes all the time. Try again.")


class _Pass:
    """A pass. `place` is where the cursor stands after what was written so far."""

    def __init__(self, rpc: Rpc) -> None:
        self.rpc, self.eid = rpc, rpc.eid
        self.height = self.target = self.asked = 0
        self.place: Place
        self.followed: Followed
        self.is_verified = False
        """Whether the chain was seen to have the cursor's block."""

    async def make(self) -> int:
        if await self._begin():
            return self.place.block.number
        is_concluded = False
        try:
            with suppress(Behind):
                is_concluded = await self._advance()
                await self._read_histories()
                await self._read_window()
        except Forked:
            await self._undo()
        if not is_concluded:
            async with db.worker() as session:
                await self._conclude(session)
        _left[self.eid] = self.place.block.number
        return INCOMPLETE if self.followed.histories else self.place.block.number

    async def _begin(self) -> bool:
        """Read the place and the contracts; whether that was all, because the chain stands where it stood."""
        told = await self.rpc.request("eth_getBlockByNumber", "latest", False)
        newest = Block(int(told["number"], 16), str(told["hash"]))
        self.height, self.target = newest.number, max(0, newest.number - endpoints.confirmations(self.eid))
        async with db.worker() as session:
            place = await cursor.find(session, self.eid)
            if place is not None:
                return await self._open(session, place, newest)
        await self._put_cursor(newest)
        raise Moved

    async def _open(self, session: db.Write, place: Place, newest: Block) -> bool:
        self.asked = place.asked
        if place.block.number < _left.get(self.eid, 0):
            floors.lower_to(self.eid, place.block.number)  # an operator has rewound the chain
            finality.forget(self.eid)
            self._forget_window()
        self.place, self.followed = await followed.find(session, place)
        if newest != place.block or self.followed.histories:
            return False
        self.is_verified = True
        await self._conclude(session)
        return True

    async def _put_cursor(self, newest: Block) -> None:
        """Begin to read a chain at the target, with the blocks below it as its trail."""
        if endpoints.is_embedded(self.eid):
            blocks = [newest]
        else:
            numbers = range(max(0, self.target - cursor.TRAIL), self.target + 1)
            told = await self.rpc.batch([("eth_getBlockByNumber", [hex(number), False]) for number in numbers])
            if None in told:
                raise ChainUnavailable(f"The nodes of the chain {self.eid} disagree about its height. Try again.")
            blocks = [Block(number, str(block["hash"])) for number, block in zip(numbers, told, strict=True)]
        async with db.worker() as session:
            await cursor.begin(session, self.eid, blocks)

    async def _advance(self) -> bool:
        """Read up to the target; whether the pass was concluded with the last piece. Raises Behind and Forked."""
        if self.place.block.number >= self.target:
            await self._look()
        is_concluded = False
        while self.place.block.number < self.target:
            addresses = self.followed.current
            piece = await log_reader.read_next(self.rpc, addresses, self.place.block, self.target)
            is_concluded = await self._write(piece)
        return is_concluded

    async def _look(self) -> None:
        """See that the cursor's block is still on the chain. Raises Behind and Forked."""
        number = self.place.block.number
        told = await self.rpc.request("eth_getBlockByNumber", hex(number), False)
        if told is None and not endpoints.is_embedded(self.eid):
            raise Behind
        if told is None or told["hash"] != self.place.block.hash:
            raise Forked
        self.is_verified = True

    async def _write(self, piece: Piece) -> bool:
        """Write a piece and move the cursor to its end; whether the pass ends with it."""
        self.is_verified = True
        async with db.worker() as session:
            row = await cursor.lock(session, self.place)
            await self._apply(session, piece)
            self.place = await cursor.advance(session, row, piece.blocks)
            is_last = self.place.block.number >= self.target and not self.followed.histories and not self._is_due()
            if is_last:
                await self._conclude(session)
        return is_last

    async def _apply(self, session: db.Write, piece: Piece) -> int:
        is_apart = time.monotonic() - _apart.get(self.eid, -APART) < APART
        try:
            return await streams.apply(session, self.eid, piece.logs, self.followed.owners, apart=is_apart)
        except streams.UNREADABLE as error:
            raise streams.Unreadable from error

    async def _read_histories(self) -> None:
        """Read newly followed contracts from their creation up to the cursor, for some time."""
        end = time.monotonic() + HISTORIES
        while self.followed.histories and time.monotonic() < end:
            await self._read_history()

    async def _read_history(self) -> None:
        """Read the next piece of the oldest history, and of those that are about as far."""
        group = followed.together(self.followed.histories, limits_of(self.eid).blocks)
        first, addresses = group[0].first, [history.address for history in group]
        piece = await self._reread(addresses, first, self.place.block.number)
        done = piece.blocks[-1].number
        reached = [history.address for history in group if history.first <= done + 1]
        async with db.worker() as session:
            row = await cursor.lock(session, self.place)
            await self._apply(session, piece)
            read_to = None if done >= self.place.block.number else done
            await followed.note(session, self.eid, reached, read_to)
            self.place = cursor.placed(row)
        self.followed = self.followed.read(reached, read_to)

    async def _reread(self, addresses: Sequence[str], first: int, last: int) -> Piece:
        """Return the logs of some blocks from the first on, at most up to the last. Raises Behind and Forked."""
        here = self.place.block
        if first > here.number:
            return Piece([], [here])
        return await log_reader.read_range(self.rpc, addresses, first, last, here)

    def _is_due(self) -> bool:
        """Whether the window at the end of a public chain is to be read again."""
        number = self.place.block.number
        before, at = _read_again.get(self.eid, (0, -READ_AGAIN[1]))
        if endpoints.is_embedded(self.eid) or number <= before:
            return False
        if self.eid in _windows:
            return True
        return number - before >= READ_AGAIN[0] or time.monotonic() - at >= READ_AGAIN[1]

    async def _read_window(self) -> None:
        """Read the newest blocks again, for what a node left out: logs that are there already change nothing."""
        if not self._is_due():
            return
        window = _windows.setdefault(self.eid, self._window())
        addresses, end = self.followed.current, time.monotonic() + WINDOW_SHARE
        while addresses and window.first <= window.last:
            piece = await self._reread(addresses, window.first, window.last)
            await self._add(piece)
            window.first = piece.blocks[-1].number + 1
            if time.monotonic() > end and window.first <= window.last:
                return
        self._forget_window()
        _read_again[self.eid] = window.last, window.began

    def _window(self) -> _Window:
        here = self.place.block.number
        blocks = max(WINDOW, math.ceil(WINDOW_TIME / terms_of(self.eid).block_time))
        return _Window(max(0, here - blocks + 1), here, time.monotonic())

    def _forget_window(self) -> None:
        _windows.pop(self.eid, None)
        _read_again.pop(self.eid, None)

    async def _add(self, piece: Piece) -> None:
        if not piece.logs:
            return
        async with db.worker() as session:
            row = await cursor.lock(session, self.place)
            new = await self._apply(session, piece)
            self.place = cursor.placed(row)
        if new:
            log.warning("indexer.found_late", eid=self.eid, events=new, to_block=piece.blocks[-1].number)

    async def _undo(self) -> None:
        """Rewind where the chain was reorganized, and begin again. Raises Moved and DeepReorg."""
        _unalarmed.discard(self.eid)
        with suppress(Behind):
            if await reorgs.undo(self.rpc, self.place):
                _left.pop(self.eid, None)
                self._forget_window()
                raise Moved

    async def _conclude(self, session: db.Write) -> None:
        """Do what follows from what was read, and note how the chain is."""
        await streams.follow_up(session, self.eid)
        height = max(self.height, self.place.block.number)
        await health.note(session, self.eid, height, height - self.place.block.number)
        if self.asked > self.place.served:
            await cursor.serve(session, self.eid, self.asked)
        if self.is_verified and self.eid not in _unalarmed:
            await alarms.clear(session, self.eid, AlarmKind.DEEP_REORG)
            _unalarmed.add(self.eid)
