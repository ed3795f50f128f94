"""The client of browser sessions, response headers, request bodies from forms, and ids in paths."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import httpx
import pytest
import pytest_asyncio

from backend.approvals.schemas import ApprovalDeny, PolicyChange
from backend.assets.schemas import AssetCreate, AssetUpdate
from backend.client import ApiProblem, SessionClient, SignumClient, body
from backend.client.problem import NotAnId
from backend.controls.schemas import Mint
from backend.core.fields import Body
from backend.core.settings import settings
from backend.daily_limits.schemas import DailyLimitsUpdate
from backend.invitations.schemas import InvitationCreate
from backend.oauth.schemas import OAuthClientCreate
from backend.server.runtime import local_transport
from backend.transfers.schemas import TransferCreate
from backend.wallets.schemas import WalletCreate
from backend.webhooks.schemas import Recovery, WebhookCreate
from tests.conftest import World
from tests.support.firm import SEPOLIA, Firm

ORG = uuid4()
COOKIE, ADDRESS = "session=abc", "203.0.113.7, 198.51.100.9"
Answer = Callable[[httpx.Request], httpx.Response]


def healthy(request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json={"status": "ok"})


def refusing(status: int, wait: str = "") -> Answer:
    headers = {"retry-after": wait} if wait else {}
    return lambda _: httpx.Response(status, json={"status": status, "title": "no", "detail": "why"}, headers=headers)


class Wire:
    """The responses in order, then healthy ones; and what was sent."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.sent: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        return (self.answers.pop(0) if self.answers else healthy)(request)

    def client(self, **options: Any) -> SignumClient:
        return SignumClient("http://signum", transport=httpx.MockTransport(self), **options)


class Refusals:
    """Records the problems of a session client, and raises an exception instead where one is given."""

    def __init__(self, instead: Exception | None = None) -> None:
        self.problems: list[ApiProblem] = []
        self.instead = instead

    async def __call__(self, problem: ApiProblem) -> None:
        self.problems.append(problem)
        if self.instead is not None:
            raise self.instead


class SignedOut(Exception):
    """Stands for an exception of the console."""


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the client waits, which pass immediately; others in this event loop wait as always."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("backend.client.connection.asyncio", SimpleNamespace(**{**vars(asyncio), "sleep": sleep}))
    return waited


# Session clients


async def test_session_credentials_are_sent_with_each_call() -> None:
    wire = Wire()
    session = SessionClient(wire.client(), COOKIE, ADDRESS, Refusals())
    await session.get_health()
    await session.get_health()
    for request in wire.sent:
        assert request.headers["cookie"] == COOKIE
        assert request.headers["origin"] == settings().origin
        assert request.headers["x-forwarded-for"] == ADDRESS
        assert "authorization" not in request.headers


async def test_session_without_cookie_has_only_an_address() -> None:
    wire = Wire()
    await SessionClient(wire.client(), "", ADDRESS, Refusals()).get_health()
    [request] = wire.sent
    assert request.headers["x-forwarded-for"] == ADDRESS
    assert not {"cookie", "origin", "x-api-key"} & set(request.headers)


async def test_session_with_api_key_sends_both() -> None:
    wire = Wire()
    await SessionClient(wire.client(), COOKIE, ADDRESS, Refusals(), api_key="sgn_1").get_health()
    [request] = wire.sent
    assert (request.headers["cookie"], request.headers["x-api-key"]) == (COOKIE, "sgn_1")


async def test_sessions_share_connections_and_no_credentials() -> None:
    wire, other = Wire(), Wire()
    shared = wire.client(token="of the shared client")
    ann, ben = (SessionClient(shared, cookie, ADDRESS, Refusals()) for cookie in ("session=ann", "session=ben"))
    await asyncio.gather(ann.get_health(), ben.get_health())
    assert {request.headers["cookie"] for request in wire.sent} == {"session=ann", "session=ben"}
    assert all("authorization" not in request.headers for request in wire.sent)
    assert ann._client() is ben._client() is shared._client()
    await ann.close()  # the connections belong to the shared client
    await ben.get_health()
    shared.use(httpx.MockTransport(other))
    await ann.get_health()
    assert (len(wire.sent), len(other.sent)) == (3, 1)


async def test_refusal_is_reported_before_it_is_raised() -> None:
    refusals = Refusals()
    with pytest.raises(ApiProblem) as raised:
        await SessionClient(Wire(refusing(403)).client(), COOKIE, ADDRESS, refusals).get_health()
    assert refusals.problems == [raised.value]
    assert (raised.value.status, raised.value.detail) == (403, "why")


async def test_refusal_can_become_another_exception() -> None:
    refusals = Refusals(SignedOut())
    with pytest.raises(SignedOut):
        await SessionClient(Wire(refusing(401)).client(), COOKIE, ADDRESS, refusals).get_health()
    assert [problem.status for problem in refusals.problems] == [401]


