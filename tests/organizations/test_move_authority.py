"""A move gives the admins of the new parent authority: only a person decides it, by their own roles."""

from typing import Any
from uuid import UUID

import httpx
import pytest

from backend.auth.credentials import by_key
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.core import db
from backend.users.schemas import Role
from tests.conftest import PASSWORD, World
from tests.factors.steps import problem_of
from tests.oauth.application import register
from tests.oauth.conftest import http  # noqa: F401  (a fixture)
from tests.organizations.test_move import parent_of, status_of
from tests.organizations.test_move_protections import join

DRY_RUNS: tuple[dict[str, str], ...] = ({"dry_run": "true"}, {})


async def check_refused(world: World, path: str, target: UUID, **credential: Any) -> None:
    """Check that a credential neither moves nor previews the move, and reads who can."""
    for params in DRY_RUNS:
        problem = await problem_of(
            world.client.call("POST", path, json={"newParentId": str(target)}, params=params, **credential)
        )
        assert problem.status == 403
        assert "Sign in as an admin of both parents" in problem.detail


async def test_move_by_a_key_with_one_scope_gives_no_one_authority(world: World) -> None:
    group = await world.organization("Group")
    taken, own = await world.organization("Taken", group), await world.organization("Own", group)
    admin, accomplice = await world.person(group), await world.person(own)
    key = await world.key(group, Scope.ORGS_WRITE, created_by=admin.user_id)
    await check_refused(world, f"/orgs/{group}/sub-orgs/{taken}/move", own, headers=key)
    assert await parent_of(taken) == group
    assert await status_of(accomplice.call("GET", f"/orgs/{taken}")) == 403


async def test_move_to_another_tenant_by_a_key_is_refused(world: World) -> None:
    """The key's creator is an admin there too."""
    left, right = await world.organization("Left"), await world.organization("Right")
    moved = await world.organization("Moved", left)
    admin = await world.person(left)
    await join(right, admin.user_id)
    key = await world.key(left, created_by=admin.user_id)
    await check_refused(world, f"/orgs/{left}/sub-orgs/{moved}/move", right, headers=key)
    assert await parent_of(moved) == left


async def test_move_by_an_application_is_refused(world: World, http: httpx.AsyncClient) -> None:  # noqa: F811
    group = await world.organization("Group")
    taken, own = await world.organization("Taken", group), await world.organization("Own", group)
    admin = await world.person(group)
    application = await register(world, http, group, scopes=["openid", "orgs:write"])
    token = (await application.sign_in(admin, "openid orgs:write"))["access_token"]
    await check_refused(world, f"/orgs/{group}/sub-orgs/{taken}/move", own, token=token)
    assert await parent_of(taken) == group


async def test_move_by_a_person_with_an_access_token_succeeds(world: World) -> None:
    group = await world.organization("Group")
    left, right = await world.organization("Left", group), await world.organization("Right", group)
    admin = await world.person(group)
    tokens = await world.client.call("POST", "/auth/login", json={"email": admin.email, "password": PASSWORD})
    path, body = f"/orgs/{group}/sub-orgs/{left}/move", {"newParentId": str(right)}
    moved = await world.client.call("POST", path, json=body, token=tokens["access_token"])
    assert moved["parent_id"] == str(right)


@pytest.mark.parametrize("scopes", [(), (Scope.ORGS_WRITE,)], ids=["every scope", "one scope"])
async def test_key_beside_a_session_bounds_the_roles_of_a_move(world: World, scopes: tuple[Scope, ...]) -> None:
    group, other = await world.organization("Group"), await world.organization("Other")
    left, right = await world.organization("Left", group), await world.organization("Right", group)
    admin = await world.person(group)
    await join(other, admin.user_id)
    key = await world.key(group, *scopes, created_by=admin.user_id)
    path = f"/orgs/{group}/sub-orgs/{left}/move"
    for target, status in ((other, 403), (right, 403 if scopes else 200)):
        moving = admin.call("POST", path, json={"newParentId": str(target)}, headers=key)
        assert await status_of(moving) == status


async def test_roles_of_a_key_end_at_its_organization_and_scopes(world: World) -> None:
    group, other = await world.organization("Group"), await world.organization("Other")
    unit = await world.organization("Unit", group)
    admin = await world.person(group)
    await join(other, admin.user_id)
    for scopes, roles in (((), [Role.ADMIN]), ((Scope.ORGS_WRITE,), [])):
        key = await world.key(group, *scopes, created_by=admin.user_id)
        async with db.transaction() as session:
            context = Context(session=session, person=None, key=await by_key(session, key["x-api-key"], "127.0.0.1"))
            assert await context.roles_in(group) == await context.roles_in(unit) == roles
            assert await context.roles_in(other) == []
