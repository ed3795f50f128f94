"""Nobody gets rid alone of those who would have to agree."""

import asyncio
import os
import subprocess
import sys
from typing import Any

from backend.db import new_id
from backend.members.schemas import Role
from tests.approvals.asking import approve, deny, path_of, waiting
from tests.conftest import Actor, World
from tests.firm import Firm, refused


async def team(world: World, *actions: str) -> tuple[Firm, Actor, dict[str, Any]]:
    """A firm that asks for a second person for some actions, its second admin, and the member of each user."""
    firm = await Firm.found(world)
    second = await world.person(firm.id)
    if actions:
        await firm.patch("", {"approvals": list(actions)})
    return firm, second, await members(firm)


async def members(firm: Firm) -> dict[str, Any]:
    """Member records by the id of their user."""
    return {m["user_id"]: m for m in (await firm.get("/members"))["members"]}


async def test_an_admin_is_not_removed_alone_where_anything_needs_a_second_person(world: World) -> None:
    firm, second, known = await team(world, "token.mint")
    third = await world.person(firm.id)
    path = f"/members/{known[str(second.user_id)]['id']}"
    plan = await firm.admin.call("DELETE", f"{firm.base}{path}", params={"dry_run": "true"})
    assert plan["steps"] == ["A second person agrees", f"Remove {second.email.split('@')[0].title()}"]
    plan = await firm.admin.call("PATCH", f"{firm.base}{path}", json={"role": "viewer"}, params={"dry_run": "true"})
    assert [plan["steps"][0], len(plan["steps"])] == ["A second person agrees", 2]
    accepted = await firm.admin.call("DELETE", f"{firm.base}{path}")
    assert (accepted["status"], accepted["memberId"]) == ("awaiting_approval", known[str(second.user_id)]["id"])
    approval = await waiting(firm, accepted)
    assert approval["action"] == "member.remove"
    await refused(firm.admin, "POST", path_of(firm, approval, "approve"), 403)
    assert str(second.user_id) in await members(firm), "nothing is done before somebody else agrees"
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


async def test_the_last_other_admin_agrees_or_stays(world: World) -> None:
    firm, second, known = await team(world, "token.mint")
    path = f"{firm.base}/members/{known[str(second.user_id)]['id']}"
    approval = await waiting(firm, await firm.admin.call("DELETE", path))
    await firm.refused("PATCH", "", 409, json={"approvals": []})
    assert (await approve(firm, second, approval))["status"] == "succeeded"
    assert str(second.user_id) not in await members(firm)
    assert (await firm.patch("", {"approvals": []}))["approvals"] == [], "now there is nobody else to ask"


async def test_nobody_makes_a_second_person_alone(world: World) -> None:
    """Otherwise somebody of one's own would be the one who agrees."""
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


async def test_nor_of_somebody_who_has_not_agreed_yet(world: World) -> None:
    """Else an account of one's own from elsewhere would be made an admin while it waits, and then agree."""
    firm, _, _ = await team(world, "token.mint")
    elsewhere = await world.person(await world.organization())
    made = await firm.post("/members", {"user_id": str(elsewhere.user_id), "role": "viewer"})
    assert made["status"] == "pending"
    accepted = await firm.patch(f"/members/{made['id']}", {"role": "admin"})
    assert (await waiting(firm, accepted))["action"] == "member.change_role"
    assert (await members(firm))[str(elsewhere.user_id)]["role"] == "viewer"
    assert await firm.admin.call("DELETE", f"{firm.base}/members/{made['id']}") is None


async def test_admin_who_is_alone_promotes_nobody_before_lifting_the_policy(world: World) -> None:
    firm = await Firm.found(world)
    await firm.patch("", {"approvals": ["token.mint"]})
    friend = await world.person(firm.id, Role.VIEWER)
    path = f"/members/{(await members(firm))[str(friend.user_id)]['id']}"
    await firm.refused("PATCH", path, 409, json={"role": "admin"})
    await firm.patch("", {"approvals": []})
    assert (await firm.patch(path, {"role": "admin"}))["role"] == "admin"


async def test_an_organization_asks_for_every_removal_if_it_chooses_to(world: World) -> None:
    firm, second, _ = await team(world, "member.remove", "member.change_role")
    viewer = await world.person(firm.id, Role.VIEWER)
    path = f"/members/{(await members(firm))[str(viewer.user_id)]['id']}"
    plan = await firm.admin.call("PATCH", f"{firm.base}{path}", json={"role": "client"}, params={"dry_run": "true"})
    assert len(plan["steps"]) == 1, "nobody becomes or stops being an approver"
    assert (await firm.patch(path, {"role": "client"}))["role"] == "client"
    accepted = await firm.admin.call("DELETE", f"{firm.base}{path}")
    approval = await waiting(firm, accepted)
    assert (await approve(firm, second, approval))["status"] == "succeeded"
    assert str(viewer.user_id) not in await members(firm)
    await refused(second, "POST", path_of(firm, approval, "approve"), 409)


async def test_without_approvals_and_for_oneself_it_is_done_at_once(world: World) -> None:
    firm, second, known = await team(world)
    third = await world.person(firm.id)
    path = f"{firm.base}/members/{known[str(second.user_id)]['id']}"
    assert (await firm.admin.call("PATCH", path, json={"role": "viewer"}))["role"] == "viewer"
    assert await firm.admin.call("DELETE", path) is None
    await firm.patch("", {"approvals": ["token.mint"]})
    own = (await members(firm))[str(third.user_id)]["id"]
    assert await third.call("DELETE", f"{firm.base}/members/{own}") is None, "everybody may leave"


async def test_it_is_checked_again(world: World) -> None:
    firm, second, known = await team(world, "token.mint")
    third = await world.person(firm.id)
    path = f"{firm.base}/members/{known[str(second.user_id)]['id']}"
    approval = await waiting(firm, await firm.admin.call("DELETE", path))
    await second.call("DELETE", path)
    assert "no such member" in (await refused(third, "POST", path_of(firm, approval, "approve"), 409)).detail


async def test_the_operator_helps_an_admin_whose_only_second_is_lost(world: World, database_url: str) -> None:
    firm, second, known = await team(world, "token.mint", "member.remove")
    lost = f"{firm.base}/members/{known[str(second.user_id)]['id']}"
    assert (await firm.admin.call("DELETE", lost))["status"] == "awaiting_approval"
    await firm.refused("PATCH", "", 409, json={"approvals": []})

    async def lift(organization: Any) -> tuple[int, str]:
        """`signum approvals lift` as an operator runs it: exit code and output."""
        run = [*(sys.executable, "-m", "backend.cli", "approvals", "lift"), *("--org", str(organization))]
        done = await asyncio.to_thread(
            subprocess.run, [*run, "--reason", "Bob has left"], env=os.environ | {"DATABASE_URL": database_url},
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    code, said = await lift(firm.id)
    assert (code, "token.mint, member.remove" in said, "1 that waited" in said) == (0, True, True), said
    log = (await firm.get("/audit?action=organization.updated"))["audit"]
    assert (log[0]["actor"], log[0]["credential"]) == (None, "operator")
    assert log[0]["before"] == {"approvals": ["token.mint", "member.remove"]}
    assert log[0]["after"] == {"approvals": [], "reason": "Bob has left"}
    assert (await firm.get("/audit/verify"))["whole"]
    await firm.admin.call("DELETE", lost)
    assert str(second.user_id) not in await members(firm)
    assert await lift(firm.id) == (1, "signum: Nothing in Acme needs a second person; there is nothing to lift.\n")
    code, said = await lift(new_id())
    assert (code, "There is no organization" in said) == (1, True)
