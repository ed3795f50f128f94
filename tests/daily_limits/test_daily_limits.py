"""Daily limits over the API: a request above one waits for a second person, and no one raises one alone."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.approvals import removal
from backend.core import db
from backend.core.db import now
from backend.models import AuditRow, DailyUseRow, MemberRow, RequestRow
from backend.requests.schemas import RequestStatus
from backend.users.schemas import Role
from tests.approvals.second_person import approve, deny, path_of, waiting
from tests.conftest import Actor, World
from tests.controls.issuer import Issuer, issuer
from tests.support.firm import SEPOLIA, refused

UNIT = 10**18
CAUSE = "60 HBF exceeds the daily limit for minting: 50 of 100 HBF were used in the last 24 hours."


async def limited(world: World, **limits: int) -> tuple[Issuer, Actor, dict[str, Any]]:
    """An issuer whose asset has daily limits (whole tokens), its second admin, and a verified holder's wallet."""
    firm = await issuer(world, symbol="HBF")
    second = await world.person(firm.id)
    accepted = await firm.patch(path(firm), {name: str(amount * UNIT) for name, amount in limits.items()})
    await firm.succeed(accepted["requestId"])
    return firm, second, await firm.trader()


def path(firm: Issuer) -> str:
    return f"/assets/{firm.of['id']}/daily-limits"


async def mint(firm: Issuer, to: Any, amount: int) -> Any:
    body = {"chain_eid": SEPOLIA, "to_address": to["address"], "amount": str(amount * UNIT)}
    return await firm.post(firm.control("mint"), body)


async def test_new_limit_counts_what_was_accepted_before_it(world: World) -> None:
    firm = await issuer(world, symbol="HBF")
    await world.person(firm.id)
    wallet = await firm.trader()
    await firm.succeed((await mint(firm, wallet, 50))["requestId"])
    before = {one["action"]: one["used"] for one in (await firm.get(path(firm)))["limits"]}
    assert (before["mint"], before["transfer"]) == (str(50 * UNIT), "0")
    accepted = await firm.patch(path(firm), {"mint": str(100 * UNIT)})
    await firm.succeed(accepted["requestId"])
    (limit,) = [one for one in (await firm.get(path(firm)))["limits"] if one["action"] == "mint"]
    assert (limit["used"], limit["available"]) == (str(50 * UNIT), str(50 * UNIT))
    above = await mint(firm, wallet, 60)
    assert above["message"] == f"{CAUSE} It waits for a second person's approval."
    await firm.patch(path(firm), {"mint": str(80 * UNIT)})
    assert (await mint(firm, wallet, 30))["status"] != "awaiting_approval", (
        "counted once, and the waiting one not at all"
    )


async def test_mint_above_the_daily_limit_waits_for_a_second_person(world: World) -> None:
    firm, second, wallet = await limited(world, mint=100)
    await firm.succeed((await mint(firm, wallet, 50))["requestId"])
    within = await firm.plan("mint", to_address=wallet["address"], amount=str(50 * UNIT), reason=None)
    assert within["impact"]["needs_second_person"] is False
    plan = await firm.plan("mint", to_address=wallet["address"], amount=str(60 * UNIT), reason=None)
    assert plan["impact"]["warnings"] == [f"{CAUSE} A second person must approve it."]
    assert plan["impact"]["needs_second_person"] is True
    accepted = await mint(firm, wallet, 60)
    assert (accepted["status"], accepted["message"]) == (
        "awaiting_approval",
        f"{CAUSE} It waits for a second person's approval.",
    )
    approval = await waiting(firm, accepted)
    assert (approval["action"], approval["cause"]) == ("token.mint", CAUSE)
    assert await firm.held(wallet["address"]) == 50 * UNIT
    await refused(firm.admin, "POST", path_of(firm, approval, "approve"), 403)
    assert (await approve(firm, second, approval))["status"] == "succeeded"
    assert await firm.held(wallet["address"]) == 110 * UNIT
    await firm.succeed((await mint(firm, wallet, 50))["requestId"])
    left = next(x for x in (await firm.get(path(firm)))["limits"] if x["action"] == "mint")
    assert left == {"action": "mint", "limit": str(100 * UNIT), "used": str(100 * UNIT), "available": "0"}


