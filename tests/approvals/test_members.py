"""No one can remove potential approvers alone."""

import asyncio
import os
import subprocess
import sys
from typing import Any

import pytest

from backend.core.db import new_id
from backend.users.schemas import Role
from tests.approvals.second_person import approve, deny, path_of, waiting
from tests.conftest import Actor, World
from tests.support.firm import Firm, refused


async def team(world: World, *actions: str) -> tuple[Firm, Actor, dict[str, Any]]:
    """A firm that requires a second person for some actions, its second admin, and each user's member record."""
    firm = await Firm.found(world)
    second = await world.person(firm.id)
    if actions:
        await firm.patch("", {"approvals": list(actions)})
    return firm, second, await members(firm)


async def members(firm: Firm) -> dict[str, Any]:
    """Return member records by the id of their user."""
    return {m["user_id"]: m for m in (await firm.get("/members"))["members"]}


async def test_admin_removal_waits_for_a_second_person_under_any_policy(world: World) -> None:
    firm, second, known = await team(world, "token.mint")
    third = await world.person(firm.id)
    path = f"/members/{known[str(second.user_id)]['id']}"
    plan = await firm.admin.call("DELETE", f"{firm.base}{path}", params={"dry_run": "true"})
    assert plan["steps"] == ["A second person approves", f"Remove {second.email.split('@')[0].title()}"]
    plan = await firm.admin.call("PATCH", f"{firm.base}{path}", json={"role": "viewer"}, params={"dry_run": "true"})
    assert [plan["steps"][0], len(plan["steps"])] == ["A second person approves", 2]
    accepted = await firm.admin.call("DELETE", f"{firm.base}{path}")
    assert (accepted["status"], accepted["memberId"]) == ("awaiting_approval", known[str(second.user_id)]["id"])
    approval = await waiting(firm, accepted)
    assert approval["action"] == "member.remove"
    await refused(firm.admin, "POST", path_of(firm, approval, "approve"), 403)
    assert str(second.user_id) in await members(firm), "nothing is done before a second person agrees"
    assert (await deny(firm, third, approval))["status"] == "denied"
    demoted = await firm.patch(path, {"role": "viewer"})
    approval = await waiting(firm, demoted)
    assert approval["action"] == "member.change_role"
    shown = await third.call("GET", path_of(firm, approval))
    [change] = shown["plan"]["impact"]["changes"]
    assert (change["field"], change["before"], change["after"]) == ("role", "admin", "viewer")
    assert (await approve(firm, third, approval))["status"] == "succeeded"
    assert (await members(firm))[str(second.user_id)]["role"] == "viewer"
    problem = await firm.refused("PATCH", "", 409, json={"approvals": []})
    assert "second person" in problem.detail


async def test_admin_removal_waits_for_the_last_other_admin(world: World) -> None:
    firm, second, known = await team(world, "token.mint")
    path = f"{firm.base}/members/{known[str(second.user_id)]['id']}"
    approval = await waiting(firm, await firm.admin.call("DELETE", path))
    await firm.refused("PATCH", "", 409, json={"approvals": []})
    assert (await approve(firm, second, approval))["status"] == "succeeded"
    assert str(second.user_id) not in await members(firm)
    assert (await firm.patch("", {"approvals": []}))["approvals"] == [], "there is no second person now"


async def test_admin_promotion_needs_a_second_person(world: World) -> None:
    """Otherwise the requester could appoint the approver."""
    firm, second, _ = await team(world, "token.mint")
    friend = await world.person(firm.id, Role.VIEWER)
    path = f"/members/{(await members(firm))[str(friend.user_id)]['id']}"
    approval = await waiting(firm, await firm.patch(path, {"role": "admin"}))
    assert (await members(firm))[str(friend.user_id)]["role"] == "viewer"
    assert (
        "already"
        in (await firm.refused("POST", "/members", 409, json={"user_id": str(friend.user_id), "role": "admin"})).detail
    )
    assert (await approve(firm, second, approval))["status"] == "succeeded"
    assert (await members(firm))[str(friend.user_id)]["role"] == "admin"


async def test_promotion_of_a_pending_member_needs_a_second_person(world: World) -> None:
    """Otherwise the requester's other account would become admin while the request waits, and then approve it."""
    firm, _, _ = await team(world, "token.mint")
    elsewhere = await world.person(await world.organization())
    made = await firm.post("/members", {"user_id": str(elsewhere.user_id), "role": "viewer"})
    assert made["status"] == "pending"
    accepted = await firm.patch(f"/members/{made['id']}", {"role": "admin"})
    assert (await waiting(firm, accepted))["action"] == "member.change_role"
    assert (await members(firm))[str(elsewhere.user_id)]["role"] == "viewer"
    assert await firm.admin.call("DELETE", f"{firm.base}/members/{made['id']}") is None


