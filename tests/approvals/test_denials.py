"""Denied and expired requests end with everything they had written."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.core import db
from backend.core.db import now
from backend.models import ApprovalRow, AssetRow, RequestRow
from backend.server import sweep
from tests.approvals.second_person import WHY, approve, asking, deny, path_of, waiting
from tests.conftest import World
from tests.support.firm import HYPEREVM, SEPOLIA, Firm, refused
from tests.support.issuance import asset_body

pytestmark = pytest.mark.long


async def test_denied_market_ends_with_its_bridge(world: World) -> None:
    firm, second = await asking(world, "market.deploy", eids=(SEPOLIA, HYPEREVM))
    asset = await firm.asset()
    path = f"/assets/{asset['id']}/markets"
    accepted = await firm.post(path, await firm.market_body(HYPEREVM))
    assert accepted["status"] == "awaiting_approval"
    approval = await waiting(firm, accepted)
    seen = await second.call("GET", path_of(firm, approval))
    assert seen["plan"]["impact"]["will_bridge"] is True
    assert (await firm.get(f"{path}/{accepted['marketId']}"))["status"] == "pending_bridge"
    request = await deny(firm, second, approval)
    assert request["status"] == "denied"
    assert request["problem"]["detail"].endswith("denied this request: Not now")
    assert not request["can_retry"]
    market = await firm.get(f"{path}/{accepted['marketId']}")
    assert (market["status"], "Not now" in market["failure"]) == ("failed", True)
    assert [b["status"] for b in (await firm.get("/bridges"))["bridges"]] == ["failed"]
    await firm.refused("POST", f"/requests/{request['id']}/retry", 409)
    next_one = await waiting(firm, await firm.post(path, await firm.market_body(HYPEREVM)))
    assert (await approve(firm, second, next_one))["status"] == "succeeded"
    assert (await firm.get(path))["markets"][0]["status"] == "active"


async def test_denied_asset_frees_its_symbol(world: World) -> None:
    firm, second = await asking(world, "asset.deploy")
    body = asset_body(symbol="FREE")
    first = await waiting(firm, await firm.post("/assets", body))
    await firm.refused("POST", "/assets", 409, json=body)
    await deny(firm, second, first)
    next_one = await waiting(firm, await firm.post("/assets", body))
    assert (await approve(firm, second, next_one))["status"] == "succeeded"
    assert [a["status"] for a in (await firm.get("/assets"))["assets"]] == ["active"]


async def test_denied_attestation_does_not_block_a_new_one(world: World) -> None:
    firm, second = await asking(world, "attestation.issue", "attestation.revoke")
    party = await firm.verified("0x52908400098527886E0F7030069857D2E4169EE7")
    body = {"party_id": party["id"], "chain_eid": SEPOLIA}
    first = await firm.post("/attestations", body)
    await firm.refused("POST", "/attestations", 409, json=body)
    await deny(firm, second, await waiting(firm, first))
    assert (await firm.get(f"/attestations/{first['attestationId']}"))["status"] == "failed"
    next_one = await firm.post("/attestations", body)
    await approve(firm, second, await waiting(firm, next_one))
    path = f"/attestations/{next_one['attestationId']}"
    revoked = await waiting(firm, await firm.post(f"{path}/revoke", {"reason": WHY}))
    assert (await approve(firm, second, revoked))["status"] == "succeeded"
    assert (await firm.get(path))["status"] == "revoked"


async def test_undecided_approval_expires(world: World) -> None:
    firm, second = await asking(world, "market.deploy")
    asset = await firm.asset()
    path = f"/assets/{asset['id']}/markets"
    accepted = await firm.post(path, await firm.market_body(SEPOLIA))
    approval = await waiting(firm, accepted)
    async with db.worker() as session:
        late = sa.update(ApprovalRow).values(expires_at=now() - timedelta(seconds=1))
        await session.execute(late.where(col(ApprovalRow.request_id) == accepted["requestId"]))
    problem = await refused(second, "POST", path_of(firm, approval, "approve"), 409)
    assert "expired" in problem.detail
    assert (await firm.get("/approvals", params={"status": "expired"}))["approvals"][0]["id"] == approval["id"]
    request = await _swept(firm, accepted["requestId"])
    assert (request["status"], "before anyone decided" in request["problem"]["detail"]) == ("denied", True)
    assert (await firm.get(f"{path}/{accepted['marketId']}"))["status"] == "failed"
    assert (await firm.get(f"/approvals/{approval['id']}"))["status"] == "expired"


async def test_denial_during_a_rehearsal_finds_its_records_unlocked(world: World) -> None:
    firm, second = await asking(world, "asset.deploy")
    accepted = await firm.post("/assets", asset_body())
    approval = await waiting(firm, accepted)
    here, record = col(RequestRow.id) == accepted["requestId"], col(AssetRow.id) == accepted["assetId"]
    async with db.worker() as session:
        await session.execute(sa.select(RequestRow.__table__).where(here).with_for_update())
        look = asyncio.create_task(second.call("GET", path_of(firm, approval)))
        while not await _has_waiter():
            assert not look.done(), "the rehearsal waits for the denial"
        await session.execute(sa.select(AssetRow.__table__).where(record).with_for_update(nowait=True))
    assert (await look)["plan"]["steps"]


async def _swept(firm: Firm, request_id: str) -> dict[str, Any]:
    """Sweep until a request has ended: a sweep leaves an approval for the next one while others write to it."""
    async with asyncio.timeout(30):
        while True:
            await sweep.once()
            request: dict[str, Any] = await firm.get(f"/requests/{request_id}")
            if request["status"] == "denied":
                return request


async def _has_waiter() -> bool:
    async with db.worker() as session:
        waits = "select exists (select from pg_locks where not granted and locktype in ('transactionid', 'tuple'))"
        return bool(await session.scalar(sa.text(waits)))