@pytest.mark.long
async def test_concurrent_mints_share_the_remaining_daily_limit(world: World) -> None:
    firm, _, wallet = await limited(world, mint=100)
    answers = await asyncio.gather(*(mint(firm, wallet, 40) for _ in range(4)))
    assert sorted(a["status"] for a in answers) == ["accepted", "accepted", "awaiting_approval", "awaiting_approval"]


@pytest.mark.long
async def test_transfer_burn_and_forced_transfer_above_their_limits_wait(world: World) -> None:
    firm, second, wallet = await limited(world, transfer=10, burn=5, forced_transfer=3)
    transfer = {
        "asset_id": firm.of["id"], "chain_eid": SEPOLIA, "from_wallet_id": (await firm.treasury())["id"],
        "to_address": wallet["address"], "amount": str(11 * UNIT),
    }  # fmt: skip
    plan = await firm.post("/transfers?dry_run=true", transfer)
    assert "exceeds the daily limit for transfers: 0 of 10 HBF" in plan["impact"]["warnings"][0]
    approval = await waiting(firm, await firm.post("/transfers", transfer))
    assert (await approve(firm, second, approval))["status"] == "succeeded"
    await firm.succeed((await firm.post("/transfers", transfer | {"amount": str(10 * UNIT)}))["requestId"])
    taken = {"chain_eid": SEPOLIA, "reason": "Order 12"}
    burn = taken | {"address": wallet["address"], "amount": str(6 * UNIT)}
    assert (await waiting(firm, await firm.post(firm.control("burn"), burn)))["action"] == "token.burn"
    moved = {
        "from_address": wallet["address"],
        "to_address": (await firm.treasury())["address"],
        "amount": str(4 * UNIT),
    }
    forced = await firm.post(firm.control("forced-transfer"), taken | moved)
    assert (await waiting(firm, forced))["action"] == "token.forced_transfer"
    assert await firm.held(wallet["address"]) == 21 * UNIT


@pytest.mark.long
async def test_denied_amount_does_not_count(world: World) -> None:
    firm, second, wallet = await limited(world, mint=100)
    approval = await waiting(firm, await mint(firm, wallet, 101))
    assert (await deny(firm, second, approval))["status"] == "denied"
    assert (await mint(firm, wallet, 100))["status"] == "accepted"


@pytest.mark.long
async def test_amount_used_yesterday_does_not_count(world: World) -> None:
    firm, _, wallet = await limited(world, mint=100)
    await mint(firm, wallet, 100)
    async with db.worker() as session:
        await session.execute(aged(firm, 24))
    assert (await mint(firm, wallet, 100))["status"] == "accepted"
    async with db.worker() as session:
        kept = sa.select(sa.func.count()).where(col(DailyUseRow.organization_id) == firm.id)
        assert await session.scalar(kept) == 1


def aged(firm: Issuer, hours: int) -> sa.Update:
    """Age the amounts that a firm has used."""
    return (
        sa.update(DailyUseRow)
        .where(col(DailyUseRow.organization_id) == firm.id)
        .values(used_at=now() - timedelta(hours=hours))
    )


@pytest.mark.long
async def test_failed_mint_counts_again_when_it_is_retried(world: World) -> None:
    firm, _, wallet = await limited(world, mint=100)
    failed = (await mint(firm, wallet, 60))["requestId"]
    await firm.settle(failed)
    async with db.worker() as session:
        was = sa.update(RequestRow).where(col(RequestRow.id) == failed)
        await session.execute(was.values(status=RequestStatus.FAILED, can_retry=True))
        await session.execute(aged(firm, 25))
    assert (await mint(firm, wallet, 60))["status"] == "accepted"
    problem = await firm.refused("POST", f"/requests/{failed}/retry", 409)
    assert problem.detail.startswith("60 HBF exceeds the daily limit for minting: 60 of 100 HBF")


