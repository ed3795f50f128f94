"""Steps of bridges in tests: request, watch and deliver."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from backend.bridges.models import BridgeRow
from backend.chain.deployment.contracts import contracts_of, operator
from backend.chain.layerzero import relayer
from backend.chain.transactions.execution import execute
from backend.core import db
from backend.requests import service
from backend.requests.models import RequestRow
from tests.support.issuance import Issuance


async def bridged(firm: Issuance, asset: Any, eid: int, amount: int = 0, **body: Any) -> Any:
    accepted = await firm.post(
        f"/assets/{asset['id']}/bridge", {"destination_chain_eid": eid, "amount": str(amount)} | body
    )
    assert accepted["status"] == "pending"
    return accepted


def supplies(asset: Any) -> dict[int, str]:
    return {d["chain_eid"]: d["supply"] for d in asset["deployments"]}


async def verify(bridge_id: str) -> BridgeRow:
    """Verify a bridge's packet, as the DVNs of a public chain do."""
    bridge = await row_of(bridge_id)
    packet = await relayer.packet_of(str(bridge.guid), bridge.source_chain_eid, str(bridge.source_tx_hash))
    at = (await contracts_of(packet.destination_eid)).endpoint
    await execute(relayer._intent(packet, "verify", await operator(), at))
    return bridge


async def deliver(bridge_id: str) -> None:
    """Deliver a bridge's packet to its destination, as a public chain's own verifiers and executor do."""
    bridge = await verify(bridge_id)
    await relayer.receive(str(bridge.guid), bridge.source_chain_eid, str(bridge.source_tx_hash))


async def row_of(bridge_id: str) -> BridgeRow:
    async with db.worker() as session:
        return await session.get_one(BridgeRow, UUID(bridge_id))


async def ended(firm: Issuance, request_id: str) -> Any:
    """Return a request that continued elsewhere, once it has finished."""
    async with asyncio.timeout(60):
        while (request := await firm.get(f"/requests/{request_id}"))["status"] == "running":  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return request


async def until_sent(bridge_id: str) -> None:
    async with asyncio.timeout(60):
        while (await row_of(bridge_id)).guid is None:  # noqa: ASYNC110 - a row changes
            await asyncio.sleep(0.05)


async def until(is_so: Callable[[], Awaitable[bool]]) -> None:
    """Return when the condition is true."""
    async with asyncio.timeout(60):
        while not await is_so():  # noqa: ASYNC110 - a row changes
            await asyncio.sleep(0.02)


async def hops(request_id: str) -> int:
    """Return how often a request has continued in another order."""
    async with db.worker() as session:
        return service.hop_of((await session.get_one(RequestRow, UUID(request_id))).arguments)


async def until_undelivered(request_id: str) -> None:
    """Return when a request waits for a delivery in another order."""

    async def is_undelivered() -> bool:
        return await hops(request_id) > 0

    await until(is_undelivered)
