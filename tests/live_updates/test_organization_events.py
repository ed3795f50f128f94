"""Streams of an organization's events, over real connections."""

import asyncio
from uuid import UUID, uuid4

import httpx
import pytest

from backend.auth.scopes import Scope
from backend.core import db
from backend.core.changes import publish
from backend.live_updates import organization_log
from backend.users.schemas import Role
from tests.conftest import World
from tests.live_updates.reader import streaming
from tests.support.firm import Firm


@pytest.fixture
async def firm(world: World) -> Firm:
    return await Firm.found(world)


async def wallet(firm: Firm, label: str) -> str:
    created = await firm.post("/wallets", {"label": label})
    return str(created["id"])


async def test_change_is_streamed_with_its_subject_and_without_personal_data(
    firm: Firm, http: httpx.AsyncClient
) -> None:
    async with streaming(http, f"/orgs/{firm.id}/events", **firm.key) as stream:
        assert stream.response.headers["content-type"].startswith("text/event-stream")
        assert stream.response.headers["cache-control"] == "no-store"
        assert stream.response.headers["x-accel-buffering"] == "no"
        id_ = await wallet(firm, "Treasury of Marta")
        event = await stream.next()
    assert event["type"] == "wallet.created"
    assert event["data"]["object"] == "wallet"
    assert event["data"]["id"] == id_
    assert event["data"]["organization_id"] == str(firm.id)
    assert stream.last_event_id == event["id"]
    assert "Marta" not in str(event)


async def test_reconnected_stream_delivers_each_event_exactly_once(firm: Firm, http: httpx.AsyncClient) -> None:
    path = f"/orgs/{firm.id}/events"
    async with streaming(http, path, **firm.key) as stream:
        first = await wallet(firm, "One")
        seen = [(await stream.next())["data"]["id"]]
    missed = [await wallet(firm, "Two"), await wallet(firm, "Three")]
    async with streaming(http, path, stream.last_event_id, **firm.key) as again:
        later = await wallet(firm, "Four")
        seen += [(await again.next())["data"]["id"] for _ in range(3)]
    assert seen == [first, *missed, later]
    async with streaming(http, path, again.last_event_id, **firm.key) as last:
        final = await wallet(firm, "Five")
        assert (await last.next())["data"]["id"] == final


async def test_transaction_that_commits_late_gets_a_later_number(firm: Firm, http: httpx.AsyncClient) -> None:
    """The number is given at the end of a transaction, so a long one is not skipped by readers of newer numbers."""
    subject = ("wallet", uuid4())
    async with streaming(http, f"/orgs/{firm.id}/events", **firm.key) as stream:
        async with db.step(firm.id) as session:
            await publish(session, firm.id, "wallet.created", subject, None, {"status": "active"})
            quick = await wallet(firm, "Quick")
            first = await stream.next()
        second = await stream.next()
    assert [first["data"]["id"], second["data"]["id"]] == [quick, str(subject[1])]
    assert int(first["id"]) < int(second["id"])


async def fail_after_publishing(firm: Firm) -> None:
    async with db.step(firm.id) as session:
        await publish(session, firm.id, "wallet.created", ("wallet", uuid4()), None, {})
        raise RuntimeError


async def test_rolled_back_change_is_not_streamed(firm: Firm, http: httpx.AsyncClient) -> None:
    async with streaming(http, f"/orgs/{firm.id}/events", **firm.key) as stream:
        with pytest.raises(RuntimeError):
            await fail_after_publishing(firm)
        kept = await wallet(firm, "Kept")
        assert (await stream.next())["data"]["id"] == kept


async def test_caller_receives_only_events_that_its_scopes_can_read(
    world: World, firm: Firm, http: httpx.AsyncClient
) -> None:
    path = f"/orgs/{firm.id}/events"
    members = await world.key(firm.id, Scope.MEMBERS_READ)
    wallets = await world.key(firm.id, Scope.WALLETS_READ)
    async with streaming(http, path, **members) as of_members, streaming(http, path, **wallets) as of_wallets:
        await wallet(firm, "Treasury")
        person = await world.person(await world.organization())
        await firm.post("/members", {"user_id": str(person.user_id), "role": "viewer"})
        await wallet(firm, "Second")
        assert (await of_members.next())["type"] == "member.added"
        assert [(await of_wallets.next())["type"] for _ in range(2)] == ["wallet.created"] * 2


