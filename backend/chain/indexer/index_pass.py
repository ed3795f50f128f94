"""One pass of the indexer over a chain: reads and writes what is new, in pieces.

No transaction is open during queries of a node. A pass reads the cursor and the followed contracts, queries the chain,
and writes each piece in a transaction that locks the cursor and checks that it did not move.
"""

import math
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import structlog

from backend.chain import alarms
from backend.chain.coordination import cursor
from backend.chain.coordination.cursor import Block, Moved, Place
from backend.chain.errors import ChainUnavailable
from backend.chain.indexer import followed, log_reader, reorgs, streams
from backend.chain.indexer.followed import Followed
from backend.chain.indexer.log_limits import limits_of
from backend.chain.indexer.log_reader import Behind, Forked, Piece
from backend.chain.models import AlarmKind
from backend.chain.rpc import finality, floors, health, node_urls
from backend.chain.rpc.json_rpc import Rpc
from backend.chain.rpc.terms import confirmations, terms_of
from backend.core import db
from backend.core.runtime import runtime

log = structlog.get_logger()
STARTS = 10
"""How often a pass restarts because another one wrote, or the chain was rewound, before it fails."""
HISTORIES = 10.0
"""Seconds that a pass spends on the histories of newly followed contracts; the next pass continues."""
INCOMPLETE = -1
"""Result of a pass while the history of a contract is still being read."""
WINDOW = 64
"""Blocks at the end of a public chain that are read again; they cover at least `WINDOW_TIME`."""
WINDOW_TIME = 120.0
"""Seconds of chain time that the window covers."""
READ_AGAIN = (32, 60.0)
"""The window is read again after this many blocks, or this many seconds with a new block: each block at least twice."""
WINDOW_SHARE = 2.0
"""Seconds that one pass spends on the window, because others wait for the pass; the next pass continues."""
APART = 60.0
"""Seconds for which contracts are written one by one after the events of one could not be written."""


@dataclass(slots=True)
class _Window:
    """Blocks from `first`, the next to read, up to `last`; the start of the reading, by `time.monotonic`."""

    first: int
    last: int
    began: float


@dataclass
class Progress:
    """What this process remembers between two passes, by chain."""

    left: dict[int, int] = field(default_factory=dict)
    """The block at which it left the cursor."""
    read_again: dict[int, tuple[int, float]] = field(default_factory=dict)
    """The cursor's block and the time by `time.monotonic` when the window was last read again."""
    windows: dict[int, _Window] = field(default_factory=dict)
    """The window being read again."""
    unalarmed: set[int] = field(default_factory=set)
    """Chains without an open alarm about a deep reorg."""
    apart: dict[int, float] = field(default_factory=dict)
    """When it began to write contracts one by one (`APART`)."""


async def make(rpc: Rpc) -> int:
    """Read what is new on a chain; return the block up to which the tables are now correct, or INCOMPLETE."""
    for _ in range(STARTS):
        try:
            return await _Pass(rpc).make()
        except Moved:
            continue
        except streams.Unreadable:
            log.exception("indexer.split_reads_started", eid=rpc.eid)
            runtime.part(Progress).apart[rpc.eid] = time.monotonic()
    raise ChainUnavailable(f"Other processes keep writing the chain {rpc.eid}. Retry.")


