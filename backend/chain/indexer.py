"""Logs of the chains into tables: by a cursor of block and hash, one `eth_getLogs` per chain and pass.

What the rows are is no business of this module: a stream names the contracts it follows and writes what their events
say. The streams live with their nouns (`backend/assets/indexing.py`, `backend/markets/indexing.py`) and are put
together in `backend/indexing.py`, so that `backend.chain` depends on none of them.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

import sqlalchemy as sa
import structlog

from backend import db
from backend.chain import cursor, devnet, endpoints, health, passes
from backend.chain.errors import RpcError
from backend.chain.install import DevnetError
from backend.chain.outcome import Log
from backend.chain.receipts import log_of
from backend.chain.recovery import recover, replay
from backend.chain.reopening import reopen, settle_open
from backend.chain.rpc import Rpc, connect
from backend.errors import SignumError

log = structlog.get_logger()

POLL = {True: 1.0, False: 4.0}
"""Seconds between two looks at a chain, embedded or public; our own transactions wake it at once."""
NEXT = {True: 0.02, False: 2.0}
"""Seconds between two looks for a block that has to come, or to get its confirmations."""
SPAN = 2_000
"""Blocks asked for at a time: what public nodes allow."""


class Stream(Protocol):
    """Follows some contracts and writes what their events say. Every method runs inside the pass's transaction."""

    name: str

    async def contracts(self, session: db.Write, eid: int) -> dict[str, int | None]:
        """Addresses to follow, and the block each was created in where it is known."""

    async def apply(self, session: db.Write, eid: int, logs: Sequence[Log]) -> None:
        """Write logs, in the order of the chain; the same ones may come twice."""

    async def rewind(self, session: db.Write, eid: int, block: int) -> set[str]:
        """Forget what was read above a block; the contracts to be read again from their beginning."""


Afterwards = Callable[[db.Write, int], Awaitable[None]]
"""What follows from all that was read of a chain, and from the time; called at the end of every pass."""

_streams: dict[str, Stream] = {}
_afterwards: list[Afterwards] = []
_wakes: dict[int, tuple[asyncio.AbstractEventLoop, asyncio.Event]] = {}


def register(*streams: Stream) -> None:
    """Add streams, once a process; the same name again replaces it."""
    _streams.update({stream.name: stream for stream in streams})


def then(*follows: Afterwards) -> None:
    """Do these at the end of every pass, in its transaction. Once each, however often it is said."""
    _afterwards.extend(follow for follow in follows if follow not in _afterwards)


def wake(eid: int) -> None:
    """Have the indexer look at a chain at once, from any thread; without an indexer in this process, nothing."""
    if eid in _wakes:
        loop, event = _wakes[eid]
        loop.call_soon_threadsafe(event.set)


async def catch_up(eid: int, block_number: int) -> None:
    """Return when the tables hold everything up to a block. Runs the pass itself, so it needs no loop beside it; those
    who wait at the same time share one."""
    if not _streams:
        raise RuntimeError("no streams are registered; import backend.indexing")
    rpc = await connect(eid)
    while await passes.shared(rpc, pass_over) < block_number:  # noqa: ASYNC110 - the event is the node's next block
        await asyncio.sleep(NEXT[endpoints.is_embedded(eid)])


async def run(stop: asyncio.Event) -> None:
    """Follow every chain that has a node, until told to stop."""
    async with asyncio.TaskGroup() as group:
        for eid in endpoints.reachable():
            group.create_task(_follow(eid, stop))


class _Quiet:
    """Whether a chain stands where it stood at the last look, so that the tables need no look at all."""

    LONGEST = 10.0
    """Seconds; after them a pass is made in any case, for contracts that were written into the tables meanwhile."""

    def __init__(self) -> None:
        self._hash = ""
        self._since = 0.0

    async def ended(self, rpc: Rpc) -> bool:
        """Look at the newest block."""
        block = await rpc.request("eth_getBlockByNumber", "latest", False)
        now = time.monotonic()
        if block["hash"] == self._hash and now - self._since < self.LONGEST:
            return False
        self._hash, self._since = block["hash"], now
        return True


