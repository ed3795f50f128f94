"""The indexer: reads the logs of the chains into tables, in the one process that leads each chain.

A pass (`index_pass`) reads what is new. `run` makes passes while it leads. `catch_up` is for callers that wait for the
tables: in the leading process it shares the next pass, in another process it requests a pass and waits.
"""

import asyncio
import time

import sqlalchemy as sa
import structlog

from backend.chain import alarms
from backend.chain.coordination import cursor, leadership, scheduler
from backend.chain.devnet import anvil
from backend.chain.errors import ChainUnavailable
from backend.chain.indexer import followed, index_pass, streams
from backend.chain.indexer.index_pass import INCOMPLETE
from backend.chain.indexer.reorgs import DeepReorg
from backend.chain.models import AlarmKind
from backend.chain.rpc import health, node_urls, nodes
from backend.chain.rpc.json_rpc import Rpc, connect, patience_here
from backend.chain.rpc.terms import confirmations, terms_of
from backend.chain.transactions import settlement
from backend.chain.transactions.recovery import recover
from backend.core import db
from backend.core.errors import SignumError

log = structlog.get_logger()

POLL = {True: 1.0, False: 4.0}
"""Seconds between two checks of a chain, embedded or public; our own transactions wake it immediately."""
NEXT = {True: (0.02, 0.02), False: (0.25, 2.0)}
"""Minimum and maximum seconds between two checks for a block that is expected, or waits for confirmations. Between
these limits, the chain's block time applies."""
ASK_AGAIN = 1.0
"""Seconds after which a process that waits for the leader's pass requests it again, and checks whether there is a
leader."""


async def catch_up(eid: int, block_number: int, since: float | None = None) -> None:
    """Return when the tables contain everything up to a block, including contracts that were just written into them.

    With `since`, contracts written after that moment (`Outcome.read_at`) are not needed: the pass that a confirmed
    transaction wakes is enough. A chain that does not answer is queried again as long as the caller has patience.

    Raises ChainUnavailable and RpcError.
    """
    streams.registered()
    rpc = await connect(eid)
    while await _patient_pass(rpc, since) < block_number:
        since = None
        least, most = NEXT[node_urls.is_embedded(eid)]
        await asyncio.sleep(min(max(least, terms_of(eid).block_time), most))


async def _patient_pass(rpc: Rpc, since: float | None) -> int:
    began, pause = time.monotonic(), 0.1
    while True:
        try:
            return await _next_pass(rpc, since)
        except ChainUnavailable:
            wait = max(pause, nodes.rest(rpc.eid))
            if time.monotonic() + wait > began + patience_here():
                raise
        since = None
        await asyncio.sleep(wait)
        pause = min(pause * 1.7, 3.0)


async def _next_pass(rpc: Rpc, since: float | None) -> int:
    """Return the result of a pass that starts now or later, or started since a moment: in the event loop that leads the
    chain, or elsewhere."""
    loop = leadership.loop_of(rpc.eid)
    if loop is None:
        return await scheduler.shared(rpc, _pass_elsewhere, since)
    if _leads_here(rpc.eid):
        return await scheduler.shared(rpc, pass_over, since)
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(scheduler.shared(rpc, pass_over, since), loop))


async def pass_over(rpc: Rpc) -> int:
    """Read what is new on a chain; return the block up to which the tables are now correct, or INCOMPLETE."""
    return await index_pass.make(rpc)


async def _pass_elsewhere(rpc: Rpc) -> int:
    """Request a pass from the process that leads the chain, or make it here if none leads.

    If this event loop starts to lead, its own passes wait for this one, so it is then made here.
    """
    # Not less than this process can see, so that the pass includes what it has seen on chain.
    target = max(0, await rpc.height() - confirmations(rpc.eid))
    while not _leads_here(rpc.eid):
        if not await leadership.is_led(rpc.eid):
            async with leadership.borrowed(rpc.eid) as is_held:
                if is_held:
                    return await pass_over(rpc)
        async with db.worker() as session:
            number = await cursor.ask(session, rpc.eid)
        block = await _served(rpc.eid, number, target)
        if block is not None:
            return block
        await rpc.height()  # does not wait for a chain that does not answer
        await _check_stopped(rpc.eid)
    return await pass_over(rpc)


def _leads_here(eid: int) -> bool:
    return leadership.loop_of(eid) is asyncio.get_running_loop()