async def test_rate_limit_with_short_wait_is_retried_unreported(pauses: list[float]) -> None:
    wire, refusals = Wire(refusing(429, "1"), refusing(429, "2")), Refusals()
    health = await SessionClient(wire.client(), COOKIE, ADDRESS, refusals).get_health()
    assert (health.status, len(wire.sent), pauses, refusals.problems) == ("ok", 3, [1.0, 2.0], [])


@pytest.mark.parametrize(
    ("waits", "sent"), [(["3"], 1), (["1", "30"], 2), (["1", "1", "1"], 3)], ids=["long", "longer later", "too often"]
)
async def test_rate_limit_that_lasts_is_reported_once(waits: list[str], sent: int, pauses: list[float]) -> None:
    wire, refusals = Wire(*(refusing(429, wait) for wait in waits)), Refusals()
    with pytest.raises(ApiProblem) as raised:
        await SessionClient(wire.client(), COOKIE, ADDRESS, refusals).get_health()
    assert (raised.value.status, raised.value.retry_after) == (429, float(waits[-1]))
    assert refusals.problems == [raised.value]
    assert (len(wire.sent), len(pauses)) == (sent, sent - 1)


# Response headers


async def test_response_headers_are_those_of_the_last_response() -> None:
    def tagged(tag: str) -> Answer:
        return lambda _: httpx.Response(200, json={"status": "ok"}, headers={"etag": tag})

    client = Wire(tagged('"1"'), tagged('"2"'), refusing(404)).client()
    with client.response_headers() as headers:
        assert not headers
        await client.get_health()
        assert headers["ETag"] == '"1"'
        await client.get_health()
        assert headers["etag"] == '"2"'
        with pytest.raises(ApiProblem):
            await client.get_health()
        assert headers["etag"] == '"2"', "a refusal is an exception and has no headers"
    await client.get_health()
    assert headers["etag"] == '"2"', "the block has ended"


async def test_response_headers_of_nested_blocks_are_separate() -> None:
    def counted(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"status": "ok"}, headers={"etag": str(len(wire.sent))})

    wire = Wire(counted, counted, counted)
    client = wire.client()
    with client.response_headers() as outer:
        await client.get_health()
        with client.response_headers() as inner:
            await client.get_health()
        assert (outer["etag"], inner["etag"]) == ("1", "2")
        await client.get_health()
        assert (outer["etag"], inner["etag"]) == ("3", "2")


async def test_response_headers_of_two_tasks_do_not_mix() -> None:
    both_started, started = asyncio.Event(), []

    async def answer(request: httpx.Request) -> httpx.Response:
        name = request.url.path.rpartition("/")[2]
        started.append(name)
        if len(started) == 2:
            both_started.set()
        await both_started.wait()
        return httpx.Response(200, json={name: [], "nextCursor": None}, headers={"etag": name})

    client = SignumClient("http://signum", transport=httpx.MockTransport(answer))

    async def tag_of(call: Any) -> str:
        with client.response_headers() as headers:
            await call
            await asyncio.sleep(0.01)
            return str(headers["etag"])

    tags = tuple(await asyncio.gather(tag_of(client.list_requests(ORG)), tag_of(client.list_wallets(ORG))))
    assert tags == ("requests", "wallets")


async def test_response_headers_of_an_accepted_operation_locate_its_request(world: World, api: object) -> None:
    firm = await Firm.found(world)
    await firm.enable(SEPOLIA)
    await firm.post("/wallets", {"label": "Treasury"})
    async with SignumClient(api_key=firm.key["x-api-key"], transport=local_transport(api)) as client:
        with client.response_headers() as headers:
            accepted = await client.create_asset(firm.id, AssetCreate(name="Bond", symbol="BND", chain_eid=SEPOLIA))
        assert headers["location"] == f"/v1/orgs/{firm.id}/requests/{accepted.request_id}"
        await client.wait_for(accepted.request_id)


# Bodies


@pytest_asyncio.fixture(scope="module")
async def shared_firm(client: SignumClient) -> Firm:
    return await Firm.found(World(client))