async def _follow(eid: int, stop: asyncio.Event) -> None:
    woken = asyncio.Event()
    _wakes[eid] = asyncio.get_running_loop(), woken
    ended = asyncio.create_task(stop.wait())
    failures, quiet = 0, _Quiet()
    while not stop.is_set():
        woken_up = woken.is_set()
        woken.clear()
        try:
            rpc = await connect(eid)
            await health.survey(eid)
            if await quiet.ended(rpc) or woken_up:
                await pass_over(rpc)
                await settle_open(rpc)
            failures = 0
        except (SignumError, RpcError, sa.exc.SQLAlchemyError, OSError) as error:
            failures, quiet = failures + 1, _Quiet()
            await _revive()
            log.warning("indexer.pass", eid=eid, error=type(error).__name__, failures=failures)
            await health.failed(eid, failures, _why(error))
        delay = POLL[endpoints.is_embedded(eid)] * min(failures + 1, 10)
        waiting = asyncio.create_task(woken.wait())
        await asyncio.wait({waiting, ended}, timeout=delay, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
    ended.cancel()
    _wakes.pop(eid, None)


def _why(error: Exception) -> str:
    return error.detail if isinstance(error, SignumError) else "The database does not take what the chain tells."


async def _revive() -> None:
    """Start embedded nodes again that died, and give them back what they lost."""
    try:
        dead = devnet.revive()
        if dead:
            await recover(dead)
    except (DevnetError, SignumError, RpcError) as error:
        log.warning("indexer.revive", error=str(error))


async def pass_over(rpc: Rpc) -> int:
    """Read what is new on a chain; the block up to which the tables are right now."""
    height = await rpc.height()
    target = max(0, height - endpoints.confirmations(rpc.eid))
    async with db.worker() as session:
        place = await cursor.lock(session, rpc, target)
        await _rewind_if_needed(session, rpc, place)
        followed = await _followed(session, rpc, place)
        while place.block_number < target:
            last = min(place.block_number + SPAN, target)
            await _read(session, rpc, followed, place.block_number + 1, last)
            await cursor.advance(session, rpc, place, last)
        for follow in _afterwards:
            await follow(session, rpc.eid)
        await health.note(session, rpc.eid, height, height - place.block_number)
        return place.block_number


async def _rewind_if_needed(session: db.Write, rpc: Rpc, place: cursor.Place) -> None:
    """Where the cursor's block is not on the chain any more: go back to the last one that is, and read again."""
    common = await cursor.common(session, rpc, place)
    if common is not None and endpoints.is_embedded(rpc.eid) and await replay(rpc):
        common = await cursor.common(session, rpc, place)
    if common is None:
        return
    log.info("indexer.rewind", eid=rpc.eid, from_block=place.block_number, to_block=common)
    for stream in _streams.values():
        for address in await stream.rewind(session, rpc.eid, common):
            await cursor.forget(session, rpc.eid, address)
    await cursor.set_back(session, rpc, place, common)
    await reopen(session, rpc, common)


async def _followed(session: db.Write, rpc: Rpc, place: cursor.Place) -> dict[str, Stream]:
    """The contracts to follow; a new one is first read from its creation up to the cursor."""
    followed: dict[str, Stream] = {}
    known = await cursor.known(session, rpc.eid)
    for stream in _streams.values():
        for address, created in (await stream.contracts(session, rpc.eid)).items():
            followed[address] = stream
            if address not in known:
                await _read_past(session, rpc, {address: stream}, created, place.block_number)
                await cursor.remember(session, rpc.eid, address, place)
    return followed


async def _read_past(session: db.Write, rpc: Rpc, followed: dict[str, Stream], created: int | None, until: int) -> None:
    start = until + 1 if created is None else created
    while start <= until:
        last = min(start + SPAN - 1, until)
        await _read(session, rpc, followed, start, last)
        start = last + 1


async def _read(session: db.Write, rpc: Rpc, followed: dict[str, Stream], first: int, last: int) -> None:
    if not followed:
        return
    query: dict[str, Any] = {"fromBlock": hex(first), "toBlock": hex(last), "address": list(followed)}
    logs = [log_of(entry) for entry in await rpc.request("eth_getLogs", query)]
    for stream in _streams.values():
        theirs = [entry for entry in logs if followed.get(entry.address) is stream]
        if theirs:
            await stream.apply(session, rpc.eid, theirs)
