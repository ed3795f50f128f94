"""New approvers have a cooling-off period."""

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.client import ApiProblem
from backend.core import db
from backend.core.db import now
from backend.models import MemberRow, OrganizationRow
from tests.approvals.second_person import WHY, approve, asking, deny, path_of, waiting
from tests.conftest import Actor, World
from tests.factors.steps import set_up
from tests.support.firm import HYPEREVM, SEPOLIA, refused
from tests.support.issuance import Issuance


async def aged(firm: Issuance, second: Actor, *, organization: timedelta, role: timedelta) -> Any:
    """Set the age of the organization and of the second person's role; return the approval of a waiting pause."""
    asset = await firm.asset()
    async with db.worker() as session:
        of_firm = sa.update(OrganizationRow).where(col(OrganizationRow.id) == firm.id)
        await session.execute(of_firm.values(created_at=now() - organization))
        of_second = sa.update(MemberRow).where(col(MemberRow.user_id) == second.user_id)
        await session.execute(of_second.values(appointed_at=now() - role))
    return await waiting(firm, await firm.post(f"/assets/{asset['id']}/pause", {"reason": WHY}))


@pytest.mark.long
async def test_approver_waits_a_day_after_the_appointment(world: World) -> None:
    firm, second = await asking(world, "token.pause")
    approval = await aged(firm, second, organization=timedelta(days=9), role=timedelta(hours=23, minutes=55))
    problem = await refused(second, "POST", path_of(firm, approval, "approve"), 403)
    assert "too new to approve" in problem.detail
    await refused(second, "POST", path_of(firm, approval, "deny"), 403, json={"reason": "No"})
    assert (await second.call("GET", path_of(firm, approval)))["can_decide"] is False
    mine = await second.call("GET", f"{firm.base}/approvals", params={"can_decide": "true"})
    assert mine["approvals"] == []
    async with db.worker() as session:
        later = sa.update(MemberRow).where(col(MemberRow.user_id) == second.user_id)
        await session.execute(later.values(appointed_at=now() - timedelta(hours=24)))
    assert (await approve(firm, second, approval))["status"] == "succeeded"


@pytest.mark.long
async def test_approver_on_the_first_day_of_an_organization_does_not_wait(world: World) -> None:
    firm, second = await asking(world, "token.pause")
    approval = await aged(firm, second, organization=timedelta(hours=30), role=timedelta(hours=7))
    assert (await approve(firm, second, approval))["status"] == "succeeded"


@pytest.mark.long
@pytest.mark.parametrize(("before", "after"), [(24, 168), (12, 48)])
async def test_longer_cooling_off_does_not_let_pending_approvers_approve_earlier(
    world: World, before: int, after: int
) -> None:
    firm, second = await asking(world, "token.pause")
    async with db.worker() as session:
        row = await session.get_one(OrganizationRow, firm.id)
        row.approver_wait_hours = before
    approval = await aged(firm, second, organization=timedelta(hours=40), role=timedelta(hours=1))
    await refused(second, "POST", path_of(firm, approval, "approve"), 403)
    assert (await firm.patch("", {"approver_wait_hours": after}))["approver_wait_hours"] == after
    problem = await refused(second, "POST", path_of(firm, approval, "approve"), 403)
    assert "too new to approve" in problem.detail


@pytest.mark.long
async def test_new_organization_has_a_24_hour_grace_period_for_any_cooling_off(world: World) -> None:
    firm, second = await asking(world, "token.pause")
    for hours in (12, 168):
        async with db.worker() as session:
            row = await session.get_one(OrganizationRow, firm.id)
            row.approver_wait_hours = hours
        age = timedelta(hours=25)
        approval = await aged(firm, second, organization=age, role=age - timedelta(hours=23, minutes=55))
        assert (await approve(firm, second, approval))["status"] == "succeeded"
        approval = await aged(firm, second, organization=age, role=age - timedelta(hours=24, minutes=5))
        problem = await refused(second, "POST", path_of(firm, approval, "approve"), 403)
        assert "too new to approve" in problem.detail


