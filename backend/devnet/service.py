"""Operations on the embedded chains."""

import asyncio
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.chain import devnet_faults
from backend.chain.coordination import scheduler
from backend.chain.devnet import clock
from backend.chain.errors import RpcError
from backend.chain.rpc import node_urls
from backend.chain.rpc.json_rpc import connect
from backend.core.errors import BadRequest, Conflict, Forbidden, NotFound, SignumError, Unavailable
from backend.core.settings import settings
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

FARTHEST = 50 * YEAR
LOOK = 1.0
"""Seconds that a chain has to return its newest block."""


async def check(context: Context) -> None:
    """Raise 404 without embedded chains; 403 unless the person is an admin of the operator's organization.

    The chains belong to the installation and not to one organization: moving their time affects all organizations.
    """
    if not settings().embedded_chains:
        raise NotFound("No resource exists at this address.")
    person = context.require_person().user_id
    if not await context.session.scalar(sa.text("select signum_operates(:person)"), {"person": person}):
        raise Forbidden("All organizations share the devnet, so only admins of the operator's organization can use it.")
    await context.check_address(await context.session.scalar(sa.text("select signum_operator()")))


async def state() -> Devnet:
    """Return the current state of the chains."""
    chains = await asyncio.gather(*(_chain(eid) for eid in sorted(node_urls.EMBEDDED)))
    return Devnet(clock_offset_seconds=clock.offset(), can_reset=reset.is_possible(settings()), chains=list(chains))


async def _chain(eid: int) -> DevnetChain:
    found, name = devnet_faults.of(eid), node_urls.EMBEDDED[eid].display_name
    fault = None if found is None else Fault.model_validate(found, from_attributes=True)
    number = time = None
    try:
        async with asyncio.timeout(LOOK):
            block = await (await connect(eid)).request("eth_getBlockByNumber", "latest", False)
        number, time = int(block["number"], 16), datetime.fromtimestamp(int(block["timestamp"], 16), UTC)
    except (SignumError, RpcError, TimeoutError):
        pass  # null reports it
    return DevnetChain(chain_eid=eid, name=name, block_number=number, time=time, fault=fault)


async def move_clock(body: ClockMove) -> Devnet:
    """Move every chain forward, each with a block of the new time. 409 while one is down."""
    if clock.offset() + body.seconds > FARTHEST:
        raise BadRequest("The devnet's clock can be at most 50 years ahead. A reset sets it back.", pointer="/seconds")
    down = [node_urls.EMBEDDED[eid].display_name for eid in node_urls.EMBEDDED if _is_down(eid)]
    if down:
        raise Conflict(f"{', '.join(down)} is down. All chains move forward together; end that fault first.")
    clock.advance(body.seconds)
    for eid in node_urls.EMBEDDED:
        rpc = await connect(eid)
        await clock.set_time(rpc)
        await rpc.request("evm_mine")
        scheduler.wake(eid)
    return await state()


def _is_down(eid: int) -> bool:
    fault = devnet_faults.of(eid)
    return fault is not None and fault.kind is devnet_faults.FaultKind.DOWN


async def fault(body: FaultBegin) -> Devnet:
    """Start a fault, or end the current one."""
    if body.chain_eid not in node_urls.EMBEDDED:
        raise BadRequest("This is not one of the embedded chains.", pointer="/chain_eid")
    if body.kind is FaultKind.NONE:
        await devnet_faults.end(body.chain_eid)
    elif body.kind is FaultKind.REORG:
        await _reorganize(body.chain_eid, body.size)
    else:
        kind, lasting = devnet_faults.FaultKind(body.kind.value), timedelta(seconds=body.seconds)
        await devnet_faults.begin(body.chain_eid, kind, lasting, body.size)
    return await state()


async def _reorganize(eid: int, depth: int) -> None:
    await devnet_faults.end(eid)
    try:
        await devnet_faults.reorganize(eid, depth)
    except RpcError as error:
        raise Conflict(f"The chain cannot be reorganized to this depth: {error.message}") from error


async def begin_again() -> ResetBegun:
    """End every fault, then stop the server; it restarts without data. 409 where it cannot."""
    if not reset.is_possible(settings()):
        reset.ask(settings())
    try:
        await devnet_faults.end_all()
    except (SignumError, RpcError) as error:
        raise Unavailable("A chain's fault could not be ended. Retry.") from error
    reset.ask(settings())
    return ResetBegun(message="Reset started. The server restarts within a minute.")
