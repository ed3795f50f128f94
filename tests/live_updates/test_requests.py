"""Streams of a request's progress, over real connections and chains."""

import json
from uuid import uuid4

import httpx
import jsonschema_rs
import pytest

from backend.auth.scopes import Scope
from tests.conftest import World
from tests.live_updates.reader import streaming
from tests.openapi.operations import DOCUMENT
from tests.support.firm import SEPOLIA, Firm

BOND = {"name": "Bond", "symbol": "BND", "chain_eid": SEPOLIA}


@pytest.fixture
async def firm(world: World) -> Firm:
    firm = await Firm.found(world)
    await firm.enable(SEPOLIA)
    await firm.post("/wallets", {"label": "Treasury"})
    return firm


def place(firm: Firm, accepted: dict[str, str]) -> str:
    return f"/orgs/{firm.id}/requests/{accepted['requestId']}/events"


@pytest.mark.long
async def test_request_is_streamed_from_its_current_state_to_its_end(
    world: World, firm: Firm, http: httpx.AsyncClient
) -> None:
    await firm.patch("", {"approvals": ["asset.deploy"]})
    other = await world.person(firm.id)
    accepted = await firm.post("/assets", BOND)
    async with streaming(http, place(firm, accepted), **firm.key) as stream:
        assert (await stream.next())["status"] == "awaiting_approval"
        approval = next(a for a in (await firm.get("/approvals"))["approvals"])
        await other.call("POST", f"{firm.base}/approvals/{approval['id']}/approve")
        states = await stream.rest()
    assert states[-1]["status"] == "succeeded"
    assert {step["status"] for step in states[-1]["steps"]} == {"succeeded"}
    statuses = list(dict.fromkeys(state["status"] for state in states))
    assert statuses in (["running", "succeeded"], ["accepted", "running", "succeeded"])
    assert any("running" in [step["status"] for step in state["steps"]] for state in states)
    assert states[-1] == await firm.get(f"/requests/{accepted['requestId']}")


@pytest.mark.long
async def test_final_request_is_one_event_and_is_not_sent_again(firm: Firm, http: httpx.AsyncClient) -> None:
    accepted = await firm.post("/assets", BOND)
    await firm.settle(accepted["requestId"])
    async with streaming(http, place(firm, accepted), **firm.key) as stream:
        [only] = await stream.rest()
        assert only["status"] == "succeeded"
    async with streaming(http, place(firm, accepted), stream.last_event_id, **firm.key) as again:
        assert again.response.status_code == 204
    async with streaming(http, place(firm, accepted), "another", **firm.key) as unknown:
        assert [state["id"] for state in await unknown.rest()] == [only["id"]]


async def test_resumed_stream_begins_with_what_has_changed(world: World, firm: Firm, http: httpx.AsyncClient) -> None:
    await firm.patch("", {"approvals": ["asset.deploy"]})
    other = await world.person(firm.id)
    accepted = await firm.post("/assets", BOND)
    async with streaming(http, place(firm, accepted), **firm.key) as stream:
        assert (await stream.next())["status"] == "awaiting_approval"
    async with streaming(http, place(firm, accepted), stream.last_event_id, **firm.key) as again:
        approval = next(a for a in (await firm.get("/approvals"))["approvals"])
        await other.call("POST", f"{firm.base}/approvals/{approval['id']}/deny", json={"reason": "No"})
        assert [state["status"] for state in await again.rest()] == ["denied"]


@pytest.mark.long
async def test_stream_names_only_what_its_caller_may_read(world: World, firm: Firm, http: httpx.AsyncClient) -> None:
    accepted = await firm.post("/assets", BOND)
    await firm.settle(accepted["requestId"])
    key = await world.key(firm.id, Scope.ORGS_READ)
    async with streaming(http, place(firm, accepted), **key) as stream:
        [only] = await stream.rest()
    assert only["title"] == "Asset deploy"
    assert {step["title"] for step in only["steps"]} == {"Asset deploy"}


@pytest.mark.long
async def test_request_of_another_tenant_is_a_404(world: World, firm: Firm, http: httpx.AsyncClient) -> None:
    accepted = await firm.post("/assets", BOND)
    other = await Firm.found(world, "Other")
    for request in (accepted["requestId"], uuid4()):
        path = f"/orgs/{other.id}/requests/{request}/events"
        async with streaming(http, path, **other.key) as stream:
            assert stream.response.status_code == 404
    async with streaming(http, place(firm, accepted), **other.key) as stream:
        assert stream.response.status_code == 403
    key = await world.key(firm.id, Scope.ASSETS_READ)
    async with streaming(http, place(firm, accepted), **key) as stream:
        assert stream.response.status_code == 403
    await firm.settle(accepted["requestId"])


async def test_event_of_a_request_matches_the_document(firm: Firm, http: httpx.AsyncClient) -> None:
    accepted = await firm.post("/assets", BOND)
    entry = DOCUMENT["paths"]["/v1/orgs/{orgId}/requests/{requestId}/events"]["get"]
    documented = entry["responses"]["200"]["content"]["text/event-stream"]["schema"]
    async with streaming(http, place(firm, accepted), **firm.key) as stream:
        event = await stream.part()
    assert event is not None
    sent = {"id": event.id, "event": event.name, "data": "\n".join(event.data)}
    content = documented["properties"]["data"]["contentSchema"]
    for schema, value in ((documented, sent), (content, json.loads(sent["data"]))):
        validator = jsonschema_rs.Draft202012Validator({**schema, "components": DOCUMENT["components"]})
        assert [str(error) for error in validator.iter_errors(value)] == []
