"""Open streams end when their caller loses access, within seconds."""

from datetime import datetime
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from backend.client import SignumClient
from backend.core import db
from backend.live_updates import callers
from backend.users.schemas import Role
from tests.conftest import Actor, World
from tests.live_updates.reader import streaming
from tests.support.firm import Firm


@pytest.fixture
async def firm(world: World) -> Firm:
    return await Firm.found(world)


async def test_revoked_key_ends_its_stream(firm: Firm, http: httpx.AsyncClient) -> None:
    made = await firm.post("/api-keys", {"name": "Reader", "scopes": ["wallets:read"]})
    async with (
        streaming(http, f"/orgs/{firm.id}/events", **{"x-api-key": made["key"]}) as stream,
        streaming(http, f"/orgs/{firm.id}/events", **firm.key) as other,
    ):
        await firm.admin.call("DELETE", f"{firm.base}/api-keys/{made['id']}")
        assert (await stream.problem())["status"] == 401
        assert (await other.next())["type"] == "api_key.revoked"
        await firm.post("/wallets", {"label": "Later"})
        assert (await other.next())["type"] == "wallet.created"


async def test_removed_member_loses_the_stream(world: World, firm: Firm, http: httpx.AsyncClient) -> None:
    person = await world.person(firm.id, Role.VIEWER)
    member = next(m for m in (await firm.get("/members"))["members"] if m["user_id"] == str(person.user_id))
    async with streaming(http, f"/orgs/{firm.id}/events", cookie=person.cookie) as stream:
        await firm.admin.call("DELETE", f"{firm.base}/members/{member['id']}")
        problem = await stream.problem()
    assert problem["status"] == 403


@pytest.mark.long
async def test_ended_session_ends_the_stream_of_a_request(world: World, firm: Firm, http: httpx.AsyncClient) -> None:
    person = await world.person(firm.id, Role.VIEWER)
    await firm.enable(40161)
    await firm.post("/wallets", {"label": "Treasury"})
    await firm.patch("", {"approvals": ["asset.deploy"]})
    await world.person(firm.id)
    accepted = await firm.post("/assets", {"name": "Bond", "symbol": "BND", "chain_eid": 40161})
    path = f"/orgs/{firm.id}/requests/{accepted['requestId']}/events"
    async with streaming(http, path, cookie=person.cookie) as stream:
        assert (await stream.next())["status"] == "awaiting_approval"
        await person.call("DELETE", "/auth/sessions", headers={"origin": "http://localhost:8000"})
        assert (await stream.problem())["status"] == 401


@pytest.mark.long
async def test_changed_ip_ranges_end_the_stream(world: World, firm: Firm, http: httpx.AsyncClient, api: Any) -> None:
    """The list is that of the organization above, changed by its admin at another address."""
    below = await Firm.found(world, "Below", firm.id)
    office = SignumClient(transport=httpx.ASGITransport(app=api, client=("203.0.113.7", 1)))
    async with office, streaming(http, f"/orgs/{below.id}/events", **below.key) as stream:
        ranges = {"allowed_ip_ranges": ["203.0.113.0/24"]}
        await office.call("PATCH", firm.base, json=ranges, cookie=firm.admin.cookie)
        problem = await stream.problem()
    assert (problem["status"], problem["rule"]) == (403, "ip_address")


async def test_narrowed_scopes_narrow_the_stream(world: World, firm: Firm, http: httpx.AsyncClient) -> None:
    person = await world.person(firm.id, Role.COMPLIANCE_OFFICER)
    member = next(m for m in (await firm.get("/members"))["members"] if m["user_id"] == str(person.user_id))
    async with streaming(http, f"/orgs/{firm.id}/events", cookie=person.cookie) as stream:
        await firm.post("/api-keys", {"name": "First", "scopes": ["orgs:read"]})
        assert (await stream.next())["type"] == "api_key.created"
        await firm.patch(f"/members/{member['id']}", {"role": "viewer"})
        assert (await stream.next())["type"] == "member.updated"
        [caller] = [c for c in _callers() if c.organization_id == firm.id]
        await caller.check()
        await firm.post("/api-keys", {"name": "Second", "scopes": ["orgs:read"]})
        await firm.post("/wallets", {"label": "Treasury"})
        assert (await stream.next())["type"] == "wallet.created"


async def test_open_stream_does_not_keep_an_unused_session_alive(
    world: World, firm: Firm, http: httpx.AsyncClient
) -> None:
    person = await world.person(firm.id, Role.VIEWER)
    async with streaming(http, f"/orgs/{firm.id}/events", cookie=person.cookie) as stream:
        [caller] = [c for c in _callers() if c.organization_id == firm.id]
        opened = await _unused(person, "10 minutes")
        await caller.check()
        assert caller.refusal is None
        assert await _unused(person, "9 hours") < opened
        assert (await stream.problem())["status"] == 401


async def _unused(person: Actor, since: str) -> datetime:
    """Note that a session was last used some time ago; return when it was used before."""
    mine = {"person": person.user_id, "since": since}
    async with db.worker() as session:
        before = await session.scalar(sa.text("select last_used_at from sessions where user_id = :person"), mine)
        idle = "update sessions set last_used_at = now() - cast(:since as interval), idle_seconds = 28800"
        await session.execute(sa.text(f"{idle} where user_id = :person"), mine)
    assert isinstance(before, datetime)
    return before


def _callers() -> list[callers.Caller]:
    return list(callers.runtime.loop_part(callers.Callers).known.values())


async def test_database_without_an_answer_ends_no_stream_at_first(
    firm: Firm, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with streaming(http, f"/orgs/{firm.id}/events", **firm.key) as stream:
        [caller] = [c for c in _callers() if c.organization_id == firm.id]
        with monkeypatch.context() as patched:
            patched.setattr(callers, "authenticate", _unanswered)
            await caller.check()
        assert caller.refusal is None
        await firm.post("/wallets", {"label": "Treasury"})
        assert (await stream.next())["type"] == "wallet.created"
        with monkeypatch.context() as patched:
            patched.setattr(callers, "authenticate", _unanswered)
            patched.setattr(callers, "UNKNOWN", -1.0)
            await caller.check()
        assert (await stream.problem())["status"] == 503


async def _unanswered(*_: object) -> None:
    from sqlalchemy.exc import TimeoutError as NoConnectionFree

    raise NoConnectionFree