async def _served(eid: int, number: int | None, target: int) -> int | None:
    """Wait until a requested pass is made and has reached the target; None on timeout, or if this event loop leads."""
    end, pause = time.monotonic() + ASK_AGAIN, 0.01
    while time.monotonic() < end and not _leads_here(eid):
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, 0.1)
        async with db.worker() as session:
            place = await cursor.find(session, eid)
            if number is None or place is None or place.served < number or place.block.number < target:
                continue
            return INCOMPLETE if await followed.is_behind(session, eid) else place.block.number
    return None


async def _check_stopped(eid: int) -> None:
    async with db.worker() as session:
        stops = [row for row in await alarms.list_open(session, eid) if row.kind is AlarmKind.DEEP_REORG]
    if stops:
        raise DeepReorg(stops[0].detail)


async def run(stop: asyncio.Event) -> None:
    """Follow every chain that has a node while this process leads it, until stopped."""
    eids = node_urls.reachable()
    async with asyncio.TaskGroup() as group:
        for eid in eids:
            group.create_task(_follow(eid, stop))
        group.create_task(leadership.stand(eids, stop, scheduler.wake))


class _Quiet:
    """Whether a chain has not moved since the last check, so that the tables need no check."""

    LONGEST = 10.0
    """Seconds after which a pass is made in any case, for contracts written into the tables since."""

    def __init__(self) -> None:
        self._hash = ""
        self._since = 0.0

    async def ended(self, rpc: Rpc) -> bool:
        """Check the newest block."""
        block = await rpc.request("eth_getBlockByNumber", "latest", False)
        now = time.monotonic()
        if block["hash"] == self._hash and now - self._since < self.LONGEST:
            return False
        self._hash, self._since = block["hash"], now
        return True


async def _follow(eid: int, stop: asyncio.Event) -> None:
    with scheduler.woken_by(eid) as woken:
        await _follow_until(eid, stop, woken)


async def _follow_until(eid: int, stop: asyncio.Event, woken: asyncio.Event) -> None:
    ended = asyncio.create_task(stop.wait())
    failures, quiet = 0, _Quiet()
    while not stop.is_set():
        is_woken = woken.is_set()
        woken.clear()
        began = time.monotonic()
        try:
            await health.survey(eid)
            if leadership.leads(eid):
                await _look(await connect(eid), quiet, is_woken, began)
            elif is_woken:
                await _wake_leader(eid)
            failures = 0
        except Exception as error:  # no error may stop the reading of the other chains
            failures, quiet = failures + 1, _Quiet()
            await _failed(eid, error, failures)
        delay = POLL[node_urls.is_embedded(eid)] * min(failures + 1, 10)
        waiting = asyncio.create_task(woken.wait())
        await asyncio.wait({waiting, ended}, timeout=delay, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
    ended.cancel()


async def _look(rpc: Rpc, quiet: _Quiet, is_woken: bool, since: float) -> None:
    """Make a pass if there is something new, unless a caller has made one since, and settle our transactions."""
    if await quiet.ended(rpc) or is_woken:
        await scheduler.shared(rpc, pass_over, since)
        await settlement.settle(rpc)


async def _wake_leader(eid: int) -> None:
    async with db.worker() as session:
        await cursor.notify(session, eid)


async def _failed(eid: int, error: Exception, failures: int) -> None:
    await _revive()
    is_expected = isinstance(error, (SignumError, sa.exc.SQLAlchemyError, *db.FAULTS, OSError))
    log.warning(
        "indexer.pass",
        eid=eid,
        error=type(error).__name__,
        failures=failures,
        exc_info=None if is_expected or failures > 1 else error,
    )
    if not isinstance(error, DeepReorg):  # which has recorded itself
        await health.failed(eid, failures, _why(error))


def _why(error: Exception) -> str:
    if isinstance(error, SignumError):
        return error.detail
    if isinstance(error, (sa.exc.SQLAlchemyError, *db.FAULTS, OSError)):
        return "The database rejects the chain's data."
    return f"Unexpected error ({type(error).__name__}); see the log."


async def _revive() -> None:
    """Restart embedded nodes that are dead or hang, and restore what they lost, also where an earlier attempt failed:
    the database or the disk may fail at the same time."""
    try:
        if hanging := await anvil.end_hanging():
            log.warning("devnet.hanging_node_ended", eids=hanging)
        anvil.revive()
        if lacking := anvil.unrestored():
            await recover(lacking)
    except Exception as error:  # the next failed pass attempts it again
        log.warning("devnet.revival_failed", error=str(error).partition("\n")[0])
