"""Adding, changing and removing members."""

import asyncio
from collections.abc import Awaitable
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from backend.auth.scopes import Scope
from backend.client import ApiProblem
from backend.core import db
from backend.core.db import new_id
from backend.models import UserRow
from backend.users.schemas import Role
from tests.conftest import World

WALLET = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"


async def status_of(call: Awaitable[Any]) -> int:
    try:
        await call
    except ApiProblem as problem:
        return problem.status
    return 200


def wallet() -> str:
    return f"0x{new_id().hex}{new_id().hex[-8:]}"


async def users() -> int:
    async with db.worker() as session:
        return await session.scalar(sa.select(sa.func.count()).select_from(UserRow)) or 0


async def test_member_role_defaults_to_client(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    other = await world.person(await world.organization("Below", acme))
    made = await admin.call("POST", f"/orgs/{acme}/members", json={"user_id": str(other.user_id)})
    assert (made["role"], made["status"], made["organization_id"]) == ("client", "active", str(acme))
    assert (made["user"]["id"], made["user"]["email"]) == (str(other.user_id), other.email)
    name = (await admin.call("GET", "/auth/me"))["user"]["display_name"]
    assert (made["appointment"]["by"], made["appointment"]["agreed_by"]) == (name, None)
    assert await status_of(admin.call("POST", f"/orgs/{acme}/members", json={"user_id": str(other.user_id)})) == 409


async def test_unknown_wallet_creates_a_placeholder(world: World) -> None:
    acme, beta = await world.organization(), await world.organization()
    admin, second = await world.person(acme), await world.person(beta)
    body = {"wallet_address": WALLET.lower(), "email": "Ann@Example.com", "display_name": "Ann", "role": "viewer"}
    made = await admin.call("POST", f"/orgs/{acme}/members", json=body)
    assert made["status"] == "pending"
    assert made["user"] == {
        "id": made["user_id"],
        "email": "ann@example.com",
        "display_name": "Ann",
        "wallet_addresses": [WALLET],
    }
    again = await second.call("POST", f"/orgs/{beta}/members", json={"wallet_address": WALLET})
    assert again["user"]["display_name"] is None, "another organization cannot read the display name"
    assert again["user"]["email"] is None
    assert again["user_id"] != made["user_id"], "nor that another organization has added the wallet"
    async with db.worker() as session:
        user = await session.get_one(UserRow, UUID(made["user_id"]))
    assert (user.email, user.display_name, user.is_placeholder) == (None, None, True)


async def test_concurrent_additions_create_one_membership(world: World) -> None:
    acme = await world.organization()
    admin, address = await world.person(acme), wallet()
    by_wallet = [
        status_of(admin.call("POST", f"/orgs/{acme}/members", json={"wallet_address": address})) for _ in range(4)
    ]
    assert sorted(await asyncio.gather(*by_wallet)) == [200, 409, 409, 409]
    other = await world.person(await world.organization())
    calls = [
        status_of(admin.call("POST", f"/orgs/{acme}/members", json={"user_id": str(other.user_id)})) for _ in range(4)
    ]
    assert sorted(await asyncio.gather(*calls)) == [200, 409, 409, 409]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"role": "viewer"}, 400),
        ({"user_id": str(new_id()), "wallet_address": WALLET}, 400),
        ({"wallet_address": "WALLET", "chain_eid": 99999}, 400),
        ({"wallet_address": "WALLET", "chain_eid": 40168}, 400),
        ({"wallet_address": "WALLET", "chain_eid": 30101}, 400),
        ({"wallet_address": "WALLET", "chain_eid": 40161.5}, 422),
        ({"wallet_address": WALLET.replace("a", "A")}, 422),
        ({"wallet_address": "0x12"}, 422),
        ({"wallet_address": "WALLET", "role": "owner"}, 422),
        ({"wallet_address": "WALLET", "email": "nope"}, 422),
        ({"wallet_address": "WALLET", "display_name": "<script>alert(1)</script>"}, 422),
    ],
)
async def test_member_with_bad_input_is_rejected_and_writes_nothing(
    world: World, body: dict[str, Any], status: int
) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    address = wallet()
    sent = {k: address if v == "WALLET" else v for k, v in body.items()}
    before = await users()
    assert await status_of(admin.call("POST", f"/orgs/{acme}/members", json=sent)) == status
    assert await users() == before
    assert len((await admin.call("GET", f"/orgs/{acme}/members"))["members"]) == 1


