"""Bridges asked for, watched and delivered, as a test needs them."""

import asyncio
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from backend import db
from backend.bridges.models import BridgeRow
from backend.chain import relayer
from tests.issuance import Issuance


async def bridged(firm: Issuance, asset: Any, eid: int, amount: int = 0, **body: Any) -> Any:
    accepted = await firm.post(
        f"/assets/{asset['id']}/bridge", {"destination_chain_eid": eid, "amount": str(amount)} | body
    )
    assert accepted["status"] == "pending"
    return accepted


def supplies(asset: Any) -> dict[int, str]:
    return {d["chain_eid"]: d["supply"] for d in asset["deployments"]}


async def deliver(bridge_id: str) -> None:
    """As a public chain's own executor would."""
    bridge = await row_of(bridge_id)
    assert bridge.guid is not None
    assert bridge.source_tx_hash is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relayer, "endpoints", SimpleNamespace(is_embedded=lambda eid: True))
        await relayer.deliver(bridge.guid, bridge.source_chain_eid, bridge.source_tx_hash)


async def row_of(bridge_id: str) -> BridgeRow:
    async with db.worker() as session:
        return await session.get_one(BridgeRow, UUID(bridge_id))


async def ended(firm: Issuance, request_id: str) -> Any:
    """A request that went on elsewhere, at its end."""
    async with asyncio.timeout(60):
        while (request := await firm.get(f"/requests/{request_id}"))["status"] == "running":  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return request


async def until_sent(bridge_id: str) -> None:
    async with asyncio.timeout(60):
        while (await row_of(bridge_id)).guid is None:  # noqa: ASYNC110 - a row changes
            await asyncio.sleep(0.05)
