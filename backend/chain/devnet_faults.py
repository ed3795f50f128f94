"""Deliberate faults of embedded chains: of a node, its network or a relayer.

The node itself produces each fault (its mining, its mempool, its process), or our relayer on embedded chains. A chain
has at most one fault; it ends on request, after its time, or with this process.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

import structlog

from backend.chain.coordination import scheduler
from backend.chain.devnet import anvil
from backend.chain.errors import RpcError
from backend.chain.rpc.json_rpc import connect
from backend.chain.transactions.recovery import recover
from backend.core.db import now
from backend.core.errors import SignumError
from backend.core.runtime import runtime

log = structlog.get_logger()
LOOK = 0.02
"""Seconds between two checks of the mempool of a chain that drops transactions."""


class FaultKind(StrEnum):
    """`slow`: blocks take several seconds. `down`: the node does not answer. `refuse_packets`: no packet is accepted
    there. `drop_transactions`: the next ones vanish from the mempool."""

    SLOW = "slow"
    DOWN = "down"
    REFUSE_PACKETS = "refuse_packets"
    DROP_TRANSACTIONS = "drop_transactions"


@dataclass(frozen=True)
class Fault:
    """An active fault: `size` is the seconds between blocks, or the number of transactions left to drop."""

    eid: int
    kind: FaultKind
    since: datetime
    until: datetime
    size: int


@dataclass
class Faults:
    """The faults that this process causes, and the tasks that end them, by chain."""

    active: dict[int, Fault] = field(default_factory=dict)
    work: dict[int, asyncio.Task[None]] = field(default_factory=dict)


def of(eid: int) -> Fault | None:
    """Return the current fault of a chain."""
    return runtime.part(Faults).active.get(eid)


def refuses_packets(eid: int) -> bool:
    """Return whether a chain currently refuses packets."""
    fault = runtime.part(Faults).active.get(eid)
    return fault is not None and fault.kind is FaultKind.REFUSE_PACKETS


async def begin(eid: int, kind: FaultKind, lasting: timedelta, size: int) -> Fault:
    """Start a fault; the previous one ends. Raises ChainUnavailable if the node does not answer."""
    await end(eid)
    began = now()
    fault = Fault(eid, kind, began, began + lasting, size)
    await _BEGIN[kind](fault)
    faults = runtime.part(Faults)
    faults.active[eid] = fault
    faults.work[eid] = asyncio.create_task(_run(fault, lasting.total_seconds()))
    return fault


async def end(eid: int) -> None:
    """End a chain's fault, if it has one. Lost transactions are sent again."""
    faults = runtime.part(Faults)
    fault, work = faults.active.pop(eid, None), faults.work.pop(eid, None)
    if work is not None and work is not asyncio.current_task():
        work.cancel()
        with suppress(asyncio.CancelledError):
            await work
    if fault is not None:
        await _END[fault.kind](eid)
        scheduler.wake(eid)


async def end_all() -> None:
    """End all faults."""
    for eid in list(runtime.part(Faults).active):
        await end(eid)


def forget() -> None:
    """Forget the faults, because this process and its nodes end: the next start has healthy nodes."""
    for work in runtime.part(Faults).work.values():
        work.cancel()
    runtime.reset(Faults)


async def reorganize(eid: int, depth: int) -> None:
    """Replace a chain's newest blocks with empty ones, like a reorg. Raises RpcError if the chain is shorter."""
    await (await connect(eid)).request("anvil_reorg", depth, [])
    scheduler.wake(eid)


async def _run(fault: Fault, seconds: float) -> None:
    """Run a fault, and end it."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            if fault.kind is FaultKind.DROP_TRANSACTIONS:
                await _drop(fault)
            else:
                await asyncio.Event().wait()
    try:
        await end(fault.eid)
    except (SignumError, RpcError, anvil.DevnetError):
        log.exception("devnet.fault_not_ended", eid=fault.eid, kind=fault.kind)


async def _drop(fault: Fault) -> None:
    rpc, left = await connect(fault.eid), fault.size
    while left > 0:
        waiting = int((await rpc.request("txpool_status"))["pending"], 16)
        if waiting:
            await rpc.request("anvil_dropAllTransactions")
            left -= waiting
        await asyncio.sleep(LOOK)


async def _slow(fault: Fault) -> None:
    await (await connect(fault.eid)).request("evm_setIntervalMining", fault.size)


async def _hold_blocks(fault: Fault) -> None:
    await (await connect(fault.eid)).request("evm_setAutomine", False)


async def _stop(fault: Fault) -> None:
    await anvil.halt(fault.eid)


async def _only_reported(fault: Fault) -> None:
    """Do nothing: the relayer checks for this fault itself."""


async def _mine_instantly(eid: int) -> None:
    rpc = await connect(eid)
    await rpc.batch([("evm_setIntervalMining", [0]), ("evm_setAutomine", [True]), ("evm_mine", [])])


async def _start(eid: int) -> None:
    anvil.resume(eid)
    await recover([eid])


async def _nothing(eid: int) -> None:
    """Do nothing: the node was not changed."""


_BEGIN: dict[FaultKind, Callable[[Fault], Awaitable[None]]] = {
    FaultKind.SLOW: _slow,
    FaultKind.DOWN: _stop,
    FaultKind.REFUSE_PACKETS: _only_reported,
    FaultKind.DROP_TRANSACTIONS: _hold_blocks,
}
_END: dict[FaultKind, Callable[[int], Awaitable[None]]] = {
    FaultKind.SLOW: _mine_instantly,
    FaultKind.DOWN: _start,
    FaultKind.REFUSE_PACKETS: _nothing,
    FaultKind.DROP_TRANSACTIONS: _mine_instantly,
}
