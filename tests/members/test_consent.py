"""Membership needs consent, and adding people does not reveal who they are."""

from typing import Any
from uuid import UUID

import httpx
import pytest
import sqlalchemy as sa
from eth_account import Account

from backend.auth.scopes import Scope
from backend.client import ApiProblem
from backend.core import db
from backend.core.settings import settings
from backend.models import UserRow, UserWalletRow
from backend.server import runtime
from backend.users.schemas import Role
from tests.auth.test_wallet_sign_in import begin, signed, text_of
from tests.conftest import PASSWORD, Actor, World
from tests.members.test_members import status_of, wallet


async def linked(world: World, actor: Actor) -> str:
    """A wallet whose ownership a person has proven."""
    account = Account.create()
    body = signed(account, text_of(await begin(world), account.address)) | {"link": True, "password": PASSWORD}
    await world.client.call("POST", "/auth/siwe/verify", json=body, cookie=actor.cookie)
    return str(account.address)


async def asked(actor: Actor) -> list[dict[str, Any]]:
    """Return a person's pending memberships."""
    found: list[dict[str, Any]] = (await actor.call("GET", "/memberships/pending"))["memberships"]
    return found


def unlike(record: dict[str, Any]) -> Any:
    """Return a member record without the fields that always differ."""
    volatile = ("acceptance", "id", "user_id", "created_at", "updated_at", "user")
    user = {k: v for k, v in record["user"].items() if k not in ("id", "wallet_addresses")}
    path = f"/memberships/{record['id']}/accept"
    assert (record["acceptance"]["path"], record["acceptance"]["href"]) == (path, f"{settings().base_url}{path}")
    return {k: v for k, v in record.items() if k not in volatile} | {
        "user": user,
        "appointment": record["appointment"] | {"at": None},
        "wallets": len(record["user"]["wallet_addresses"]),
    }


@pytest.mark.long
async def test_person_of_another_organization_joins_only_after_consent(world: World) -> None:
    acme, other = await world.organization("Acme"), await world.organization("Other")
    admin, person = await world.person(acme), await world.person(other, email="paula.private@example.com")
    first, second = await linked(world, person), await linked(world, person)
    path = f"/orgs/{acme}/members"
    response = await admin.call("POST", path, json={"wallet_address": first, "role": "viewer", "display_name": "P."})
    assert (response["status"], response["role"]) == ("pending", "viewer")
    assert response["user_id"] != str(person.user_id)
    assert response["user"] == {
        "id": response["user_id"],
        "email": None,
        "display_name": "P.",
        "wallet_addresses": [first],
    }
    assert second not in str(await admin.call("GET", path))
    with pytest.raises(ApiProblem) as refused:
        await person.call("GET", f"/orgs/{acme}")
    assert refused.value.status == 403, "a pending member has no rights"
    [waiting] = await asked(person)
    assert (waiting["organization_name"], waiting["role"]) == ("Acme", "viewer")
    begun = await person.call("POST", f"/memberships/{waiting['id']}/accept")
    assert (begun["organization_id"], begun["role"], begun["status"]) == (str(acme), "viewer", "active")
    assert (await person.call("GET", f"/orgs/{acme}"))["id"] == str(acme)
    assert await asked(person) == []
    [now] = [m for m in (await admin.call("GET", path))["members"] if m["id"] == response["id"]]
    assert (now["status"], now["user_id"], now["user"]["email"]) == ("active", str(person.user_id), person.email)
    assert now["user"]["wallet_addresses"] == [first, second]
    async with db.worker() as session:
        assert await session.get(UserRow, UUID(response["user_id"])) is None, "the placeholder has done its work"


@pytest.mark.long
async def test_unknown_wallet_and_foreign_wallet_get_the_same_response(world: World) -> None:
    acme, other = await world.organization(), await world.organization()
    admin, person = await world.person(acme), await world.person(other)
    first, second = await linked(world, person), await linked(world, person)
    elsewhere, unknown = wallet(), wallet()
    third = await world.organization()
    await (await world.person(third)).call("POST", f"/orgs/{third}/members", json={"wallet_address": elsewhere})
    path = f"/orgs/{acme}/members"
    answers = []
    for address in (unknown, first, second, elsewhere):
        before = db.new_id()
        made = await admin.call("POST", path, json={"wallet_address": address, "email": "Ann@Example.com"})
        assert UUID(made["user_id"]).bytes[:6] >= before.bytes[:6], "an older id would reveal an existing account"
        assert await status_of(admin.call("POST", path, json={"wallet_address": address})) == 409
        answers.append(made)
    assert [unlike(a) for a in answers] == [unlike(answers[0])] * 4
    assert len({a["user_id"] for a in answers}) == 4, "responses do not reveal that two wallets have one owner"
    log = await admin.call("GET", f"/orgs/{acme}/audit", params={"action": "member"})
    facts = [
        {k: v for k, v in e["after"].items() if k not in ("id", "user_id", "user", "created_at")} for e in log["audit"]
    ]
    assert len(facts) == 4
    assert facts == [facts[0]] * 4
    assert str(person.user_id) not in str(log)
    assert person.email not in str(log)


