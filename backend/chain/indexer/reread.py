"""Re-reading of a contract's logs, which replaces its rows: the repair of a contract's events."""

import asyncio

import structlog

from backend.chain.coordination import cursor
from backend.chain.coordination.cursor import Block, Moved, Place
from backend.chain.errors import ChainUnavailable
from backend.chain.indexer import log_reader, streams
from backend.chain.indexer.block_spans import Span
from backend.chain.indexer.log_reader import Behind, Forked, Piece
from backend.chain.indexer.streams import Stream
from backend.chain.rpc.json_rpc import Rpc, connect
from backend.chain.rpc.terms import terms_of
from backend.core import db

log = structlog.get_logger()
TRIES = 20
"""How often a piece is read again because the chain was rewound or the machines that answered did not have it."""


async def reread(eid: int, address: str, first: int | None = None) -> int:
    """Replace the rows of a contract from a block on (by default all) with those of its logs; return how many were
    wrong, missing or surplus. 0 if the chain was never read, or the contract or its first block is unknown.

    The chain is read up to the cursor, in pieces of its log range, without an open transaction. The next pass of the
    indexer applies the consequences. Raises ChainUnavailable and RpcError, and streams.Unreadable if the logs cannot be
    written.
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
    """The re-reading of one contract, piece by piece. `place` is the cursor's position when the last piece was
    queried."""

    def __init__(self, rpc: Rpc, address: str, stream: Stream) -> None:
        self.rpc, self.address, self.stream = rpc, address, stream
        self.place: Place

    async def make(self, first: int) -> int:
        """Read from a block up to the cursor; return how many rows changed."""
        changed, block = 0, first
        while True:
            piece, rows = await self._piece(block)
            changed, block = changed + rows, piece.blocks[-1].number + 1
            if block > self.place.block.number:
                return changed

    async def _piece(self, first: int) -> tuple[Piece, int]:
        """Read and write a piece, with retries."""
        for _ in range(TRIES):
            self.place = await self._find()
            try:
                piece = await self._read(first)
                return piece, await self._write(piece, first)
            except Moved:
                continue
            except (Behind, Forked):
                await asyncio.sleep(min(1.0, terms_of(self.rpc.eid).block_time))
        raise ChainUnavailable(f"The nodes of the chain {self.rpc.eid} disagree about its newest blocks. Retry.")

    async def _find(self) -> Place:
        async with db.worker() as session:
            place = await cursor.find(session, self.rpc.eid)
        if place is None:
            raise ChainUnavailable(f"The chain {self.rpc.eid} is being read from its beginning. Retry later.")
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