async def test_sole_admin_cannot_promote_before_lifting_the_policy(world: World) -> None:
    firm = await Firm.found(world)
    await firm.patch("", {"approvals": ["token.mint"]})
    friend = await world.person(firm.id, Role.VIEWER)
    path = f"/members/{(await members(firm))[str(friend.user_id)]['id']}"
    await firm.refused("PATCH", path, 409, json={"role": "admin"})
    await firm.patch("", {"approvals": []})
    assert (await firm.patch(path, {"role": "admin"}))["role"] == "admin"


async def test_member_removal_waits_when_the_organization_requires_it(world: World) -> None:
    firm, second, _ = await team(world, "member.remove", "member.change_role")
    viewer = await world.person(firm.id, Role.VIEWER)
    path = f"/members/{(await members(firm))[str(viewer.user_id)]['id']}"
    plan = await firm.admin.call("PATCH", f"{firm.base}{path}", json={"role": "client"}, params={"dry_run": "true"})
    assert len(plan["steps"]) == 1, "the approvers stay the same"
    assert (await firm.patch(path, {"role": "client"}))["role"] == "client"
    accepted = await firm.admin.call("DELETE", f"{firm.base}{path}")
    approval = await waiting(firm, accepted)
    assert (await approve(firm, second, approval))["status"] == "succeeded"
    assert str(viewer.user_id) not in await members(firm)
    await refused(second, "POST", path_of(firm, approval, "approve"), 409)


async def test_member_change_without_a_policy_or_of_oneself_needs_no_approval(world: World) -> None:
    firm, second, known = await team(world)
    third = await world.person(firm.id)
    path = f"{firm.base}/members/{known[str(second.user_id)]['id']}"
    assert (await firm.admin.call("PATCH", path, json={"role": "viewer"}))["role"] == "viewer"
    assert await firm.admin.call("DELETE", path) is None
    await firm.patch("", {"approvals": ["token.mint"]})
    own = (await members(firm))[str(third.user_id)]["id"]
    assert await third.call("DELETE", f"{firm.base}/members/{own}") is None, "every member can leave"


async def test_approval_of_a_removal_fails_when_the_member_has_left(world: World) -> None:
    firm, second, known = await team(world, "token.mint")
    third = await world.person(firm.id)
    path = f"{firm.base}/members/{known[str(second.user_id)]['id']}"
    approval = await waiting(firm, await firm.admin.call("DELETE", path))
    await second.call("DELETE", path)
    assert "no member with this ID" in (await refused(third, "POST", path_of(firm, approval, "approve"), 409)).detail


@pytest.mark.long
async def test_operator_lifts_the_policy_when_the_only_second_person_is_lost(world: World, database_url: str) -> None:
    firm, second, known = await team(world, "token.mint", "member.remove")
    lost = f"{firm.base}/members/{known[str(second.user_id)]['id']}"
    assert (await firm.admin.call("DELETE", lost))["status"] == "awaiting_approval"
    await firm.refused("PATCH", "", 409, json={"approvals": []})

    async def lift(organization: Any) -> tuple[int, str]:
        """Run `signum approvals lift` as an operator does; return exit code and output."""
        run = [*(sys.executable, "-m", "backend.cli", "approvals", "lift"), *("--org", str(organization))]
        done = await asyncio.to_thread(
            subprocess.run, [*run, "--reason", "Bob has left"], env=os.environ | {"DATABASE_URL": database_url},
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    code, said = await lift(firm.id)
    assert (code, "token.mint, member.remove" in said, "1 earlier request still waits" in said) == (0, True, True), said
    log = (await firm.get("/audit?action=organization.updated"))["audit"]
    assert (log[0]["actor"], log[0]["credential"]) == (None, "operator")
    assert log[0]["before"] == {"approvals": ["token.mint", "member.remove"]}
    assert log[0]["after"] == {"approvals": [], "reason": "Bob has left"}
    assert (await firm.get("/audit/verify"))["whole"]
    await firm.admin.call("DELETE", lost)
    assert str(second.user_id) not in await members(firm)
    assert await lift(firm.id) == (1, "signum: Acme has no approval requirements to remove.\n")
    code, said = await lift(new_id())
    assert (code, "No organization has the ID" in said) == (1, True)