async def test_resumed_stream_is_filtered_by_scope_too(world: World, firm: Firm, http: httpx.AsyncClient) -> None:
    async with db.reading(firm.id) as session:
        position = await organization_log.head(session, firm.id)
    await wallet(firm, "Treasury")
    person = await world.person(await world.organization())
    await firm.post("/members", {"user_id": str(person.user_id), "role": "viewer"})
    key = await world.key(firm.id, Scope.MEMBERS_READ)
    async with streaming(http, f"/orgs/{firm.id}/events", str(position), **key) as stream:
        assert (await stream.next())["type"] == "member.added"


async def test_key_without_a_read_scope_is_refused(world: World, firm: Firm, http: httpx.AsyncClient) -> None:
    key = await world.key(firm.id, Scope.WALLETS_WRITE)
    async with streaming(http, f"/orgs/{firm.id}/events", **key) as stream:
        assert stream.response.status_code == 403


async def test_other_tenant_sees_nothing(world: World, firm: Firm, http: httpx.AsyncClient) -> None:
    other = await Firm.found(world, "Other")
    async with streaming(http, f"/orgs/{firm.id}/events", **other.key) as refused:
        assert refused.response.status_code == 403
    async with streaming(http, f"/orgs/{other.id}/events", **other.key) as stream:
        await wallet(firm, "Ours")
        id_ = await wallet(other, "Other")
        assert (await stream.next())["data"]["id"] == id_


async def test_creation_of_an_organization_below_is_streamed_to_its_parent(
    world: World, firm: Firm, http: httpx.AsyncClient
) -> None:
    async with streaming(http, f"/orgs/{firm.id}/events", **firm.key) as stream:
        created = await firm.post("/sub-orgs", {"name": "Below"})
        event = await stream.next()
    assert (event["type"], event["data"]["organization_id"]) == ("organization.created", created["id"])


@pytest.mark.parametrize(("last", "status"), [("x", 400), ("999999999", 410), ("-1", 400), ("9" * 64, 400)])
async def test_unknown_id_is_refused(firm: Firm, http: httpx.AsyncClient, last: str, status: int) -> None:
    async with streaming(http, f"/orgs/{firm.id}/events", last, **firm.key) as stream:
        assert stream.response.status_code == status


async def test_id_that_is_too_old_tells_the_client_to_read_again(
    firm: Firm, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(organization_log, "RESUMED", 2)
    for label in ("One", "Two", "Three"):
        await wallet(firm, label)
    async with streaming(http, f"/orgs/{firm.id}/events", "0", **firm.key) as stream:
        problem = stream.response.json()
    assert stream.response.status_code == 410
    assert problem["type"].endswith("/errors/events-expired")
    assert "read the resources again" in problem["detail"]


async def test_stream_far_behind_reads_the_log_in_parts(
    firm: Firm, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(organization_log, "PART", 2)
    monkeypatch.setattr(organization_log, "KEPT", 1)
    ids = [await wallet(firm, f"Wallet {n}") for n in range(5)]
    async with streaming(http, f"/orgs/{firm.id}/events", "0", **firm.key) as stream:
        seen = [(await stream.next())["data"]["id"] for _ in range(5)]
        ids.append(await wallet(firm, "Last"))
        seen.append((await stream.next())["data"]["id"])
    assert seen == ids


async def test_head_request_has_the_headers_and_ends(firm: Firm, http: httpx.AsyncClient) -> None:
    async with asyncio.timeout(10):
        answer = await http.head(f"/v1/orgs/{firm.id}/events", headers=firm.key)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")


async def test_viewer_with_a_browser_session_follows_events(world: World, firm: Firm, http: httpx.AsyncClient) -> None:
    viewer = await world.person(UUID(str(firm.id)), Role.VIEWER)
    async with streaming(http, f"/orgs/{firm.id}/events", cookie=viewer.cookie) as stream:
        await firm.post("/api-keys", {"name": "Secret", "scopes": ["orgs:read"]})
        id_ = await wallet(firm, "Treasury")
        assert (await stream.next())["data"]["id"] == id_  # a viewer cannot read API keys
