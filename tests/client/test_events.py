"""Streams in the Python client: resuming, the fallback to polling, and reading without await."""

import asyncio
from collections.abc import AsyncIterator
from itertools import islice
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
import pytest_asyncio

from backend.assets.models import RuleSetRow
from backend.assets.schemas import AssetCreate
from backend.client import ApiProblem, SignumClient
from backend.client.events import Parser
from backend.core import db
from backend.live_updates import hints
from backend.requests.schemas import RequestStatus
from backend.server.runtime import local_transport
from backend.wallets.schemas import WalletCreate
from tests.auth.test_versions import active_asset
from tests.conftest import World
from tests.support.firm import SEPOLIA, Firm
from tests.support.server import served
from tests.webhooks.conftest import Endpoint, receiver
from tests.webhooks.receiver import Receiver

__all__ = ["receiver"]


@pytest_asyncio.fixture(scope="session")
async def url(api: Any) -> AsyncIterator[str]:
    async with served(api) as url:
        yield url


@pytest.fixture
async def firm(world: World) -> Firm:
    firm = await Firm.found(world)
    await firm.enable(SEPOLIA)
    await firm.post("/wallets", {"label": "Treasury"})
    return firm


class Cutting(httpx.AsyncHTTPTransport):
    """Ends each stream after its first event, as a network that loses connections."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str | None] = []
        self.is_open = asyncio.Event()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await super().handle_async_request(request)
        if "text/event-stream" not in response.headers.get("content-type", ""):
            return response
        self.opened.append(request.headers.get("last-event-id"))
        self.is_open.set()
        return httpx.Response(200, headers=response.headers, stream=_Cut(response))


class _Cut(httpx.AsyncByteStream):
    def __init__(self, response: httpx.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._response.aiter_raw():
            yield piece
            if b"data:" in piece:
                await self._response.aclose()
                raise httpx.ReadError("cut")


async def test_stream_resumes_after_each_lost_connection_exactly_once(firm: Firm, url: str) -> None:
    wire = Cutting()
    key = firm.key["x-api-key"]
    async with SignumClient(url, api_key=key, transport=wire) as client, SignumClient(url, api_key=key) as other:
        stream = client.stream_events(firm.id)
        seen: list[str] = []

        async def follow() -> None:
            async for event in stream:
                seen.append(event.data["id"])
                if len(seen) == 4:
                    return

        async with asyncio.timeout(60):
            following = asyncio.create_task(follow())
            await wire.is_open.wait()
            made = [str((await other.create_wallet(firm.id, WalletCreate(label=f"W{n}"))).id) for n in range(4)]
            await following
    assert seen == made
    assert len(wire.opened) > 1
    assert wire.opened[0] is None
    assert None not in wire.opened[1:]


async def test_stream_that_the_api_refuses_raises_its_problem(world: World, firm: Firm, url: str) -> None:
    other = await world.organization("Other")
    async with SignumClient(url, api_key=firm.key["x-api-key"]) as client:
        with pytest.raises(ApiProblem) as refused:
            await anext(aiter(client.stream_events(other)))
        assert refused.value.status == 403
        with pytest.raises(ApiProblem) as gone:
            await anext(aiter(client.stream_events(firm.id, last_event_id="99999999")))
        assert gone.value.status == 410


@pytest.mark.long
async def test_watch_and_wait_follow_the_stream_without_polling(firm: Firm, url: str) -> None:
    paths: list[str] = []
    wire = httpx.AsyncHTTPTransport()

    async def note(request: httpx.Request) -> None:
        paths.append(f"{request.method} {request.url.path}")

    async with SignumClient(url, api_key=firm.key["x-api-key"], transport=wire) as client:
        client._client().event_hooks["request"].append(note)
        accepted = await client.create_asset(firm.id, AssetCreate(name="Bond", symbol="BND", chain_eid=SEPOLIA))
        statuses = [request.status async for request in client.watch(accepted.request_id)]
        assert statuses[-1] is RequestStatus.SUCCEEDED
        assert len(statuses) > 1
        assert (await client.wait_for(accepted.request_id)).status is RequestStatus.SUCCEEDED
        assert [r.status async for r in client.stream_request_events(firm.id, accepted.request_id)] == [
            RequestStatus.SUCCEEDED
        ]
    assert f"GET /v1/orgs/{firm.id}/requests/{accepted.request_id}" not in paths


@pytest.mark.parametrize("answer", ["refused", "held back", "another page"])
async def test_watch_polls_where_streams_do_not_work(
    firm: Firm, url: str, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    monkeypatch.setattr("backend.client.events.OPENING", 0.2)

    class Proxy(httpx.AsyncHTTPTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            if not request.url.path.endswith("/events"):
                return await super().handle_async_request(request)
            if answer == "held back":
                await asyncio.Event().wait()
            return httpx.Response(200 if answer == "another page" else 501, html="<p>proxy</p>")

    async with SignumClient(url, api_key=firm.key["x-api-key"], transport=Proxy()) as client:
        accepted = await client.create_asset(firm.id, AssetCreate(name="Bond", symbol="BND", chain_eid=SEPOLIA))
        assert (await client.wait_for(accepted.request_id)).status is RequestStatus.SUCCEEDED


async def test_stream_is_read_without_await(firm: Firm, url: str) -> None:
    def read() -> list[str]:
        with SignumClient(url, api_key=firm.key["x-api-key"]).blocking() as wait:
            stream = wait.client.stream_events(firm.id, last_event_id="0")
            return [event.type for event in islice(wait.each(stream), 2)]

    assert await asyncio.to_thread(read) == ["chain.enabled", "wallet.created"]


async def test_wait_in_the_process_of_the_api_ends_with_the_change(
    firm: Firm, api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The console waits like this; without a change the wait would end the test's patience."""
    monkeypatch.setattr("backend.client.events.LONGEST", 600.0)
    client = SignumClient(api_key=firm.key["x-api-key"])
    client.use(local_transport(api), hints.subscribed)
    async with asyncio.timeout(60), client, client.changes(firm.id) as changes:
        accepted = await client.create_asset(firm.id, AssetCreate(name="Bond", symbol="BND", chain_eid=SEPOLIA))
        await changes.wait(600.0)
        assert (await client.wait_for(accepted.request_id)).status is RequestStatus.SUCCEEDED


