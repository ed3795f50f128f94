"""Memberships and invitations end with their maker: a removed admin, a revoked key, a disconnected application."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
import sqlalchemy as sa
from limits import RateLimitItemPerHour

from backend.auth.scopes import ROLE_SCOPES
from backend.client import ApiProblem
from backend.core import db
from backend.core.db import new_id
from backend.limits import rate_limits
from backend.members import appointments
from backend.users.schemas import Role
from tests.approvals.test_applications import end
from tests.conftest import Actor, World
from tests.invitations.test_invitations import accept, token_of
from tests.members.test_consent import asked, linked
from tests.oauth.application import register
from tests.oauth.conftest import http  # noqa: F401  (a fixture)


async def refusal(call: Any) -> ApiProblem:
    """Return the refusal of a call."""
    with pytest.raises(ApiProblem) as refused:
        await call
    return refused.value


async def key_of(admin: Actor, organization: UUID, *more: str) -> dict[str, Any]:
    """A key with every scope of a compliance officer, and members:write."""
    body = {"name": "Staff", "scopes": sorted(ROLE_SCOPES[Role.COMPLIANCE_OFFICER])}
    body["scopes"] = [*map(str, body["scopes"]), "members:write", *more]
    return dict(await admin.call("POST", f"/orgs/{organization}/api-keys", json=body))


async def revoke(admin: Actor, organization: UUID, key: dict[str, Any]) -> None:
    """Revoke a key."""
    await admin.call("DELETE", f"/orgs/{organization}/api-keys/{key['id']}")


async def remove(owner: Actor, organization: UUID, person: Actor) -> None:
    """End a person's membership."""
    found = (await owner.call("GET", f"/orgs/{organization}/members"))["members"]
    [member] = [m for m in found if m["user_id"] == str(person.user_id)]
    await owner.call("DELETE", f"/orgs/{organization}/members/{member['id']}")


async def stranger(world: World) -> tuple[Actor, str]:
    """A person of another tenant, and their wallet."""
    person = await world.person(await world.organization("Elsewhere"))
    return person, await linked(world, person)


async def agree(person: Actor) -> Any:
    """Accept the one pending membership of a person."""
    [waiting] = await asked(person)
    return await person.call("POST", f"/memberships/{waiting['id']}/accept")


@pytest.mark.parametrize("how", ["removed", "demoted"])
async def test_membership_of_an_admin_who_lost_the_role_is_not_accepted(world: World, how: str) -> None:
    acme = await world.organization()
    owner, dishonest = await world.person(acme), await world.person(acme)
    person, address = await stranger(world)
    path = f"/orgs/{acme}/members"
    made = await dishonest.call("POST", path, json={"wallet_address": address, "role": "admin"})
    if how == "removed":
        await remove(owner, acme, dishonest)
    else:
        found = (await owner.call("GET", path))["members"]
        [member] = [m for m in found if m["user_id"] == str(dishonest.user_id)]
        await owner.call("PATCH", f"{path}/{member['id']}", json={"role": "viewer"})
    problem = await refusal(agree(person))
    assert (problem.status, problem.detail) == (409, appointments.NO_LONGER_GRANTED)
    await owner.call("DELETE", f"{path}/{made['id']}")
    await owner.call("POST", path, json={"wallet_address": address, "role": "viewer"})
    assert (await agree(person))["role"] == "viewer"


async def test_membership_of_a_revoked_key_is_not_accepted(world: World) -> None:
    acme = await world.organization()
    owner = await world.person(acme)
    person, address = await stranger(world)
    key = await key_of(owner, acme)
    body = {"wallet_address": address, "role": "compliance_officer"}
    await world.client.call("POST", f"/orgs/{acme}/members", json=body, token=key["key"])
    await revoke(owner, acme, key)
    problem = await refusal(agree(person))
    assert (problem.status, problem.detail) == (409, appointments.NO_LONGER_GRANTED)


async def test_membership_of_a_valid_key_is_accepted(world: World) -> None:
    acme = await world.organization()
    owner = await world.person(acme)
    person, address = await stranger(world)
    key = await key_of(owner, acme)
    body = {"wallet_address": address, "role": "compliance_officer"}
    await world.client.call("POST", f"/orgs/{acme}/members", json=body, token=key["key"])
    assert (await agree(person))["role"] == "compliance_officer"


