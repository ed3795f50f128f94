"""No one grants more scopes than their own: the granting credential limits a role."""

from typing import Any
from uuid import UUID

import httpx
import pytest
import sqlalchemy as sa

from backend.auth.scopes import Scope
from backend.client import ApiProblem
from backend.core import db
from backend.core.db import new_id
from backend.models import UserRow
from backend.users.schemas import Role
from tests.conftest import World
from tests.members.test_members import wallet
from tests.oauth.application import register
from tests.oauth.conftest import http  # noqa: F401  (a fixture)
from tests.support.firm import refused

OFFICER = (Scope.MEMBERS_WRITE, Scope.MEMBERS_READ, Scope.ORGS_READ)


async def by_key(world: World, key: dict[str, str], method: str, path: str, body: Any) -> ApiProblem:
    """Return the refusal of a call with a key."""
    with pytest.raises(ApiProblem) as raised:
        await world.client.call(method, path, json=body, headers=key)
    return raised.value


@pytest.mark.parametrize("role", [Role.ADMIN, Role.COMPLIANCE_OFFICER, Role.MEMBER, Role.VIEWER])
async def test_key_cannot_grant_a_role_wider_than_its_scopes(world: World, role: Role) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    key = await world.key(acme, Scope.MEMBERS_WRITE, created_by=admin.user_id)
    added = await by_key(world, key, "POST", f"/orgs/{acme}/members", {"wallet_address": wallet(), "role": role})
    invited = await by_key(world, key, "POST", f"/orgs/{acme}/invitations", {"email": "x@example.com", "role": role})
    client = await world.client.call("POST", f"/orgs/{acme}/members", json={"wallet_address": wallet()}, headers=key)
    changed = await by_key(world, key, "PATCH", f"/orgs/{acme}/members/{client['id']}", {"role": role})
    for problem in (added, invited, changed):
        assert problem.status == 403
        assert problem.type.endswith("/errors/insufficient-scope")
    if role is not Role.ADMIN:
        assert "transfers:read" in added.detail or "lacks" in added.detail
    names = [m["role"] for m in (await admin.call("GET", f"/orgs/{acme}/members"))["members"]]
    assert sorted(names) == ["admin", "client"]
    assert (await admin.call("GET", f"/orgs/{acme}/invitations"))["invitations"] == []


async def test_key_with_every_scope_of_a_role_grants_it_but_never_admin(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    key = await world.key(acme, created_by=admin.user_id)
    path = f"/orgs/{acme}/members"
    for role in (Role.COMPLIANCE_OFFICER, Role.MEMBER, Role.VIEWER):
        body = {"wallet_address": wallet(), "role": role}
        made = await world.client.call("POST", path, json=body, headers=key)
        assert made["role"] == role
    problem = await by_key(world, key, "POST", path, {"wallet_address": wallet(), "role": "admin"})
    assert (problem.status, "signed-in" in problem.detail) == (403, True)
    second = await world.person(acme)
    membership = next(m for m in (await admin.call("GET", path))["members"] if m["user_id"] == str(second.user_id))
    assert (await by_key(world, key, "PATCH", f"{path}/{membership['id']}", {"role": "viewer"})).status == 403
    assert (await by_key(world, key, "DELETE", f"{path}/{membership['id']}", None)).status == 403


async def test_application_cannot_grant_admin(world: World, http: httpx.AsyncClient) -> None:  # noqa: F811
    acme = await world.organization()
    admin = await world.person(acme)
    scopes = ["openid", *map(str, Scope)]
    application = await register(world, http, acme, scopes=scopes)
    token = (await application.sign_in(admin, " ".join(scopes)))["access_token"]
    for path, who in ((f"/orgs/{acme}/members", {"wallet_address": wallet()}),
                      (f"/orgs/{acme}/invitations", {"email": "puppet@example.com"})):  # fmt: skip
        with pytest.raises(ApiProblem) as raised:
            await world.client.call("POST", path, json=who | {"role": "admin"}, token=token)
        assert (raised.value.status, "signed-in" in raised.value.detail) == (403, True)
    made = await world.client.call(
        "POST", f"/orgs/{acme}/members", json={"wallet_address": wallet(), "role": "viewer"}, token=token
    )
    assert made["role"] == "viewer"


async def test_application_cannot_grant_a_role_wider_than_its_grant(world: World, http: httpx.AsyncClient) -> None:  # noqa: F811
    acme = await world.organization()
    admin = await world.person(acme)
    application = await register(world, http, acme, scopes=["openid", "members:write"])
    token = (await application.sign_in(admin, "openid members:write"))["access_token"]
    body = {"wallet_address": wallet(), "role": "compliance_officer"}
    with pytest.raises(ApiProblem) as raised:
        await world.client.call("POST", f"/orgs/{acme}/members", json=body, token=token)
    assert (raised.value.status, raised.value.type.endswith("/insufficient-scope")) == (403, True)


async def test_person_with_a_narrow_key_is_limited_to_the_key(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    key = await world.key(acme, Scope.MEMBERS_WRITE, created_by=admin.user_id)
    body = {"wallet_address": wallet(), "role": "admin"}
    await refused(admin, "POST", f"/orgs/{acme}/members", 403, json=body, headers=key)
    assert (await admin.call("POST", f"/orgs/{acme}/members", json=body))["role"] == "admin"


async def test_member_added_by_an_unknown_id_gets_the_same_response(world: World) -> None:
    acme, other = await world.organization(), await world.organization()
    admin, stranger = await world.person(acme), await world.person(other)
    path = f"/orgs/{acme}/members"
    answers = []
    for user_id in (stranger.user_id, new_id()):
        body = {"user_id": str(user_id), "role": "viewer", "display_name": "Guest"}
        made = await admin.call("POST", path, json=body)
        assert (made["user_id"], made["user"]["id"]) == (str(user_id), str(user_id))
        assert (await refused(admin, "POST", path, 409, json=body)).detail
        changed = await admin.call("PATCH", f"{path}/{made['id']}", json={"role": "client"})
        assert changed["user_id"] == str(user_id)
        plain = ("role", "status", "organization_id")
        answers.append([made[n] for n in plain] + [{k: v for k, v in made["user"].items() if k != "id"}])
    assert answers[0] == answers[1]
    log = (await admin.call("GET", f"/orgs/{acme}/audit", params={"action": "member"}))["audit"]
    assert {e["after"].get("user_id") for e in log if e["action"] == "member.added"} == {
        str(a) for a in {UUID(e["after"]["user_id"]) for e in log if e["action"] == "member.added"}
    }
    [waiting] = (await stranger.call("GET", "/memberships/pending"))["memberships"]
    assert (await stranger.call("POST", f"/memberships/{waiting['id']}/accept"))["status"] == "active"
    member = next(m for m in (await admin.call("GET", path))["members"] if m["status"] == "active"
                  and m["user_id"] == str(stranger.user_id))  # fmt: skip
    assert member["user"]["email"] == stranger.email
    for row in (await admin.call("GET", path, params={"status": "pending"}))["members"]:
        await admin.call("DELETE", f"{path}/{row['id']}")
    async with db.worker() as session:
        text = sa.text(
            "select count(*) from users u where u.is_placeholder and not exists "
            "(select from members m where m.user_id = u.id) and u.created_at > now() - interval '20 seconds'"
        )
        assert await session.scalar(text) == 0, "placeholders end with their membership"
        assert await session.get(UserRow, stranger.user_id) is not None