async def exported(api: Any, org: UUID, actor: Actor) -> str:
    """Return the members as CSV."""
    http = httpx.AsyncClient(transport=runtime.local_transport(api), base_url="http://localhost:8000")
    answer = await http.get(f"/v1/orgs/{org}/members.csv", headers={"cookie": actor.cookie})
    assert answer.status_code == 200
    return answer.text


async def test_member_added_by_id_shows_only_the_given_details(world: World, api: Any) -> None:
    acme, other = await world.organization(), await world.organization()
    admin, person = await world.person(acme), await world.person(other, email="ulla.unseen@example.com")
    address = await linked(world, person)
    path = f"/orgs/{acme}/members"
    made = await admin.call("POST", path, json={"user_id": str(person.user_id)})
    user = {"id": str(person.user_id), "email": None, "display_name": None, "wallet_addresses": []}
    assert (made["status"], made["user"]) == ("pending", user)
    unknown = await admin.call("POST", path, json={"user_id": str(db.new_id())})
    assert unlike(unknown) == unlike(made), "the answer is the same for an ID that exists"
    assert unknown["user"]["id"] == unknown["user_id"]
    await admin.call("DELETE", f"{path}/{unknown['id']}")
    for words in ("ulla", "unseen@example", address):
        assert (await admin.call("GET", path, params={"q": words}))["members"] == []
        assert (await admin.call("GET", f"/orgs/{acme}/search", params={"q": words}))["results"] == []
    [listed] = (await admin.call("GET", path, params={"status": "pending"}))["members"]
    assert listed["user"] == user
    whole = str(await admin.call("GET", f"/orgs/{acme}/audit")) + await exported(api, acme, admin)
    assert "ulla" not in whole.lower()
    assert address not in whole
    checked = await admin.call("POST", f"{path}/invite-eligibility", json={"emails": [person.email]})
    assert [w["code"] for w in checked["warnings"]] == ["no_account"]
    invited = await admin.call("POST", f"/orgs/{acme}/invitations", json={"email": person.email})
    assert invited["status"] == "pending"
    changed = await admin.call("PATCH", f"{path}/{made['id']}", json={"role": "member"})
    assert changed["user"] == user
    await admin.call("DELETE", f"{path}/{made['id']}")
    assert "ulla" not in str(await admin.call("GET", f"/orgs/{acme}/audit", params={"action": "member"})).lower()
    assert await asked(person) == []


async def test_declined_membership_reveals_nothing_about_the_person(world: World) -> None:
    acme, other = await world.organization(), await world.organization()
    admin, person = await world.person(acme), await world.person(other)
    address = await linked(world, person)
    made = await admin.call("POST", f"/orgs/{acme}/members", json={"wallet_address": address})
    [waiting] = await asked(person)
    stranger = await world.person(other)
    for verb in ("accept", "decline"):
        assert await status_of(stranger.call("POST", f"/memberships/{waiting['id']}/{verb}")) == 404
    await person.call("POST", f"/memberships/{waiting['id']}/decline")
    assert await status_of(person.call("POST", f"/memberships/{waiting['id']}/accept")) == 404
    assert len((await admin.call("GET", f"/orgs/{acme}/members"))["members"]) == 1
    [entry] = (await admin.call("GET", f"/orgs/{acme}/audit", params={"action": "member.removed"}))["audit"]
    assert (entry["actor"], entry["actor_name"], entry["address"]) == (None, None, None)
    assert entry["before"]["user_id"] == made["user_id"]
    assert entry["before"]["status"] == "pending"


async def test_person_of_the_same_tree_becomes_a_member_immediately(world: World) -> None:
    top = await world.organization("Top")
    left, right = await world.organization("Left", top), await world.organization("Right", top)
    above, in_left = await world.person(top), await world.person(left)
    in_right = await world.person(right, Role.MEMBER, "rita@example.com")
    address = await linked(world, in_right)
    made = await above.call("POST", f"/orgs/{left}/members", json={"wallet_address": address})
    assert (made["status"], made["user"]["email"]) == ("active", "rita@example.com")
    assert (made["user_id"], made["user"]["wallet_addresses"]) == (str(in_right.user_id), [address])
    again = await above.call("POST", f"/orgs/{top}/members", json={"user_id": str(in_right.user_id)})
    assert again["status"] == "active"
    of_above = await in_left.call("POST", f"/orgs/{left}/members", json={"user_id": str(above.user_id)})
    assert of_above["status"] == "active", "every member sees who has access from above"
    sibling = await world.person(right)
    by_sibling = await in_left.call("POST", f"/orgs/{left}/members", json={"user_id": str(sibling.user_id)})
    assert (by_sibling["status"], by_sibling["user"]["email"]) == ("pending", None), (
        "an admin of a sibling sees no data of the person"
    )
    key = await world.key(top, Scope.MEMBERS_WRITE, created_by=above.user_id)
    body = {"user_id": str(sibling.user_id)}
    by_key = await world.client.call("POST", f"/orgs/{top}/members", json=body, headers=key)
    assert by_key["status"] == "pending", "a key applies to its own organization only"