class _Pass:
    """A pass. `place` is the cursor's position after the latest write."""

    def __init__(self, rpc: Rpc) -> None:
        self.rpc, self.eid, self.progress = rpc, rpc.eid, runtime.part(Progress)
        self.height = self.target = self.asked = 0
        self.place: Place
        self.followed: Followed
        self.is_verified = False
        """Whether the chain was verified to have the cursor's block."""

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
        self.progress.left[self.eid] = self.place.block.number
        return INCOMPLETE if self.followed.histories else self.place.block.number

    async def _begin(self) -> bool:
        """Read the place and the contracts; return whether the pass is done, because the chain has not moved."""
        answer = await self.rpc.request("eth_getBlockByNumber", "latest", False)
        newest = Block(int(answer["number"], 16), str(answer["hash"]))
        self.height, self.target = newest.number, max(0, newest.number - confirmations(self.eid))
        async with db.look() as session:
            place = await cursor.find(session, self.eid)
            found = [] if place is None else await followed.contracts(session, self.eid)
        if place is not None:
            return await self._open(place, found, newest)
        await self._put_cursor(newest)
        raise Moved

    async def _open(self, place: Place, found: Sequence[Any], newest: Block) -> bool:
        self.asked = place.asked
        if place.block.number < self.progress.left.get(self.eid, 0):
            floors.lower_to(self.eid, place.block.number)  # an operator has rewound the chain
            finality.forget(self.eid)
            self._forget_window()
        self.place, self.followed = await followed.follow(place, found)
        if newest != place.block or self.followed.histories:
            return False
        self.is_verified = True
        async with db.worker() as session:
            await self._conclude(session)
        return True

    async def _put_cursor(self, newest: Block) -> None:
        """Create a chain's cursor at the target, with the blocks below it as its trail."""
        if node_urls.is_embedded(self.eid):
            blocks = [newest]
        else:
            numbers = range(max(0, self.target - cursor.TRAIL), self.target + 1)
            answer = await self.rpc.batch([("eth_getBlockByNumber", [hex(number), False]) for number in numbers])
            if None in answer:
                raise ChainUnavailable(f"The nodes of the chain {self.eid} disagree about its height. Retry.")
            blocks = [Block(number, str(block["hash"])) for number, block in zip(numbers, answer, strict=True)]
        async with db.worker() as session:
            await cursor.begin(session, self.eid, blocks)

    async def _advance(self) -> bool:
        """Read up to the target; return whether the last piece concluded the pass. Raises Behind and Forked."""
        if self.place.block.number >= self.target:
            await self._look()
        is_concluded = False
        while self.place.block.number < self.target:
            addresses = self.followed.current
            piece = await log_reader.read_next(self.rpc, addresses, self.place.block, self.target)
            is_concluded = await self._write(piece)
        return is_concluded

    async def _look(self) -> None:
        """Verify that the cursor's block is still on the chain. Raises Behind and Forked."""
        number = self.place.block.number
        answer = await self.rpc.request("eth_getBlockByNumber", hex(number), False)
        if answer is None and not node_urls.is_embedded(self.eid):
            raise Behind
        if answer is None or answer["hash"] != self.place.block.hash:
            raise Forked
        self.is_verified = True

    async def _write(self, piece: Piece) -> bool:
        """Write a piece and move the cursor to its end; return whether the pass ends with it."""
        self.is_verified = True
        async with db.worker() as session:
            row = await cursor.lock(session, self.place, to=piece.blocks[-1])
            await self._apply(session, piece)
            self.place = await cursor.extend_trail(session, row, self.place.block, piece.blocks)
            is_last = self.place.block.number >= self.target and not self.followed.histories and not self._is_due()
            if is_last:
                await self._conclude(session)
        return is_last

    async def _apply(self, session: db.Write, piece: Piece) -> int:
        is_apart = time.monotonic() - self.progress.apart.get(self.eid, -APART) < APART
        try:
            return await streams.apply(session, self.eid, piece.logs, self.followed.owners, apart=is_apart)
        except streams.UNREADABLE as error:
            raise streams.Unreadable from error

    async def _read_histories(self) -> None:
        """Read newly followed contracts from their creation up to the cursor, for a limited time."""
        end = time.monotonic() + HISTORIES
        while self.followed.histories and time.monotonic() < end:
            await self._read_history()

    async def _read_history(self) -> None:
        """Read the next piece of the oldest history, and of those at about the same block."""
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
        """Return the logs of some blocks from the first, at most up to the last. Raises Behind and Forked."""
        here = self.place.block
        if first > here.number:
            return Piece([], [here])
        return await log_reader.read_range(self.rpc, addresses, first, last, here)

    def _is_due(self) -> bool:
        """Return whether the window at the end of a public chain is due to be read again."""
        number = self.place.block.number
        before, at = self.progress.read_again.get(self.eid, (0, -READ_AGAIN[1]))
        if node_urls.is_embedded(self.eid) or number <= before:
            return False
        if self.eid in self.progress.windows:
            return True
        return number - before >= READ_AGAIN[0] or time.monotonic() - at >= READ_AGAIN[1]

    async def _read_window(self) -> None:
        """Read the newest blocks again, for logs that a node omitted; known logs change nothing."""
        if not self._is_due():
            return
        window = self.progress.windows.setdefault(self.eid, self._window())
        addresses, end = self.followed.current, time.monotonic() + WINDOW_SHARE
        while addresses and window.first <= window.last:
            piece = await self._reread(addresses, window.first, window.last)
            await self._add(piece)
            window.first = piece.blocks[-1].number + 1
            if time.monotonic() > end and window.first <= window.last:
                return
        self._forget_window()
        self.progress.read_again[self.eid] = window.last, window.began

    def _window(self) -> _Window:
        here = self.place.block.number
        blocks = max(WINDOW, math.ceil(WINDOW_TIME / terms_of(self.eid).block_time))
        return _Window(max(0, here - blocks + 1), here, time.monotonic())

    def _forget_window(self) -> None:
        self.progress.windows.pop(self.eid, None)
        self.progress.read_again.pop(self.eid, None)

    async def _add(self, piece: Piece) -> None:
        if not piece.logs:
            return
        async with db.worker() as session:
            row = await cursor.lock(session, self.place)
            new = await self._apply(session, piece)
            self.place = cursor.placed(row)
        if new:
            log.warning("indexer.late_events_found", eid=self.eid, events=new, to_block=piece.blocks[-1].number)

    async def _undo(self) -> None:
        """Rewind to the common block after a reorg, and restart. Raises Moved and DeepReorg."""
        self.progress.unalarmed.discard(self.eid)
        with suppress(Behind):
            if await reorgs.undo(self.rpc, self.place):
                self.progress.left.pop(self.eid, None)
                self._forget_window()
                raise Moved

    async def _conclude(self, session: db.Write) -> None:
        """Apply the follow-ups of what was read, and record the chain's state."""
        await streams.follow_up(session, self.eid)
        height = max(self.height, self.place.block.number)
        await health.note(session, self.eid, height, height - self.place.block.number)
        if self.asked > self.place.served:
            await cursor.serve(session, self.eid, self.asked)
        if self.is_verified and self.eid not in self.progress.unalarmed:
            await alarms.clear(session, self.eid, AlarmKind.DEEP_REORG)
            self.progress.unalarmed.add(self.eid)
