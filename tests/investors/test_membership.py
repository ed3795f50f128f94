"""What an investor agreed to, everything that is stored about them, and how they leave."""

import json
from typing import Any

import httpx
import sqlalchemy as sa

from backend.core import db
from backend.core.settings import settings
from backend.investor_records import data
from backend.server import runtime
from backend.users.schemas import Role
from tests.conftest import World
from tests.investors.scene import UNIT, Investor, Scene
from tests.invitations.test_invitations import token_of
from tests.support.firm import Firm, refused


async def own_data(investor: Investor, api: Any) -> dict[str, Any]:
    """Download the investor's data."""
    answer = await investor.answer(api, f"/investor/{investor.membership}/data")
    assert answer.headers["content-type"].startswith("application/json")
    name = f'filename="my-data-acme-{db.now():%Y-%m-%d}.json"'
    assert answer.headers["content-disposition"] == f"attachment; {name}"
    found: dict[str, Any] = json.loads(answer.content)
    return found


async def invited(world: World, firm: Firm) -> Investor:
    """Return an investor who accepted an invitation."""
    person = await world.person(await world.organization("Elsewhere"))
    await firm.post("/invitations", {"email": person.email, "role": "client"})
    token = await token_of(world, firm.id)
    made = await person.call("POST", "/invitations/accept", json={"token": token})
    return Investor(person, made["member_id"])


async def test_data_has_everything_about_the_investor_and_nothing_about_another(scene: Scene, api: Any) -> None:
    ada = scene.ada
    found = await own_data(ada, api)
    assert found["account"]["email"] == ada.actor.email
    assert found["membership"]["id"] == str(ada.membership)
    assert [party["id"] for party in found["parties"]] == [ada.party["id"]]
    assert found["wallets"] == [{"address": ada.wallet["address"], "linked_at": None}]
    [attestation] = found["attestations"]
    assert (attestation["wallet_address"], attestation["kyc_level"]) == (ada.wallet["address"], 2)
    [document] = found["documents"]
    assert (document["id"], len(document["sha256"])) == (ada.document["id"], 64)
    assert {(t["is_received"], t["amount"]) for t in found["transfers"]} >= {(True, str(120 * UNIT))}
    assert [order["id"] for order in found["orders"]] == [ada.order["id"]]
    assert [trade["amount"] for trade in found["trades"]] == [str(4 * UNIT)]
    assert [claim["amount"] for claim in found["claims"]] == [str(5 * UNIT)]
    assert [action["action"] for action in found["actions"]] == ["party.document_added"]
    text = json.dumps(found)
    for mark in scene.ben.marks | {scene.firm.admin.email, str(scene.firm.admin.user_id)}:
        assert mark not in text, mark


async def test_data_in_several_parts_is_complete(scene: Scene, api: Any, monkeypatch: Any) -> None:
    whole = await own_data(scene.ada, api)
    monkeypatch.setattr(data, "PART", 1)
    parts = await own_data(scene.ada, api)
    assert {**parts, "made_at": ""} == {**whole, "made_at": ""}
    assert len(whole["transfers"]) > 1


async def test_data_of_an_investor_without_any_record_has_empty_lists(world: World, api: Any) -> None:
    investor = await Investor.of(world, await world.organization())
    found = await own_data(investor, api)
    assert [name for name, value in found.items() if value == []] == [
        "parties", "wallets", "attestations", "documents", "transfers", "orders", "trades", "claims", "actions",
    ]  # fmt: skip


async def test_membership_has_the_time_when_its_person_agreed(world: World) -> None:
    group = await world.organization("Group")
    firm = await Firm.found(world, "Acme", group)
    investor = await invited(world, firm)
    [place] = (await investor.actor.call("GET", "/investor/memberships"))["memberships"]
    assert place["agreed_at"] >= place["created_at"]
    person = await investor.get()
    assert (person["agreed_at"], person["organizations_above"]) == (place["agreed_at"], ["Group"])