BODIES: list[tuple[str, str, type[Body], dict[str, Any]]] = [
    ("POST", "/wallets", WalletCreate, {}),
    ("POST", "/wallets", WalletCreate, {"label": "  ", "purse": 1, "a/b~c": None}),
    ("POST", "/webhooks", WebhookCreate, {"url": "ftp://x", "event_types": ["*", "asset.created"]}),
    ("POST", "/webhooks", WebhookCreate, {"url": "", "event_types": [], "include_descendants": "yes"}),
    ("POST", f"/webhooks/{ORG}/recover", Recovery, {"since": 1_700_000_000}),
    ("POST", f"/webhooks/{ORG}/recover", Recovery, {"since": "2026-01-01T00:00:00"}),
    ("POST", "/assets", AssetCreate, {"name": "a\nb", "symbol": "lower", "chain_eid": "x", "decimals": 1.5}),
    (
        "POST",
        "/assets",
        AssetCreate,
        {
            "name": "Bond",
            "symbol": "BND",
            "chain_eid": 0,
            "initial_supply": 5,
            "regulation_type": "reg_x",
            "compliance_rules": {"blocked_countries": ["USA", "XX"], "max_tokens_per_holder": "-1"},
        },
    ),
    ("POST", "/transfers", TransferCreate, {"asset_id": "x", "chain_eid": 40161, "to_address": "0x1", "amount": "1e5"}),
    ("POST", f"/assets/{ORG}/mint", Mint, {"chain_eid": True, "to_address": "0x" + "Ab" * 20, "amount": str(2**256)}),
    ("PATCH", f"/assets/{ORG}", AssetUpdate, {"max_holders": None, "compliance_rules": {"blocked_countries": None}}),
    ("PATCH", f"/assets/{ORG}/daily-limits", DailyLimitsUpdate, {"mint": None, "burn": ""}),
    ("POST", "/webhooks", WebhookCreate, {"url": "https://hooks.example", "event_types": ["order.paid", "*"]}),
    ("POST", "/invitations", InvitationCreate, {"email": "no address", "role": "king"}),
    ("POST", f"/approvals/{ORG}/deny", ApprovalDeny, {"reason": "<b>no</b>"}),
    ("POST", "/approvals", PolicyChange, {"approvals": ["x"], "approver_wait_hours": 169, "allowed_ip_ranges": None}),
]


@pytest.mark.parametrize(("method", "path", "kind", "fields"), BODIES, ids=lambda value: getattr(value, "__name__", ""))
async def test_body_has_the_errors_of_the_api(
    method: str, path: str, kind: type[Body], fields: dict[str, Any], shared_firm: Firm
) -> None:
    theirs = await shared_firm.refused(method, path, 422, json=fields)
    with pytest.raises(ApiProblem) as ours:
        body(kind, fields)
    assert theirs.errors
    for name in ("status", "title", "detail", "errors"):
        assert getattr(ours.value, name) == getattr(theirs, name), name
    assert ours.value.by_field() == theirs.by_field()


@pytest.mark.parametrize(("kind", "field"), [(WebhookCreate, "event_types"), (OAuthClientCreate, "scopes")])
def test_unknown_value_of_several_kinds_is_reported_once_at_its_place(kind: type[Body], field: str) -> None:
    with pytest.raises(ApiProblem) as refused:
        body(kind, {field: ["nothing"]})
    assert [e["pointer"] for e in refused.value.errors if e["pointer"].startswith(f"/{field}")] == [f"/{field}/0"]


def test_body_of_valid_fields_sends_only_these() -> None:
    webhook = body(WebhookCreate, {"url": "https://example.com/x", "description": None})
    assert webhook.model_dump_json(exclude_unset=True) == '{"url":"https://example.com/x","description":null}'


def test_body_with_text_that_utf8_cannot_encode_is_refused() -> None:
    with pytest.raises(ApiProblem) as raised:
        body(ApprovalDeny, {"reason": "\ud800"})
    assert list(raised.value.by_field()) == ["reason"]


# Ids in paths


@pytest.mark.parametrize("text", ["", ".", "..", "..."])
async def test_text_that_is_not_an_id_is_not_found_and_not_sent(text: str) -> None:
    wire, refusals = Wire(), Refusals()
    session = SessionClient(wire.client(), COOKIE, ADDRESS, refusals)
    calls: list[Callable[[], Any]] = [
        lambda: session.get_asset(ORG, text),
        lambda: session.create_wallet(text, WalletCreate(label="Fees")),
        lambda: session.list_wallets(text),
        lambda: session.list_wallets_csv(text),
    ]
    for call in calls:
        with pytest.raises(NotAnId) as raised:
            await call()
        assert isinstance(raised.value, ApiProblem)
        assert isinstance(raised.value, ValueError)
        assert (raised.value.status, raised.value.errors) == (404, [])
    assert wire.sent == []
    assert refusals.problems == []


@pytest.mark.parametrize("text", ["?x=1", "#", " ", "%2e%2e", "..a", "💥"])
async def test_any_other_text_stays_one_part_of_the_path(text: str, shared_firm: Firm, api: object) -> None:
    async with SignumClient(api_key=shared_firm.key["x-api-key"], transport=local_transport(api)) as client:
        with pytest.raises(ApiProblem) as raised:
            await client.get_wallet(shared_firm.id, text)
    assert not isinstance(raised.value, NotAnId)
    assert (raised.value.status, raised.value.detail) == (404, "No resource has this ID.")