async def test_member_of_two_organizations_cannot_add_people_across_them_without_consent(world: World) -> None:
    one, two = await world.organization(), await world.organization()
    both, person = await world.person(one), await world.person(two)
    host = await world.person(two)
    await host.call("POST", f"/orgs/{two}/members", json={"user_id": str(both.user_id), "role": "viewer"})
    [waiting] = await asked(both)
    await both.call("POST", f"/memberships/{waiting['id']}/accept")
    made = await both.call("POST", f"/orgs/{one}/members", json={"user_id": str(person.user_id)})
    assert (made["status"], made["user"]["email"]) == ("pending", None)


async def test_wallet_person_signs_in_and_then_consents(world: World) -> None:
    acme, beta = await world.organization("Acme"), await world.organization("Beta")
    account = Account.create()
    for org in (acme, beta):
        admin = await world.person(org)
        await admin.call("POST", f"/orgs/{org}/members", json={"wallet_address": account.address, "role": "viewer"})
    body = signed(account, text_of(await begin(world), account.address))
    tokens = await world.client.call("POST", "/auth/siwe/verify", json=body)
    assert tokens["organizations"] == [], "signing in does not accept memberships that added the wallet"
    token = tokens["access_token"]
    waiting = (await world.client.call("GET", "/memberships/pending", token=token))["memberships"]
    assert [w["organization_name"] for w in waiting] == ["Beta", "Acme"]
    await world.client.call("POST", f"/memberships/{waiting[1]['id']}/accept", token=token)
    assert (await world.client.call("GET", f"/orgs/{acme}", token=token))["id"] == str(acme)
    assert await status_of(world.client.call("GET", f"/orgs/{beta}", token=token)) == 403


async def test_membership_offered_to_a_wallet_does_not_block_its_owner(world: World) -> None:
    """Another tenant that has added a wallet does not prevent its owner from linking it or signing in."""
    acme, other = await world.organization(), await world.organization()
    admin, person, account = await world.person(acme), await world.person(other), Account.create()
    await admin.call("POST", f"/orgs/{acme}/members", json={"wallet_address": account.address})
    body = signed(account, text_of(await begin(world), account.address)) | {"link": True, "password": PASSWORD}
    await world.client.call("POST", "/auth/siwe/verify", json=body, cookie=person.cookie)
    assert [w["organization_id"] for w in await asked(person)] == [str(acme)]


async def test_accepted_invitation_counts_as_consent(world: World) -> None:
    acme, other = await world.organization(), await world.organization()
    admin, person = await world.person(acme), await world.person(other)
    address = await linked(world, person)
    for body in ({"user_id": str(person.user_id)}, {"wallet_address": address}):
        await admin.call("POST", f"/orgs/{acme}/members", json=body)
    assert len(await asked(person)) == 2
    await admin.call("POST", f"/orgs/{acme}/invitations", json={"email": person.email, "role": "viewer"})
    secret = (await world.letter(acme)).partition("token=")[2].split()[0]
    await person.call("POST", "/invitations/accept", json={"token": secret})
    members = (await admin.call("GET", f"/orgs/{acme}/members", params={"status": "active"}))["members"]
    assert [m["role"] for m in members if m["user_id"] == str(person.user_id)] == ["viewer"]
    for waiting in await asked(person):
        assert await status_of(person.call("POST", f"/memberships/{waiting['id']}/accept")) == 409
        await person.call("POST", f"/memberships/{waiting['id']}/decline")
    assert await asked(person) == []


async def test_membership_is_accepted_by_its_person_only(world: World) -> None:
    acme, other = await world.organization(), await world.organization()
    admin, person = await world.person(acme), await world.person(other)
    await admin.call("POST", f"/orgs/{acme}/members", json={"user_id": str(person.user_id)})
    [waiting] = await asked(person)
    key = await world.key(other, created_by=person.user_id)
    for method, path in (
        ("GET", "/memberships/pending"),
        ("POST", f"/memberships/{waiting['id']}/accept"),
        ("POST", f"/memberships/{waiting['id']}/decline"),
    ):
        assert await status_of(world.client.call(method, path, headers=key)) == 403
    assert await status_of(person.call("POST", f"/memberships/{db.new_id()}/accept")) == 404
    async with db.worker() as session:
        query = sa.select(UserWalletRow.address).where(UserWalletRow.user_id == person.user_id)
        assert (await session.scalars(query)).all() == []