async def test_membership_that_an_admin_made_alone_has_no_agreement(world: World) -> None:
    firm = await Firm.found(world)
    investor = await Investor.of(world, firm.id)
    person = await investor.get()
    assert person["agreed_at"] is None
    assert person["member_since"].startswith(f"{db.now():%Y-%m}")
    assert person["organizations_above"] == []


async def test_investor_who_leaves_loses_access_in_every_session_and_can_be_invited_again(
    world: World, api: Any
) -> None:
    firm = await Firm.found(world)
    investor = await invited(world, firm)
    party = await firm.party(email=investor.actor.email)
    other = await world.sign_in(investor.actor.email)
    path = f"/investor/{investor.membership}"
    assert (await world.client.call("GET", path, cookie=other))["organization_name"] == "Acme"
    await investor.actor.call("POST", f"{path}/leave")
    await refused(investor.actor, "GET", path, 404)
    await refused(investor.actor, "POST", f"{path}/leave", 404)
    async with httpx.AsyncClient(transport=runtime.local_transport(api), base_url=f"{settings().origin}/v1") as http:
        assert (await http.get(f"{path}/documents", headers={"cookie": other})).status_code == 404
    assert (await investor.actor.call("GET", "/investor/memberships"))["memberships"] == []
    assert (await firm.admin.call("GET", f"/identity/parties/{party['id']}"))["id"] == party["id"], "records stay"
    [entry] = (await firm.get("/audit", params={"action": "member.removed"}))["audit"]
    assert (entry["actor"], entry["credential"]) == (str(investor.actor.user_id), "session")
    assert entry["before"]["user"]["email"] == investor.actor.email
    assert (await firm.get("/audit/verify"))["whole"] is True
    await firm.post("/invitations", {"email": investor.actor.email, "role": "client"})
    token = await token_of(world, firm.id)
    again = await investor.actor.call("POST", "/invitations/accept", json={"token": token})
    found = await investor.actor.call("GET", f"/investor/{again['member_id']}")
    assert [one["id"] for one in found["parties"]] == [party["id"]]


async def test_membership_elsewhere_stays_when_an_investor_leaves(world: World) -> None:
    first, second = await Firm.found(world, "Alder"), await Firm.found(world, "Birch")
    investor = await invited(world, first)
    await second.post("/invitations", {"email": investor.actor.email, "role": "client"})
    await investor.actor.call("POST", "/invitations/accept", json={"token": await token_of(world, second.id)})
    await investor.actor.call("POST", f"/investor/{investor.membership}/leave")
    listed = (await investor.actor.call("GET", "/investor/memberships"))["memberships"]
    assert [one["organization_name"] for one in listed] == ["Birch"]


async def test_leaving_needs_a_fresh_proof_and_no_second_person(world: World) -> None:
    firm = await Firm.found(world)
    investor = await Investor.of(world, firm.id)
    async with db.worker() as session:
        stale = "update sessions set signed_in_at = now() - interval '6 minutes', proven_at = null where user_id = :id"
        await session.execute(sa.text(stale), {"id": investor.actor.user_id})
        rule = sa.text("update organizations set approvals = '{member.remove}' where id = :id")
        await session.execute(rule, {"id": firm.id})
    path = f"/investor/{investor.membership}"
    assert (await refused(investor.actor, "POST", f"{path}/leave", 403)).type.endswith("fresh-proof-needed")
    assert (await investor.get())["organization_name"] == "Acme"
    async with db.worker() as session:
        await session.execute(
            sa.text("update sessions set proven_at = now() where user_id = :id"), {"id": investor.actor.user_id}
        )
    await investor.actor.call("POST", f"{path}/leave")
    await refused(investor.actor, "GET", path, 404)


async def test_member_who_is_no_client_cannot_leave_as_an_investor(world: World) -> None:
    firm = await Firm.found(world)
    viewer = await world.person(firm.id, Role.VIEWER)
    async with db.worker() as session:
        query = sa.text("select id from members where user_id = :person")
        membership = await session.scalar(query, {"person": viewer.user_id})
    await refused(viewer, "POST", f"/investor/{membership}/leave", 404)
