"""Faults of embedded chains, on purpose: what a node, a network of validators or a relayer may do to us.

Each is done by the node itself (its mining, its mempool, its process) or by the relayer, which is ours on embedded
chains. A chain has one fault at a time; it ends when it is told to, when its time is over, or with this process.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

import structlog

from backend.chain import devnet, indexer
from backend.chain.errors import RpcError
from backend.chain.recovery import recover
from backend.chain.rpc import connect
from backend.db import now
from backend.errors import SignumError

log = structlog.get_logger()
LOOK = 0.02
"""Seconds between two looks into the mempool of a chain that drops transactions."""


class FaultKind(StrEnum):
    """`slow`: blocks come every few seconds. `down`: the node does not answer. `refuse_packets`: no packet is taken
    there. `drop_transactions`: the next ones vanish from the mempool."""

    SLOW = "slow"
    DOWN = "down"
    REFUSE_PACKETS = "refuse_packets"
    DROP_TRANSACTIONS = "drop_transactions"


@dataclass(frozen=True)
class Fault:
    """A fault as it is: `size` is the seconds between blocks, or the transactions left to drop."""

    eid: int
    kind: FaultKind
    since: datetime
    until: datetime
    size: int


_faults: dict[int, Fault] = {}
_work: dict[int, asyncio.Task[None]] = {}


def of(eid: int) -> Fault | None:
    """The fault of a chain now."""
    return _faults.get(eid)


def refuses_packets(eid: int) -> bool:
    """Whether a chain takes no packets now."""
    fault = _faults.get(eid)
    return fault is not None and fault.kind is FaultKind.REFUSE_PACKETS


async def begin(eid: int, kind: FaultKind, lasting: timedelta, size: int) -> Fault:
    """Begin a fault; the one before it ends. Raises ChainUnavailable where the node does not answer."""
    await end(eid)
    began = now()
    fault = Fault(eid, kind, began, began + lasting, size)
    await _BEGIN[kind](fault)
    _faults[eid] = fault
    _work[eid] = asyncio.create_task(_run(fault, lasting.total_seconds()))
    return fault


async def end(eid: int) -> None:
    """Put a chain right again; nothing where it has no fault. What it missed is given to it again."""
    fault, work = _faults.pop(eid, None), _work.pop(eid, None)
    if work is not None and work is not asyncio.current_task():
        work.cancel()
        with suppress(asyncio.CancelledError):
            await work
    if fault is not None:
        await _END[fault.kind](eid)
        indexer.wake(eid)


async def end_all() -> None:
    """Put every chain right."""
    for eid in list(_faults):
        await end(eid)


def forget() -> None:
    """This process ends, and the nodes with it: whoever starts them next finds them well."""
    for work in _work.values():
        work.cancel()
    _work.clear()
    _faults.clear()


async def reorganize(eid: int, depth: int) -> None:
    """Replace a chain's newest blocks by empty ones, as if others had won. RpcError where it is not that long."""
    await (await connect(eid)).request("anvil_reorg", depth, [])
    indexer.wake(eid)


async def _run(fault: Fault, seconds: float) -> None:
    """The fault's life; it is put right at its end."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            if fault.kind is FaultKind.DROP_TRANSACTIONS:
                await _drop(fault)
            else:
                await asyncio.Event().wait()
    try:
        await end(fault.eid)
    except (SignumError, RpcError, devnet.DevnetError):
        log.exception("a fault of an embedded chain could not be ended", eid=fault.eid, kind=fault.kind)


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
    await devnet.halt(fault.eid)


async def _only_told(fault: Fault) -> None:
    """The relayer asks for it itself."""


async def _mine_at_once(eid: int) -> None:
    rpc = await connect(eid)
    await rpc.batch([("evm_setIntervalMining", [0]), ("evm_setAutomine", [True]), ("evm_mine", [])])


async def _start(eid: int) -> None:
    devnet.resume(eid)
    await recover([eid])


async def _nothing(eid: int) -> None:
    """Nothing was changed at the node."""


_BEGIN: dict[FaultKind, Callable[[Fault], Awaitable[None]]] = {
    FaultKind.SLOW: _slow,
    FaultKind.DOWN: _stop,
    FaultKind.REFUSE_PACKETS: _only_told,
    FaultKind.DROP_TRANSACTIONS: _hold_blocks,
}
_END: dict[FaultKind, Callable[[int], Awaitable[None]]] = {
    FaultKind.SLOW: _mine_at_once,
    FaultKind.DOWN: _start,
    FaultKind.REFUSE_PACKETS: _nothing,
    FaultKind.DROP_TRANSACTIONS: _mine_at_once,
}
