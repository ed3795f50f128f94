"""What waits for a person: by their scopes, until it is done."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.auth.scopes import Scope
from backend.core import db
from backend.core.db import now
from backend.requests.models import RequestRow
from backend.requests.schemas import RequestStatus
from backend.users.schemas import Role
from tests.approvals.second_person import deny, path_of, waiting
from tests.approvals.test_members import team
from tests.conftest import Actor, World
from tests.support.firm import Firm, refused


async def seen_by(actor: Actor, firm: Firm) -> dict[str, Any]:
    """Return what waits for a person, by title."""
    found = await actor.call("GET", f"{firm.base}/notifications")
    return {one["title"]: one for one in found["notifications"]} | {"": found}


async def failed_request(firm: Firm, title: str, by: UUID | None, days: int = 0, **given: Any) -> UUID:
    """A request that failed some days ago."""
    at = now() - timedelta(days=days)
    row = RequestRow(
        organization_id=firm.id, kind="token.mint", title=title, status=RequestStatus.FAILED, subject_type="asset",
        subject_id=db.new_id(), created_by=by, created_at=at, problem={"detail": "The node is gone."},
        **{"scope": Scope.ASSETS_WRITE, **given},
    )  # fmt: skip
    async with db.worker() as session:
        session.add(row)
        await session.flush()
        await session.execute(sa.text("update requests set updated_at = :at where id = :id"), {"at": at, "id": row.id})
    return row.id


async def test_empty_organization_has_no_notifications(world: World) -> None:
    firm = await Firm.found(world)
    found = await firm.get("/notifications")
    assert (found["notifications"], found["total"], found["unseen"]) == ([], 0, 0)


async def test_notifications_follow_the_role(world: World) -> None:
    firm = await Firm.found(world)
    officer, member = await world.person(firm.id, Role.COMPLIANCE_OFFICER), await world.person(firm.id, Role.MEMBER)
    await firm.post("/invitations", {"email": "invited@example.com", "role": "viewer"})
    party = await firm.party(name="Alder")
    waits, invited = "1 party waits for identity review", "1 invitation is still pending"
    for actor, expected in ((firm.admin, {waits, invited}), (officer, {waits}), (member, set())):
        found = await seen_by(actor, firm)
        assert found.keys() - {""} == expected
        assert found[""]["total"] == len(expected)
    found = await seen_by(firm.admin, firm)
    assert (found[waits]["detail"], found[waits]["subject_id"]) == ("Alder", party["id"])
    assert found[invited]["detail"] == "invited@example.com"
    for name in ("Birch", "Cedar", "Doyle"):
        await firm.party(name=name)
    found = await seen_by(officer, firm)
    several = found["4 parties wait for identity review"]
    assert (several["detail"], several["subject_id"], several["count"]) == ("Doyle, Cedar, Birch and 1 more", None, 4)
    assert found[""]["total"] == 4
    await firm.admin.call("POST", f"/identity/parties/{party['id']}/verify", json={"kyc_level": 1})
    assert "3 parties wait for identity review" in await seen_by(officer, firm)


async def test_approval_waits_for_those_who_can_decide_and_its_comment_for_the_requester(world: World) -> None:
    firm, second, known = await team(world, "token.mint")
    third = await world.person(firm.id)
    member = known[str(second.user_id)]["id"]
    approval = await waiting(firm, await firm.patch(f"/members/{member}", {"role": "viewer"}))
    found = await seen_by(third, firm)
    waits = found[approval["title"]]
    assert (waits["kind"], waits["subject_id"]) == ("approval", approval["id"])
    assert waits["detail"].endswith("requested this. It needs a second person")
    assert approval["title"] not in await seen_by(firm.admin, firm), "the requester cannot decide"

    comment = path_of(firm, approval, "comments")
    await third.call("POST", comment, json={"text": "Why\nnow?"})
    asked = (await seen_by(firm.admin, firm))[approval["title"]]
    assert (asked["kind"], asked["subject_id"]) == ("comment", approval["id"])
    assert asked["detail"].endswith(": Why now?")
    await firm.admin.call("POST", comment, json={"text": "She leaves on Friday."})
    assert approval["title"] not in await seen_by(firm.admin, firm), "the requester has answered"
    await deny(firm, third, approval)
    assert approval["title"] not in await seen_by(third, firm)


async def test_failed_request_waits_for_its_maker_and_for_those_who_can_retry_it(world: World) -> None:
    firm = await Firm.found(world)
    officer, member = await world.person(firm.id, Role.COMPLIANCE_OFFICER), await world.person(firm.id, Role.MEMBER)
    me = firm.admin.user_id
    own = await failed_request(firm, "Mint 5", me)
    await failed_request(firm, "Mint 6", me, days=8)
    await failed_request(firm, "Mint 7", me, days=30, can_retry=True)
    found = await seen_by(firm.admin, firm)
    assert found.keys() - {""} == {"Mint 5 failed", "Mint 7 failed"}
    assert (found["Mint 5 failed"]["subject_id"], found["Mint 5 failed"]["detail"]) == (str(own), "The node is gone.")
    assert [found[f"Mint {n} failed"]["can_retry"] for n in (5, 7)] == [False, True]
    assert (await seen_by(officer, firm)).keys() - {""} == {"Mint 7 failed"}
    assert (await seen_by(member, firm)).keys() - {""} == set()
    for number in range(10, 17):
        await failed_request(firm, f"Mint {number}", me, can_retry=True)
    found = await seen_by(firm.admin, firm)
    assert found["4 more failed requests"]["count"] == 4
    assert found[""]["total"] == 9


async def test_seen_notification_stays_until_it_is_done(world: World) -> None:
    firm, elsewhere = await Firm.found(world), await Firm.found(world)
    await firm.party()
    first = await firm.get("/notifications")
    assert (first["unseen"], first["notifications"][0]["is_seen"]) == (1, False)
    for organization in (elsewhere, firm):
        seen = {"organization_id": str(organization.id), "at": first["as_of"]}
        assert (await firm.get("/notifications"))["unseen"] == 1, "another organization was seen"
        await firm.admin.call("PATCH", "/auth/preferences", json={"seen": seen})
    later = await firm.get("/notifications")
    assert (later["total"], later["unseen"], later["notifications"][0]["is_seen"]) == (1, 0, True)
    await firm.party(name="Birch")
    assert (await firm.get("/notifications"))["unseen"] == 1
    assert (await (await world.person(firm.id)).call("GET", f"{firm.base}/notifications"))["unseen"] == 1


async def test_notifications_of_another_tenant_are_refused(world: World) -> None:
    firm, stranger = await Firm.found(world), await Firm.found(world)
    await firm.party()
    await refused(stranger.admin, "GET", f"{firm.base}/notifications", 403)
    assert (await stranger.get("/notifications"))["total"] == 0
