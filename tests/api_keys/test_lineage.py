"""Lineage of keys: a key ends with its maker, and no key outlives its maker."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.auth.models import SessionRow
from backend.auth.scopes import Scope
from backend.client import ApiProblem
from backend.core import db
from backend.core.db import now
from backend.models import ApiKeyRow
from backend.server import sweep
from tests.api_keys.test_api_keys import READ, refused
from tests.conftest import Actor, World
from tests.oauth.application import Application, register
from tests.oauth.conftest import http  # noqa: F401  (a fixture)

MAKER = {"name": "maker", "scopes": ["orgs:read", "api-keys:write"]}


async def works(world: World, org: UUID, key: str) -> bool:
    """Return whether a key still signs in."""
    answers = await asyncio.gather(world.client.call("GET", f"/orgs/{org}", token=key), return_exceptions=True)
    status = answers[0].status if isinstance(answers[0], ApiProblem) else 200
    assert status in (200, 401), answers
    return status == 200


async def family(world: World, org: UUID, admin: Actor) -> list[dict[str, Any]]:
    """A key, a key that it made, and a key that the second one made."""
    made = [await admin.call("POST", f"/orgs/{org}/api-keys", json=MAKER)]
    for _ in range(2):
        made.append(await world.client.call("POST", f"/orgs/{org}/api-keys", json=MAKER, token=made[-1]["key"]))
    return made


async def test_api_key_revocation_revokes_every_descendant_key(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    first, second, third = await family(world, acme, admin)
    other = await admin.call("POST", f"/orgs/{acme}/api-keys", json=READ)
    assert [k["parent_id"] for k in (first, second, third)] == [None, first["id"], second["id"]]
    await admin.call("DELETE", f"/orgs/{acme}/api-keys/{first['id']}")
    assert [await works(world, acme, k["key"]) for k in (first, second, third, other)] == [False, False, False, True]
    listed = {k["id"]: k["revoked_at"] for k in (await admin.call("GET", f"/orgs/{acme}/api-keys"))["api_keys"]}
    assert [bool(listed[k["id"]]) for k in (first, second, third, other)] == [True, True, True, False]
    log = (await admin.call("GET", f"/orgs/{acme}/audit", params={"action": "api_key.revoked"}))["audit"]
    assert {e["subject"]["id"] for e in log} == {k["id"] for k in (first, second, third)}


async def test_access_tokens_of_a_key_expire_with_its_parent_key(world: World, http: httpx.AsyncClient) -> None:  # noqa: F811
    acme = await world.organization()
    admin = await world.person(acme)
    first, second, _ = await family(world, acme, admin)
    form = {"grant_type": "client_credentials", "client_id": second["id"], "client_secret": second["key"]}
    token = (await http.post("/v1/oauth/token", data=form)).json()["access_token"]
    assert await works(world, acme, token)
    await admin.call("DELETE", f"/orgs/{acme}/api-keys/{first['id']}")
    assert not await works(world, acme, token)


async def test_parent_key_revoked_in_the_database_revokes_its_children(world: World) -> None:
    """The child ends however its parent ends, also if the parent is revoked while the child is being made."""
    acme = await world.organization()
    first, second, third = await family(world, acme, await world.person(acme))
    async with db.worker() as session:
        parent = sa.update(ApiKeyRow).where(col(ApiKeyRow.id) == UUID(first["id"]))
        await session.execute(parent.values(expires_at=now() - timedelta(seconds=1)))
    assert [await works(world, acme, k["key"]) for k in (first, second, third)] == [False, False, False]


async def application_key(world: World, http: httpx.AsyncClient, org: UUID, person: Actor) -> Any:  # noqa: F811
    """An application with its tokens, and a key that it made."""
    scopes = ["openid", "orgs:read", "api-keys:write", "api-keys:read"]
    application = await register(world, http, org, scopes=scopes)
    tokens = await application.sign_in(person, " ".join(scopes))
    ends = (now() + timedelta(days=30)).isoformat()
    body = MAKER | {"expires_at": ends}
    key = await world.client.call("POST", f"/orgs/{org}/api-keys", json=body, token=tokens["access_token"])
    child = await world.client.call("POST", f"/orgs/{org}/api-keys", json=body, token=key["key"])
    return application, tokens, key, child


@pytest.mark.parametrize("how", ["person", "application", "removed", "expired"])
async def test_application_key_ends_with_its_grant(world: World, http: httpx.AsyncClient, how: str) -> None:  # noqa: F811
    acme = await world.organization()
    person = await world.person(acme)
    application, tokens, key, child = await application_key(world, http, acme, person)
    assert (key["client_id"], child["client_id"]) == (application.id, None)
    assert await works(world, acme, key["key"])
    await end(world, application, tokens, person, how)
    assert [await works(world, acme, k["key"]) for k in (key, child)] == [False, False]
    await sweep.once()
    listed = {k["id"]: k["revoked_at"] for k in (await person.call("GET", f"/orgs/{acme}/api-keys"))["api_keys"]}
    assert [bool(listed[k["id"]]) for k in (key, child)] == [True, True]
    log = (await person.call("GET", f"/orgs/{acme}/audit", params={"action": "api_key.revoked"}))["audit"]
    assert {e["subject"]["id"] for e in log} == {key["id"], child["id"]}


async def end(world: World, application: Application, tokens: Any, person: Actor, how: str) -> None:
    """End a grant in one of the ways it can end."""
    if how == "person":
        sessions = (await person.call("GET", "/auth/sessions"))["sessions"]
        grant = next(s["id"] for s in sessions if s["kind"] == "application")
        await person.call("DELETE", f"/auth/sessions/{grant}")
    elif how == "application":
        form = {"client_id": application.id, "client_secret": application.secret, "token": tokens["refresh_token"]}
        assert (await application.http.post("/v1/oauth/revoke", data=form)).status_code == 200
    elif how == "removed":
        await person.call("DELETE", f"/orgs/{application.organization}/oauth-clients/{application.id}")
    else:
        async with db.worker() as session:
            mine = sa.update(SessionRow).where(col(SessionRow.client_id) == UUID(application.id))
            await session.execute(mine.values(expires_at=now() - timedelta(seconds=1)))


async def test_application_cannot_create_a_key_that_outlives_its_grant(world: World, http: httpx.AsyncClient) -> None:  # noqa: F811
    acme = await world.organization()
    person = await world.person(acme)
    scopes = ["openid", "orgs:read", "api-keys:write"]
    tokens = await (await register(world, http, acme, scopes=scopes)).sign_in(person, " ".join(scopes))
    for ends in (None, (now() + timedelta(days=91)).isoformat()):
        body = READ | {"expires_at": ends}
        call = world.client.call("POST", f"/orgs/{acme}/api-keys", json=body, token=tokens["access_token"])
        problem = await refused(call)
        assert (problem.status, "outlives" in problem.detail) == (403, True)


async def test_personal_key_stays_valid_after_sign_out(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    made = await admin.call("POST", f"/orgs/{acme}/api-keys", json=READ)
    assert (made["parent_id"], made["client_id"]) == (None, None)
    await admin.call("POST", "/auth/logout")
    assert await works(world, acme, made["key"])
    assert Scope.ORGS_READ in made["scopes"]
