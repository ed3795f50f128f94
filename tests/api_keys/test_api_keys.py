"""Creating, using and revoking API keys."""

from collections.abc import Awaitable
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.auth.scopes import Scope
from backend.auth.secrets import is_api_key
from backend.client import ApiProblem
from backend.core import db
from backend.core.db import new_id, now
from backend.models import ApiKeyRow, MemberRow, OrganizationRow
from backend.server import runtime
from backend.users.schemas import MemberStatus, Role
from tests.conftest import World

READ = {"name": "dashboard", "scopes": ["orgs:read"]}


async def refused(call: Awaitable[Any]) -> ApiProblem:
    with pytest.raises(ApiProblem) as problem:
        await call
    return problem.value


async def test_api_key_is_shown_once_and_stops_working_when_revoked(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    made = await admin.call("POST", f"/orgs/{acme}/api-keys", json=READ)
    key = made.pop("key")
    assert is_api_key(key)
    assert (key.startswith(made["prefix"]), key.endswith(made["last_four"])) == (True, True)
    listed = (await admin.call("GET", f"/orgs/{acme}/api-keys"))["api_keys"]
    assert listed == [made]
    assert key not in str(listed)
    await world.client.call("GET", f"/orgs/{acme}", token=key)
    used = (await admin.call("GET", f"/orgs/{acme}/api-keys"))["api_keys"][0]
    assert used["last_used_at"] is not None
    for _ in range(2):
        assert await admin.call("DELETE", f"/orgs/{acme}/api-keys/{made['id']}") is None
    assert (await refused(world.client.call("GET", f"/orgs/{acme}", token=key))).status == 401
    assert (await admin.call("GET", f"/orgs/{acme}/api-keys"))["api_keys"][0]["revoked_at"] is not None
    async with db.worker() as session:
        stored = await session.get_one(ApiKeyRow, UUID(made["id"]))
    assert key not in str(stored.model_dump())


async def test_new_api_key_response_is_not_cacheable_and_its_replay_omits_the_key(world: World, api: Any) -> None:
    acme = await world.organization()
    headers = await world.key(acme) | {"idempotency-key": "once"}
    async with httpx.AsyncClient(transport=runtime.local_transport(api), base_url="http://localhost") as http:
        first, second = [await http.post(f"/v1/orgs/{acme}/api-keys", json=READ, headers=headers) for _ in range(2)]
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.headers["cache-control"] == "no-store"
    assert (first.json() | {"key": None}) == second.json()


async def test_api_key_wider_than_its_creator_is_rejected(world: World) -> None:
    acme = await world.organization()
    narrow = await world.key(acme, Scope.API_KEYS_WRITE, Scope.ORGS_READ)
    path = f"/orgs/{acme}/api-keys"
    made = await world.client.call("POST", path, json=READ, headers=narrow)
    assert made["scopes"] == ["orgs:read"]
    wider = {"name": "wider", "scopes": ["orgs:read", "orgs:write"]}
    problem = await refused(world.client.call("POST", path, json=wider, headers=narrow))
    assert (problem.status, problem.type.endswith("/errors/insufficient-scope")) == (403, True)
    other = READ | {"network": "mainnet"}
    assert (await refused(world.client.call("POST", path, json=other, headers=narrow))).status == 403
    officer = await world.person(acme, Role.COMPLIANCE_OFFICER)
    assert (await refused(officer.call("POST", path, json=READ))).status == 403
    assert len((await officer.call("GET", path))["api_keys"]) == 2


async def test_api_key_without_own_network_follows_its_organization(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    path = f"/orgs/{acme}/api-keys"
    body = {"name": "k", "scopes": ["api-keys:write"]}
    inherits = (await admin.call("POST", path, json=body))["key"]
    fixed = (await admin.call("POST", path, json=body | {"network": "testnet"}))["key"]
    async with db.worker() as session:
        await session.execute(sa.update(OrganizationRow).where(OrganizationRow.id == acme).values(network="mainnet"))
    wanted = body | {"network": "mainnet"}
    assert (await world.client.call("POST", path, json=wanted, token=inherits))["network"] == "mainnet"
    assert (await refused(world.client.call("POST", path, json=wanted, token=fixed))).status == 403


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (READ | {"scopes": []}, 422),
        (READ | {"scopes": ["orgs:admin"]}, 422),
        (READ | {"network": "devnet"}, 422),
        (READ | {"expires_at": "2020-01-01T00:00:00Z"}, 400),
        (READ | {"expires_at": "2030-01-01T00:00:00"}, 422),
        (READ | {"name": ""}, 422),
        (READ | {"name": "<script>alert(1)</script>"}, 422),
        (READ | {"key": "sgn_x"}, 422),
    ],
)
async def test_api_key_creation_with_bad_input_creates_nothing(world: World, body: dict[str, Any], status: int) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    assert (await refused(admin.call("POST", f"/orgs/{acme}/api-keys", json=body))).status == status
    assert (await admin.call("GET", f"/orgs/{acme}/api-keys"))["api_keys"] == []


