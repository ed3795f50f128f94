"""Reading the logs of a contract again, and making its rows those of the logs: what a repair can do about the events of
a contract."""

import asyncio

import structlog

from backend import db
from backend.chain import cursor, log_reader, streams
from backend.chain.cursor import Block, Moved, Place
from backend.chain.errors import ChainUnavailable
from backend.chain.log_reader import Behind, Forked, Piece
from backend.chain.rpc import Rpc, connect
from backend.chain.spans import Span
from backend.chain.streams import Stream
from backend.chain.terms import terms_of

log = structlog.get_logger()
TRIES = 20
"""Times that a piece is read again, because the chain was rewound or the machines that answered did not have it."""


async def reread(eid: int, address: str, first: int | None = None) -> int:
    """Make the rows of a contract from a block on (by default all of them) those of its logs; return how many were
    wrong, missing or too many. 0 where the chain was never read, or the contract or its first block is not known.

    The chain is read up to the cursor, in pieces of its log range, and no transaction is open meanwhile. What follows
    from the rows is done by the next pass of the indexer. Raises ChainUnavailable and RpcError, and streams.Unreadable
    where the logs cannot be written.
    """
    rpc = await connect(eid)
    async with db.worker() as session:
        place, found = await cursor.find(session, eid), (await streams.contracts(session, eid)).get(address)
    start = first if first is not None else found and found[1]
    if place is None or found is None or start is None:
        return 0
    changed = await _Reading(rpc, address, found[0]).make(start)
    if changed:
        log.warning("indexer.corrected", eid=eid, address=address, rows=changed)
    return changed


class _Reading:
    """One contract, read again piece by piece. `place` is where the cursor stood when the last piece was asked for."""

    def __init__(self, rpc: Rpc, address: str, stream: Stream) -> None:
        self.rpc, self.address, self.stream = rpc, address, stream
        self.place: Place

    async def make(self, first: int) -> int:
        """Read from a block up to the cursor; how many rows changed."""
        changed, block = 0, first
        while True:
            piece, rows = await self._piece(block)
            changed, block = changed + rows, piece.blocks[-1].number + 1
            if block > self.place.block.number:
                return changed

    async def _piece(self, first: int) -> tuple[Piece, int]:
        """Read and write a piece, as often as it takes."""
        for _ in range(TRIES):
            self.place = await self._find()
            try:
                piece = await self._read(first)
                return piece, await self._write(piece, first)
            except Moved:
                continue
            except (Behind, Forked):
                await asyncio.sleep(min(1.0, terms_of(self.rpc.eid).block_time))
        raise ChainUnavailable(f"The nodes of the chain {self.rpc.eid} disagree about its newest blocks. Try again.")

    async def _find(self) -> Place:
        async with db.worker() as session:
            place = await cursor.find(session, self.rpc.eid)
        if place is None:
            raise ChainUnavailable(f"The chain {self.rpc.eid} is being read from its beginning. Try again.")
        return place

    async def _read(self, first: int) -> Piece:
        here = self.place.block
        if first > here.number:
            return Piece([], [Block(first, "")])
        return await log_reader.read_range(self.rpc, [self.address], first, here.number, here)

    async def _write(self, piece: Piece, first: int) -> int:
        last = piece.blocks[-1].number
        span = Span(first, None if last >= self.place.block.number else last)
        async with db.worker() as session:
            row = await cursor.lock(session, self.place)
            try:
                changed = await self.stream.correct(session, self.rpc.eid, self.address, span, piece.logs)
            except streams.UNREADABLE as error:
                raise streams.Unreadable from error
            self.place = cursor.placed(row)
        return changed
