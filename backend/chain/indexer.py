"""The indexer: reads the logs of the chains into tables, in the one process that leads each chain.

A pass (`index_pass`) reads what is new. `run` makes passes while it leads, and `catch_up` is for everybody who waits
for the tables: in the process that leads it shares the next pass, in another one it asks for a pass and waits.
"""

import asyncio
import time

import sqlalchemy as sa
import structlog

from backend import db
from backend.chain import (
    alarms,
    cursor,
    devnet,
    endpoints,
    followed,
    health,
    index_pass,
    leadership,
    nodes,
    passes,
    settlement,
    streams,
)
from backend.chain.errors import ChainUnavailable, RpcError
from backend.chain.index_pass import INCOMPLETE
from backend.chain.install import DevnetError
from backend.chain.models import AlarmKind
from backend.chain.recovery import recover
from backend.chain.reorgs import DeepReorg
from backend.chain.rpc import Rpc, connect, patience_here
from backend.chain.terms import terms_of
from backend.errors import SignumError

log = structlog.get_logger()

POLL = {True: 1.0, False: 4.0}
"""Seconds between two looks at a chain, embedded or public; our own transactions wake it at once."""
NEXT = {True: (0.02, 0.02), False: (0.25, 2.0)}
"""Least and most seconds between two looks for a block that has to come, or to get its confirmations. In between, it is
the time in which the chain makes a block."""
ASK_AGAIN = 1.0
"""Seconds after which a process that waits for the leader's pass asks for it again, and looks whether there is one."""

_wakes: dict[int, tuple[asyncio.AbstractEventLoop, asyncio.Event]] = {}


def wake(eid: int) -> None:
    """Have the indexer look at a chain at once, from any thread; without an indexer in this process, nothing."""
    if eid in _wakes:
        loop, event = _wakes[eid]
        loop.call_soon_threadsafe(event.set)


async def catch_up(eid: int, block_number: int) -> None:
    """Return when the tables hold everything up to a block, also of contracts that were just written into them.

    A chain that does not answer is asked again as long as the caller has patience.

    Raises ChainUnavailable and RpcError.
    """
    streams.registered()
    rpc = await connect(eid)
    while await _patient_pass(rpc) < block_number:
        least, most = NEXT[endpoints.is_embedded(eid)]
        await asyncio.sleep(min(max(least, terms_of(eid).block_time), most))


async def _patient_pass(rpc: Rpc) -> int:
    began, pause = time.monotonic(), 0.1
    while True:
        try:
            return await _next_pass(rpc)
        except ChainUnavailable:
            wait = max(pause, nodes.rest(rpc.eid))
            if time.monotonic() + wait > began + patience_here():
                raise
        await asyncio.sleep(wait)
        pause = min(pause * 1.7, 3.0)


async def _next_pass(rpc: Rpc) -> int:
    """Return what a pass comes to that begins now, or later: in the event loop that leads the chain, or elsewhere."""
    loop = leadership.loop_of(rpc.eid)
    if loop is None:
        return await passes.shared(rpc, _pass_elsewhere)
    if loop is asyncio.get_running_loop():
        return await passes.shared(rpc, pass_over)
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(passes.shared(rpc, pass_over), loop))


async def pass_over(rpc: Rpc) -> int:
    """Read what is new on a chain; return the block up to which the tables are right now, or INCOMPLETE."""
    return await index_pass.make(rpc)


async def _pass_elsewhere(rpc: Rpc) -> int:
    """Have the process that leads the chain make a pass, or make it here where none leads."""
    # Not less than this process can see, so that what it has seen on chain is in the pass.
    target = max(0, await rpc.height() - endpoints.confirmations(rpc.eid))
    while True:
        if not await leadership.is_led(rpc.eid):
            async with leadership.borrowed(rpc.eid) as is_held:
                if is_held:
                    return await pass_over(rpc)
        async with db.worker() as session:
            number = await cursor.ask(session, rpc.eid)
        block = await _served(rpc.eid, number, target)
        if block is not None:
            return block
        await rpc.height()  # a chain that does not answer is not waited for
        await _check_stopped(rpc.eid)


async def _served(eid: int, number: int | None, target: int) -> int | None:
    """Wait until a pass that was asked for is made and has come to the target; None where that takes too long."""
    end, pause = time.monotonic() + ASK_AGAIN, 0.01
    while time.monotonic() < end:
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
    """Follow every chain that has a node while this process leads it, until told to stop."""
    eids = endpoints.reachable()
    async with asyncio.TaskGroup() as group:
        for eid in eids:
            group.create_task(_follow(eid, stop))
        group.create_task(leadership.stand(eids, stop, wake))


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
        is_woken = woken.is_set()
        woken.clear()
        try:
            await health.survey(eid)
            if leadership.leads(eid):
                await _look(await connect(eid), quiet, is_woken)
            elif is_woken:
                await _tell_leader(eid)
            failures = 0
        except Exception as error:  # whatever it is, it must not end the reading of the other chains
            failures, quiet = failures + 1, _Quiet()
            await _failed(eid, error, failures)
        delay = POLL[endpoints.is_embedded(eid)] * min(failures + 1, 10)
        waiting = asyncio.create_task(woken.wait())
        await asyncio.wait({waiting, ended}, timeout=delay, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
    ended.cancel()
    _wakes.pop(eid, None)


async def _look(rpc: Rpc, quiet: _Quiet, is_woken: bool) -> None:
    """Make a pass where there is something new, and settle our transactions."""
    if await quiet.ended(rpc) or is_woken:
        await passes.shared(rpc, pass_over)
        await settlement.settle(rpc)


async def _tell_leader(eid: int) -> None:
    async with db.worker() as session:
        await cursor.notify(session, eid)


async def _failed(eid: int, error: Exception, failures: int) -> None:
    await _revive()
    is_expected = isinstance(error, SignumError | sa.exc.SQLAlchemyError | OSError)
    log.warning(
        "indexer.pass",
        eid=eid,
        error=type(error).__name__,
        failures=failures,
        exc_info=None if is_expected or failures > 1 else error,
    )
    if not isinstance(error, DeepReorg):  # which has noted itself
        await health.failed(eid, failures, _why(error))


def _why(error: Exception) -> str:
    if isinstance(error, SignumError):
        return error.detail
    if isinstance(error, sa.exc.SQLAlchemyError | OSError):
        return "The database does not take what the chain tells."
    return f"An unexpected fault ({type(error).__name__}); the log has it."


async def _revive() -> None:
    """Start embedded nodes again that died, and give them back what they lost."""
    try:
        dead = devnet.revive()
        if dead:
            await recover(dead)
    except (DevnetError, SignumError, RpcError) as error:
        log.warning("indexer.revive", error=str(error))