@pytest.mark.long
async def test_limit_is_lowered_alone_and_raised_with_a_second_person(world: World) -> None:
    firm, second, _ = await limited(world, mint=100, burn=7)
    lower = await firm.patch(path(firm), {"mint": str(50 * UNIT), "transfer": str(UNIT)})
    await firm.succeed(lower["requestId"])
    plan = await firm.admin.call("PATCH", f"{firm.base}{path(firm)}?dry_run=true", json={"mint": str(51 * UNIT)})
    assert plan["impact"] == {
        "changes": [{"action": "mint", "before": str(50 * UNIT), "after": str(51 * UNIT)}],
        "needs_second_person": True,
    }
    for change in ({"mint": str(51 * UNIT)}, {"burn": "0"}, {"burn": "0", "mint": "1"}):
        approval = await waiting(firm, await firm.patch(path(firm), change))
        await refused(firm.admin, "POST", path_of(firm, approval, "approve"), 403)
        assert (await deny(firm, second, approval))["status"] == "denied"
    assert await limits_of(firm) == {"mint": 50, "transfer": 1, "burn": 7, "forced_transfer": None}
    approval = await waiting(firm, await firm.patch(path(firm), {"mint": "0", "burn": str(8 * UNIT)}))
    assert (await approve(firm, second, approval))["status"] == "succeeded"
    assert await limits_of(firm) == {"mint": None, "transfer": 1, "burn": 8, "forced_transfer": None}
    async with db.worker() as session:
        written = sa.select(sa.func.count()).where(
            col(AuditRow.action) == "asset.limits_changed", col(AuditRow.organization_id) == firm.id
        )
        assert await session.scalar(written) == 3


async def limits_of(firm: Issuer) -> dict[str, int | None]:
    answer = (await firm.get(path(firm)))["limits"]
    return {x["action"]: None if x["limit"] is None else int(x["limit"]) // UNIT for x in answer}


@pytest.mark.long
async def test_invalid_limits_are_rejected(world: World) -> None:
    firm, _, _ = await limited(world, mint=100)
    for body in ({"mint": None}, {"mint": "-1"}, {"mint": 5}, {"mint": str(2**256)}, {"mining": "1"}):
        await firm.refused("PATCH", path(firm), 422, json=body)
    problem = await firm.refused("PATCH", path(firm), 400, json={"mint": str(100 * UNIT)})
    assert problem.detail == "The asset already has these daily limits. Nothing would change."
    officer = await world.person(firm.id, Role.COMPLIANCE_OFFICER)
    await refused(officer, "PATCH", f"{firm.base}{path(firm)}", 403, json={"mint": "1"})
    stranger = await world.person(await world.organization())
    await refused(stranger, "GET", f"{firm.base}{path(firm)}", 403)


@pytest.mark.long
async def test_limit_without_a_second_approver_reports_the_way_out(world: World) -> None:
    firm, second, wallet = await limited(world, mint=100)
    async with db.worker() as session:
        await session.execute(sa.delete(MemberRow).where(col(MemberRow.user_id) == second.user_id))
    body = {"chain_eid": SEPOLIA, "to_address": wallet["address"], "amount": str(101 * UNIT)}
    problem = await firm.refused("POST", firm.control("mint"), 409, json=body)
    assert problem.detail.startswith("101 HBF exceeds the daily limit for minting")
    assert "raise or remove the daily limit" in problem.detail
    await firm.succeed((await firm.patch(path(firm), {"mint": str(200 * UNIT)}))["requestId"])
    await firm.succeed((await firm.post(firm.control("mint"), body))["requestId"])


@pytest.mark.long
async def test_appointment_under_daily_limits_waits_for_a_second_person(world: World) -> None:
    firm, _, _ = await limited(world, mint=100)
    body = {"wallet_address": "0x52908400098527886E0F7030069857D2E4169EE7", "role": "compliance_officer"}
    assert (await firm.post("/members", body))["status"] == "awaiting_approval"


@pytest.mark.long
async def test_operator_lifts_daily_limits(world: World) -> None:
    firm, _, wallet = await limited(world, mint=1)
    async with db.worker() as session:
        lines = await removal.lift_within(session, firm.id, "The other admin has left")
    assert lines[0].endswith("Removed: daily limits of 1 asset.")
    assert (await mint(firm, wallet, 50))["status"] == "accepted"