async def test_membership_with_a_role_raised_by_a_revoked_key_is_not_accepted(world: World) -> None:
    acme = await world.organization()
    owner = await world.person(acme)
    person, address = await stranger(world)
    key = await key_of(owner, acme)
    path = f"/orgs/{acme}/members"
    made = await owner.call("POST", path, json={"wallet_address": address, "role": "client"})
    changed = await world.client.call("PATCH", f"{path}/{made['id']}", json={"role": "viewer"}, token=key["key"])
    assert changed["role"] == "viewer"
    await revoke(owner, acme, key)
    assert (await refusal(agree(person))).status == 409


async def test_membership_pending_for_a_week_is_not_accepted(world: World) -> None:
    acme = await world.organization()
    owner = await world.person(acme)
    person, address = await stranger(world)
    path, body = f"/orgs/{acme}/members", {"wallet_address": address}
    made = await owner.call("POST", path, json=body)
    assert (await refusal(owner.call("POST", path, json=body))).status == 409
    async with db.worker() as session:
        text = sa.text("update members set created_at = created_at - :age where id = :id")
        await session.execute(text, {"age": timedelta(days=7), "id": UUID(made["id"])})
    assert await asked(person) == []
    problem = await refusal(person.call("POST", f"/memberships/{made['id']}/accept"))
    assert (problem.status, problem.detail) == (409, appointments.EXPIRED)
    await owner.call("POST", path, json=body)
    assert (await agree(person))["status"] == "active"


@pytest.mark.long
async def test_invitation_of_a_removed_admin_is_not_accepted(world: World) -> None:
    acme = await world.organization()
    owner, dishonest = await world.person(acme), await world.person(acme)
    email = f"{new_id().hex}@example.com"
    path = f"/orgs/{acme}/invitations"
    made = await dishonest.call("POST", path, json={"email": email, "role": "admin"})
    token = await token_of(world, acme)
    await remove(owner, acme, dishonest)
    problem = await refusal(accept(world, token))
    assert (problem.status, problem.detail) == (409, appointments.NO_LONGER_GRANTED)
    await owner.call("DELETE", f"{path}/{made['id']}")
    await owner.call("POST", path, json={"email": email, "role": "viewer"})
    assert (await accept(world, await token_of(world, acme)))["role"] == "viewer"


@pytest.mark.long
async def test_repeatedly_refused_invitation_hashes_few_passwords(
    world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "PASSWORDS_PER_PERSON", RateLimitItemPerHour(2))
    acme = await world.organization()
    owner, dishonest = await world.person(acme), await world.person(acme)
    body = {"email": f"{new_id().hex}@example.com", "role": "admin"}
    await dishonest.call("POST", f"/orgs/{acme}/invitations", json=body)
    token = await token_of(world, acme)
    await remove(owner, acme, dishonest)
    assert [(await refusal(accept(world, token))).status for _ in range(3)] == [409, 409, 429]


async def test_invitation_of_a_revoked_key_is_not_accepted(world: World) -> None:
    acme = await world.organization()
    owner = await world.person(acme)
    key = await key_of(owner, acme)
    body = {"email": f"{new_id().hex}@example.com", "role": "compliance_officer"}
    await world.client.call("POST", f"/orgs/{acme}/invitations", json=body, token=key["key"])
    token = await token_of(world, acme)
    await revoke(owner, acme, key)
    problem = await refusal(accept(world, token))
    assert (problem.status, problem.detail) == (409, appointments.NO_LONGER_GRANTED)


@pytest.mark.parametrize("how", ["disconnected", "removed", "expired"])
async def test_invitation_of_an_application_ends_with_its_grant(
    world: World,
    http: httpx.AsyncClient,  # noqa: F811
    how: str,
) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    scopes = ["openid", *map(str, sorted(ROLE_SCOPES[Role.VIEWER])), "members:write"]
    application = await register(world, http, acme, scopes=scopes)
    token = (await application.sign_in(admin, " ".join(scopes)))["access_token"]
    body = {"email": f"{new_id().hex}@example.com", "role": "viewer"}
    await world.client.call("POST", f"/orgs/{acme}/invitations", json=body, token=token)
    link = await token_of(world, acme)
    await end(application, admin, how)
    assert (await refusal(accept(world, link))).detail == appointments.NO_LONGER_GRANTED