async def test_api_key_of_another_organization_is_not_found(world: World) -> None:
    acme, other = await world.organization(), await world.organization()
    admin, foreign = await world.person(acme), await world.person(other)
    made = await foreign.call("POST", f"/orgs/{other}/api-keys", json=READ)
    for key_id in (made["id"], str(new_id()), "nonsense"):
        assert (await refused(admin.call("DELETE", f"/orgs/{acme}/api-keys/{key_id}"))).status == 404
    await world.client.call("GET", f"/orgs/{other}", token=made["key"])


async def test_api_key_cannot_create_a_key_that_outlives_it(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    soon, later = (now() + timedelta(days=days) for days in (1, 2))
    scopes = ["orgs:read", "api-keys:write"]
    body = {"name": "maker", "scopes": scopes, "expires_at": soon.isoformat()}
    key = (await admin.call("POST", f"/orgs/{acme}/api-keys", json=body))["key"]
    for ends in (None, later.isoformat()):
        problem = await refused(
            world.client.call("POST", f"/orgs/{acme}/api-keys", json=READ | {"expires_at": ends}, token=key)
        )
        assert (problem.status, "outlives" in problem.detail) == (403, True)
    made = await world.client.call("POST", f"/orgs/{acme}/api-keys", json=body, token=key)
    assert made["expires_at"]


async def test_api_key_follows_the_role_of_its_creator(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    body = {"name": "both", "scopes": ["orgs:read", "orgs:write"]}
    key = (await admin.call("POST", f"/orgs/{acme}/api-keys", json=body))["key"]
    await world.client.call("PATCH", f"/orgs/{acme}", json={"name": "Acme Two"}, token=key)
    mine = sa.update(MemberRow).where(col(MemberRow.user_id) == admin.user_id)
    async with db.worker() as session:
        await session.execute(mine.values(role=Role.VIEWER))
    problem = await refused(world.client.call("PATCH", f"/orgs/{acme}", json={"name": "x"}, token=key))
    assert (problem.status, "orgs:write" in problem.detail) == (403, True)
    await world.client.call("GET", f"/orgs/{acme}", token=key)
    async with db.worker() as session:
        await session.execute(mine.values(status=MemberStatus.INACTIVE))
    assert (await refused(world.client.call("GET", f"/orgs/{acme}", token=key))).status == 403


async def test_api_key_created_by_a_network_bound_key_has_the_same_network(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    path = f"/orgs/{acme}/api-keys"
    body = {"name": "Testnet only", "scopes": ["api-keys:write", "orgs:read", "orgs:write"], "network": "testnet"}
    bound = (await admin.call("POST", path, json=body))["key"]
    child = await world.client.call("POST", path, json={"name": "Child", "scopes": ["orgs:read"]}, token=bound)
    assert child["network"] == "testnet"
    for dry_run in ("true", "false"):
        change = {"path": f"/orgs/{acme}", "json": {"network": "mainnet"}, "params": {"dry_run": dry_run}}
        with pytest.raises(ApiProblem) as refused:
            await world.client.call("PATCH", change.pop("path"), token=bound, **change)
        assert (refused.value.status, "bound to testnet" in refused.value.detail) == (403, True)
    assert (await admin.call("PATCH", f"/orgs/{acme}", json={"network": "mainnet"}))["network"] == "mainnet"