@pytest.mark.long
async def test_cooling_off_is_lengthened_alone_and_shortened_with_a_second_person(world: World) -> None:
    firm, second = await asking(world, "token.pause")
    assert (await firm.get(""))["approver_wait_hours"] == 24
    assert (await firm.patch("", {"approver_wait_hours": 48}))["approver_wait_hours"] == 48
    problem = await firm.refused("PATCH", "", 409, json={"approver_wait_hours": 47})
    assert f"POST /v1/orgs/{firm.id}/approvals" in problem.detail
    body = {"approvals": ["token.pause"], "approver_wait_hours": 0}
    plan = await firm.post("/approvals?dry_run=true", body)
    assert plan["impact"]["approver_wait_hours"] == {"before": 48, "after": 0}
    denied = await waiting(firm, await firm.post("/approvals", body))
    assert (await deny(firm, second, denied))["status"] == "denied"
    assert (await firm.get(""))["approver_wait_hours"] == 48
    approval = await waiting(firm, await firm.post("/approvals", body))
    assert (await approve(firm, second, approval))["status"] == "succeeded"
    answer = await firm.get("")
    assert (answer["approver_wait_hours"], answer["approvals"]) == (0, ["token.pause"])


@pytest.mark.long
async def test_new_approver_approves_immediately_without_a_cooling_off(world: World) -> None:
    firm, second = await asking(world, "token.pause")
    async with db.worker() as session:
        row = await session.get_one(OrganizationRow, firm.id)
        row.approver_wait_hours = 0
    approval = await aged(firm, second, organization=timedelta(days=9), role=timedelta(minutes=1))
    assert (await approve(firm, second, approval))["status"] == "succeeded"


async def test_invalid_cooling_off_is_rejected(world: World) -> None:
    firm, _ = await asking(world, "token.pause")
    for hours in (-1, 169, 1.5, None, "24"):
        await firm.refused("PATCH", "", 422, json={"approver_wait_hours": hours})
        await firm.refused("POST", "/approvals", 422, json={"approvals": [], "approver_wait_hours": hours})


@pytest.mark.long
async def test_second_factor_requirement_is_lifted_with_a_second_person_only(world: World) -> None:
    firm, second = await asking(world, "token.pause")
    for person in (firm.admin, second):
        await set_up(person)
    await firm.patch("", {"require_second_factor": True})
    with pytest.raises(ApiProblem) as key:
        await world.client.call("PATCH", firm.base, json={"require_second_factor": False}, headers=firm.key)
    assert (key.value.status, "signed-in person" in str(key.value.detail)) == (403, True)
    problem = await firm.refused("PATCH", "", 409, json={"require_second_factor": False})
    assert f"POST /v1/orgs/{firm.id}/approvals" in problem.detail
    body = {"approvals": ["token.pause"], "require_second_factor": False}
    plan = await firm.post("/approvals?dry_run=true", body)
    assert plan["impact"]["require_second_factor"] == {"before": True, "after": False}
    approval = await waiting(firm, await firm.post("/approvals", body))
    assert (await approve(firm, second, approval))["status"] == "succeeded"
    answer = await firm.get("")
    assert (answer["require_second_factor"], answer["approver_wait_hours"]) == (False, 24)


@pytest.mark.long
async def test_market_deployment_that_starts_with_a_bridge_waits_like_a_bridge(world: World) -> None:
    firm, second = await asking(world, "bridge.send", eids=(SEPOLIA, HYPEREVM))
    asset = await firm.asset()
    path = f"/assets/{asset['id']}/markets"
    here = await firm.post(path, await firm.market_body(SEPOLIA))
    await firm.succeed(here["requestId"])
    approval = await waiting(firm, await firm.post(path, await firm.market_body(HYPEREVM)))
    assert approval["action"] == "market.deploy"
    assert (await approve(firm, second, approval))["status"] == "succeeded"
