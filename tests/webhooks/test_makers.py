"""A webhook endpoint ends with the key or the application that made it, unless a person takes it over."""

import asyncio
from typing import Any
from uuid import UUID

import httpx
import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.auth.scopes import Scope
from backend.core import db
from backend.core.changes import publish
from backend.core.db import new_id
from backend.models import ApiKeyRow, EndpointRow, OutboxRow
from backend.server import sweep
from tests.approvals.test_applications import connect, end
from tests.conftest import Actor, World
from tests.oauth.conftest import http  # noqa: F401  (a fixture)
from tests.webhooks.conftest import Endpoint, Queued, attempt

URL = "http://localhost:1024/hooks"
WHY = "The endpoint was disabled"


async def publish_events(organization: UUID) -> None:
    """Cause an event in an organization."""
    async with db.transaction(organization) as session:
        await publish(session, organization, "party.verified", ("party", new_id()), None, {"status": "verified"})


async def key_of(world: World, admin: Actor, organization: UUID) -> dict[str, Any]:
    """A key that can create endpoints."""
    body = {"name": "Hooks", "scopes": [str(Scope.ORGS_READ), str(Scope.ORGS_WRITE)]}
    return dict(await admin.call("POST", f"/orgs/{organization}/api-keys", json=body))


async def made_by(world: World, admin: Actor, organization: UUID, token: str) -> Endpoint:
    """An endpoint that a key or an application has created."""
    made = await world.client.call("POST", f"/orgs/{organization}/webhooks", json={"url": URL}, token=token)
    return Endpoint(organization, admin, made)


async def state_of(end: Endpoint) -> tuple[str, str | None]:
    """Return its status, and why it is disabled."""
    shown = await end.get()
    return shown["status"], shown["disabled_reason"]


async def test_endpoint_of_a_revoked_key_receives_nothing(world: World, queued: Queued) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    key = await key_of(world, admin, acme)
    hook = await made_by(world, admin, acme, key["key"])
    assert (hook.record["parent_id"], hook.record["client_id"]) == (key["id"], None)
    await publish_events(acme)
    [waiting] = await hook.deliveries(event_type="party.verified")
    async with db.worker() as session:
        mine = sa.update(ApiKeyRow).where(col(ApiKeyRow.id) == UUID(key["id"]))
        await session.execute(mine.values(revoked_at=sa.func.now()))
    await publish_events(acme)
    async with db.transaction(acme) as session:
        text = sa.text(
            "select status, failure from webhook_deliveries where endpoint_id = :id order by id desc limit 1"
        )
        assert tuple((await session.execute(text, {"id": hook.id})).one()) == ("failed", WHY)
    assert (await attempt(hook, waiting["id"]))["failure"] == WHY
    assert await state_of(hook) == ("disabled", "maker_ended")


@pytest.mark.parametrize("how", ["disconnected", "removed", "expired"])
async def test_endpoint_of_an_application_ends_with_its_grant(world: World, http: httpx.AsyncClient, how: str) -> None:  # noqa: F811
    acme = await world.organization()
    admin = await world.person(acme)
    application, token = await connect(world, http, acme, admin)
    hook = await made_by(world, admin, acme, token)
    assert (hook.record["parent_id"], hook.record["client_id"]) == (None, application.id)
    assert await state_of(hook) == ("enabled", None)
    await end(application, admin, how)
    await sweep.once()
    await sweep.once()
    listed = (await admin.call("GET", f"/orgs/{acme}/webhooks"))["webhooks"]
    assert [(h["status"], h["disabled_reason"]) for h in listed] == [("disabled", "maker_ended")]
    log = (await admin.call("GET", f"/orgs/{acme}/audit", params={"action": "webhook.disabled"}))["audit"]
    assert [(e["credential"], e["actor"]) for e in log] == [("system", None)], "it is recorded once"
    async with db.worker() as session:
        query = sa.select(col(OutboxRow.body)).where(
            col(OutboxRow.organization_id) == acme, col(OutboxRow.recipient) == admin.email
        )
        mails = [m for m in (await session.scalars(query)).all() if hook.id in m]
    assert len(mails) == 1
    assert "created it" in mails[0]


async def test_endpoint_of_a_child_key_ends_with_the_parent_key(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    scopes = ["orgs:read", "orgs:write", "api-keys:write"]
    first = await admin.call("POST", f"/orgs/{acme}/api-keys", json={"name": "a", "scopes": scopes})
    body = {"name": "b", "scopes": scopes}
    second = await world.client.call("POST", f"/orgs/{acme}/api-keys", json=body, token=first["key"])
    hook = await made_by(world, admin, acme, second["key"])
    await admin.call("DELETE", f"/orgs/{acme}/api-keys/{first['id']}")
    assert await state_of(hook) == ("disabled", "maker_ended")


async def test_endpoint_of_a_revoked_key_is_taken_over_by_the_person_who_enables_it(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    key = await key_of(world, admin, acme)
    hook = await made_by(world, admin, acme, key["key"])
    await admin.call("DELETE", f"/orgs/{acme}/api-keys/{key['id']}")
    await hook.patch(description="Kept")
    await hook.post("/rotate-secret")
    assert await state_of(hook) == ("disabled", "maker_ended"), "only enabling it takes it over"
    taken = await hook.patch(status="enabled")
    assert (taken["status"], taken["parent_id"]) == ("enabled", None)
    await sweep.once()
    assert await state_of(hook) == ("enabled", None)


async def test_endpoint_redirected_by_a_key_ends_with_the_key(world: World) -> None:
    acme = await world.organization()
    hook = await Endpoint.made(world, URL, acme)
    assert (hook.record["parent_id"], hook.record["client_id"]) == (None, None)
    key = await key_of(world, hook.admin, acme)
    described = await world.client.call("PATCH", hook.path, json={"description": "x", "url": URL}, token=key["key"])
    assert described["parent_id"] is None
    moved = await world.client.call("PATCH", hook.path, json={"url": f"{URL}/of-key"}, token=key["key"])
    assert moved["parent_id"] == key["id"]
    log = (await hook.admin.call("GET", f"/orgs/{acme}/audit", params={"action": "webhook.updated"}))["audit"]
    assert log[0]["after"] == {"url": f"{URL}/of-key", "parent_id": key["id"]}
    await hook.admin.call("DELETE", f"/orgs/{acme}/api-keys/{key['id']}")
    assert await state_of(hook) == ("disabled", "maker_ended")


async def test_endpoint_of_a_person_outlives_the_session(world: World) -> None:
    acme = await world.organization()
    hook, other = await Endpoint.made(world, URL, acme), await world.person(acme)
    await hook.admin.call("POST", "/auth/logout")
    await sweep.once()
    assert (await other.call("GET", hook.path))["status"] == "enabled"


async def test_endpoint_that_is_being_changed_is_shown_as_ended(world: World) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    key = await key_of(world, admin, acme)
    hook = await made_by(world, admin, acme, key["key"])
    await admin.call("DELETE", f"/orgs/{acme}/api-keys/{key['id']}")
    async with db.worker() as session:
        await session.get_one(EndpointRow, UUID(hook.record["id"]), with_for_update=True)
        shown = asyncio.create_task(state_of(hook))
        done, _ = await asyncio.wait({shown}, timeout=0.5)
        assert not done
    assert await shown == ("disabled", "maker_ended")