async def test_member_addition_and_admin_grant_require_their_permissions(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    path = f"/orgs/{acme}/members"
    for scope in (Scope.ORGS_WRITE, Scope.MEMBERS_WRITE):
        key = await world.key(acme, scope)
        assert await status_of(world.client.call("POST", path, json={"wallet_address": wallet()}, headers=key)) == 200
        grant = {"wallet_address": wallet(), "role": "admin"}
        assert await status_of(world.client.call("POST", path, json=grant, headers=key)) == 403
    reading = await world.key(acme, Scope.MEMBERS_READ)
    assert await status_of(world.client.call("POST", path, json={"wallet_address": wallet()}, headers=reading)) == 403
    grant = {"wallet_address": wallet(), "role": "admin"}
    assert await status_of(admin.call("POST", path, json=grant)) == 200
    officer = await world.person(acme, Role.COMPLIANCE_OFFICER)
    assert await status_of(officer.call("POST", path, json={"wallet_address": wallet()})) == 403


async def test_last_admin_of_an_organization_stays(world: World) -> None:
    top = await world.organization("Top")
    low = await world.organization("Low", top)
    above, own = await world.person(top), await world.person(low)
    members = (await above.call("GET", f"/orgs/{low}/members"))["members"]
    path = f"/orgs/{low}/members/{members[0]['id']}"
    for actor in (above, own):
        assert await status_of(actor.call("PATCH", path, json={"role": "viewer"})) == 409
        assert await status_of(actor.call("DELETE", path)) == 409
    await world.person(low)
    assert (await own.call("PATCH", path, json={"role": "viewer"}))["role"] == "viewer"
    assert await status_of(own.call("DELETE", path)) == 403
    await above.call("DELETE", path)
    assert await status_of(own.call("GET", f"/orgs/{low}/members")) == 403
    assert await status_of(above.call("DELETE", path)) == 404


async def test_admins_who_remove_each_other_concurrently_leave_one(world: World) -> None:
    for _ in range(5):
        acme = await world.organization()
        one, two = await world.person(acme), await world.person(acme)
        listed = (await one.call("GET", f"/orgs/{acme}/members"))["members"]
        ids = {m["user_id"]: m["id"] for m in listed}
        calls = [
            one.call("DELETE", f"/orgs/{acme}/members/{ids[str(two.user_id)]}"),
            two.call("DELETE", f"/orgs/{acme}/members/{ids[str(one.user_id)]}"),
        ]
        assert sorted(await asyncio.gather(*map(status_of, calls))) in ([200, 403], [200, 409])


async def test_key_without_an_admin_behind_it_cannot_change_admins(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    await world.person(acme)
    key = await world.key(acme, Scope.MEMBERS_WRITE)
    listed = (await admin.call("GET", f"/orgs/{acme}/members"))["members"]
    path = f"/orgs/{acme}/members/{listed[0]['id']}"
    assert await status_of(world.client.call("DELETE", path, headers=key)) == 403
    assert await status_of(world.client.call("PATCH", path, json={"role": "client"}, headers=key)) == 403


async def test_members_are_searched_and_filtered(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme, email="zoe.unique@example.com")
    await world.person(acme, Role.CLIENT, "ida.unique@example.com")
    address = wallet()
    await admin.call("POST", f"/orgs/{acme}/members", json={"wallet_address": address})
    other = await world.organization()
    await world.person(other, Role.CLIENT, "foreign.unique@example.com")

    async def found(**params: Any) -> list[str | None]:
        listed = await admin.call("GET", f"/orgs/{acme}/members", params=params)
        return [m["user"]["email"] for m in listed["members"]]

    assert await found(q="UNIQUE@") == ["ida.unique@example.com", "zoe.unique@example.com"]
    assert await found(q=address[:12].upper()) == [None]
    assert await found(q="100%") == []
    assert await found(role="client", q="unique") == ["ida.unique@example.com"]
    assert await found(status="pending") == [None]
    assert await status_of(admin.call("GET", f"/orgs/{acme}/members", params={"role": "owner"})) == 400


async def test_member_of_another_organization_is_not_found(world: World) -> None:
    acme, other = await world.organization(), await world.organization()
    admin, foreign = await world.person(acme), await world.person(other)
    listed = (await foreign.call("GET", f"/orgs/{other}/members"))["members"]
    path = f"/orgs/{acme}/members/{listed[0]['id']}"
    assert await status_of(admin.call("PATCH", path, json={"role": "viewer"})) == 404
    assert await status_of(admin.call("DELETE", path)) == 404