async def test_wait_for_deliveries_ends_with_an_attempt(
    world: World, api: Any, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.client.events.LONGEST", 600.0)
    endpoint = await Endpoint.made(world, receiver.url, event_types=["*"])
    client = SignumClient()
    client.use(local_transport(api), hints.subscribed)
    async with asyncio.timeout(60), client, client.changes(endpoint.organization, deliveries_of=endpoint.id) as changes:
        await endpoint.post("/test")
        await changes.wait(600.0)
        assert [delivery["status"] for delivery in await endpoint.deliveries()] == ["succeeded"]


async def test_wait_for_events_ends_with_indexed_rules(firm: Firm, api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules' history waits like this: what the indexer reads is no event."""
    monkeypatch.setattr("backend.client.events.LONGEST", 600.0)
    client = SignumClient()
    client.use(local_transport(api), hints.subscribed)
    asset = UUID((await active_asset(firm)).rpartition("/")[2])
    async with asyncio.timeout(60), client, client.changes(firm.id, uuid4(), events=True) as changes:
        async with db.worker() as session:
            place = {"chain_eid": SEPOLIA, "tx_hash": f"0x{'ab' * 32}", "block_number": 1, "log_index": 0}
            session.add(RuleSetRow(organization_id=firm.id, asset_id=asset, version=1, rules={}, **place))
        await changes.wait(600.0)


def test_pieces_of_any_size_give_the_same_events() -> None:
    text = ': c\r\nretry: 5\r\n\r\nid: 1\ndata: {"a":"\u2028é"}\n\nid: 2\n\nevent: problem\ndata: {}\n\n'.encode()
    whole = list(Parser().feed(text))
    parser = Parser()
    assert [event for byte in text for event in parser.feed(bytes([byte]))] == whole
    assert [(e.name, e.data, e.id, e.retry) for e in whole] == [
        ("message", [], None, 5),
        ("message", ['{"a":"\u2028é"}'], "1", None),
        ("message", [], "2", None),
        ("problem", ["{}"], None, None),
    ]
