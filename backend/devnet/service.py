"""What the operator does with the embedded chains."""

import asyncio
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.chain import clock, endpoints, faults, indexer
from backend.chain.errors import RpcError
from backend.chain.rpc import connect
from backend.devnet import reset
from backend.devnet.schemas import (
    YEAR,
    ClockMove,
    Devnet,
    DevnetChain,
    Fault,
    FaultBegin,
    FaultKind,
    ResetBegun,
)
from backend.errors import BadRequest, Conflict, Forbidden, NotFound, SignumError, Unavailable
from backend.settings import settings

FARTHEST = 50 * YEAR
LOOK = 1.0
"""Seconds that a chain has to tell its newest block."""


async def check(context: Context) -> None:
    """404 without embedded chains; 403 unless the person is an admin of the operator's organization.

    The chains belong to the installation and not to one organization, and whoever may move their time moves it for all.
    """
    if not settings().embedded_chains:
        raise NotFound("There is nothing at this address.")
    person = context.require_person().user_id
    if not await context.session.scalar(sa.text("select signum_operates(:person)"), {"person": person}):
        raise Forbidden(
            "The devnet is every organization's: this needs an admin of the operator's, the first of the installation."
        )
    await context.check_address(await context.session.scalar(sa.text("select signum_operator()")))


async def state() -> Devnet:
    """The chains as they are."""
    chains = await asyncio.gather(*(_chain(eid) for eid in sorted(endpoints.EMBEDDED)))
    return Devnet(clock_offset_seconds=clock.offset(), can_reset=reset.is_possible(settings()), chains=list(chains))


async def _chain(eid: int) -> DevnetChain:
    found, name = faults.of(eid), endpoints.EMBEDDED[eid].name
    fault = None if found is None else Fault.model_validate(found, from_attributes=True)
    number = time = None
    try:
        async with asyncio.timeout(LOOK):
            block = await (await connect(eid)).request("eth_getBlockByNumber", "latest", False)
        number, time = int(block["number"], 16), datetime.fromtimestamp(int(block["timestamp"], 16), UTC)
    except (SignumError, RpcError, TimeoutError):
        pass  # it says so itself: null
    return DevnetChain(chain_eid=eid, name=name, block_number=number, time=time, fault=fault)


async def move_clock(body: ClockMove) -> Devnet:
    """Let every chain go forward, each with a block of the new time. 409 while one is down."""
    if clock.offset() + body.seconds > FARTHEST:
        raise BadRequest("The devnet's clock goes 50 years ahead at most; a reset sets it back.", pointer="/seconds")
    down = [endpoints.EMBEDDED[eid].name for eid in endpoints.EMBEDDED if _is_down(eid)]
    if down:
        raise Conflict(f"{', '.join(down)} is down; all chains go forward together, so end that fault first.")
    clock.advance(body.seconds)
    for eid in endpoints.EMBEDDED:
        rpc = await connect(eid)
        await clock.set_time(rpc)
        await rpc.request("evm_mine")
        indexer.wake(eid)
    return await state()


def _is_down(eid: int) -> bool:
    fault = faults.of(eid)
    return fault is not None and fault.kind is faults.FaultKind.DOWN


async def fault(body: FaultBegin) -> Devnet:
    """Begin a fault, or end the one there is."""
    if body.chain_eid not in endpoints.EMBEDDED:
        raise BadRequest("This is not one of the embedded chains.", pointer="/chain_eid")
    if body.kind is FaultKind.NONE:
        await faults.end(body.chain_eid)
    elif body.kind is FaultKind.REORG:
        await _reorganize(body.chain_eid, body.size)
    else:
        kind, lasting = faults.FaultKind(body.kind.value), timedelta(seconds=body.seconds)
        await faults.begin(body.chain_eid, kind, lasting, body.size)
    return await state()


async def _reorganize(eid: int, depth: int) -> None:
    await faults.end(eid)
    try:
        await faults.reorganize(eid, depth)
    except RpcError as error:
        raise Conflict(f"The chain cannot be reorganized that deep: {error.message}") from error


async def begin_again() -> ResetBegun:
    """End every fault, then the server; it starts again from nothing. 409 where it cannot."""
    if not reset.is_possible(settings()):
        reset.ask(settings())
    try:
        await faults.end_all()
    except (SignumError, RpcError) as error:
        raise Unavailable("A chain could not be put right; try again.") from error
    reset.ask(settings())
    return ResetBegun(message="Beginning again: the server ends now and is back in less than a minute.")
