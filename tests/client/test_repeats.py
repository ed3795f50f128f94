"""Retries of the client. The transport is the test's; everything behind it is the client's."""

import asyncio
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import httpx
import pytest

from backend.client import ApiProblem, Content, Repeating, SignumClient
from backend.sign_in.schemas import Login
from backend.wallets.schemas import WalletCreate, WalletUpdate

ORG = uuid4()
WITHOUT_PAUSE = Repeating(first=0.0)
TOKENS = {
    "expires_in": 900,
    "scope": "",
    "user": {"id": str(uuid4()), "email": "ada@example.com", "display_name": "Ada"},
    "organizations": [],
}
Answer = httpx.Response | Exception


class Wire:
    """Responses in order, and the requests sent."""

    def __init__(self, *answers: Answer, then: Callable[[httpx.Request], Answer] | None = None) -> None:
        self.answers, self.sent, self._then = list(answers), [], then

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        answer = self.answers.pop(0) if self.answers else self._then(request) if self._then else httpx.Response(204)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, **options: Any) -> SignumClient:
        return SignumClient(
            "http://signum", transport=httpx.MockTransport(self), **{"repeating": WITHOUT_PAUSE} | options
        )

    @property
    def keys(self) -> list[str | None]:
        return [request.headers.get("idempotency-key") for request in self.sent]


def refused(status: int, **more: Any) -> httpx.Response:
    headers = {k.replace("_", "-"): str(v) for k, v in more.items() if k == "retry_after"}
    body = {"status": status, "title": "no", "detail": "why", "type": more.get("type", "about:blank")}
    return httpx.Response(status, json=body, headers=headers)


HEALTH = httpx.Response(200, json={"status": "ok"})
WALLET = {
    "id": str(uuid4()),
    "organization_id": str(ORG),
    "label": "Fees",
    "address": "0x1111111111111111111111111111111111111111",
    "kind": "server",
    "provider": "keystore",
    "is_default": True,
    "balances": [],
    "created_at": "2026-01-01T00:00:00.000000Z",
    "updated_at": "2026-01-01T00:00:00.000000Z",
}
CREATE = WalletCreate(label="Fees")
PASSING = [refused(502), refused(503), refused(504), httpx.ReadTimeout("slow"), httpx.RemoteProtocolError("cut")]


@pytest.mark.parametrize("fault", [*PASSING, refused(429), httpx.ConnectError("down")], ids=str)
async def test_read_and_keyed_write_are_retried(fault: Answer) -> None:
    wire = Wire(fault, HEALTH)
    assert (await wire.client().get_health()).status == "ok"
    wire = Wire(fault, httpx.Response(201, json=WALLET))
    assert (await wire.client().create_wallet(ORG, CREATE)).label == "Fees"
    [first, second] = wire.keys
    assert first is not None
    assert first == second
    assert wire.sent[0].content == wire.sent[1].content


async def test_call_has_its_own_or_the_given_idempotency_key() -> None:
    wire = Wire(then=lambda _: httpx.Response(201, json=WALLET))
    client = wire.client()
    await client.create_wallet(ORG, CREATE)
    await client.create_wallet(ORG, CREATE)
    await client.update_wallet(ORG, WALLET["id"], WalletUpdate(label="Fees"), idempotency_key="mine")
    assert len(set(wire.keys)) == 3
    assert wire.keys[2] == "mine"


@pytest.mark.parametrize("fault", PASSING, ids=str)
async def test_unkeyed_write_that_may_have_arrived_is_not_retried(fault: Answer) -> None:
    for call in (
        lambda c: c.delete_wallet(ORG, uuid4()),
        lambda c: c.login(Login(email="ada@example.com", password="x")),
    ):
        wire = Wire(fault)
        with pytest.raises((ApiProblem, httpx.TransportError)):
            await call(wire.client())
        assert len(wire.sent) == 1


@pytest.mark.parametrize("fault", [refused(429), httpx.ConnectError("down")], ids=str)
async def test_request_that_did_not_start_is_always_retried(fault: Answer) -> None:
    wire = Wire(fault, httpx.Response(204))
    await wire.client().delete_wallet(ORG, uuid4())
    assert len(wire.sent) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422, 500])
async def test_refusal_is_raised_immediately(status: int) -> None:
    wire = Wire(refused(status))
    with pytest.raises(ApiProblem) as response:
        await wire.client().create_wallet(ORG, CREATE)
    assert (response.value.status, response.value.detail) == (status, "why")
    assert len(wire.sent) == 1


async def test_repeat_waits_for_the_first_request_with_the_same_key() -> None:
    running = "http://signum/v1/errors/idempotency-conflict"
    wire = Wire(httpx.ReadTimeout("slow"), refused(409, type=running), httpx.Response(201, json=WALLET))
    await wire.client().create_wallet(ORG, CREATE)
    assert len(set(wire.keys)) == 1
    wire = Wire(refused(409, type=running))
    with pytest.raises(ApiProblem):
        await wire.client().create_wallet(ORG, CREATE, idempotency_key="another caller's")


async def test_client_gives_up_after_its_retries() -> None:
    wire = Wire(then=lambda _: refused(503))
    with pytest.raises(ApiProblem) as response:
        await wire.client(repeating=Repeating(times=2, first=0.0)).get_health()
    assert response.value.status == 503
    assert len(wire.sent) == 3


def test_client_backoff_follows_retry_after_and_its_limits() -> None:
    repeating = Repeating(times=4, first=1.0, longest=3.0, patience=10.0)
    busy = [ApiProblem({"status": 429}, retry_after=seconds) for seconds in (7.0, 11.0)]
    assert repeating.wait(0, busy[0], False) == 7.0
    assert repeating.wait(0, busy[1], False) is None
    waits = [repeating.wait(attempt, httpx.ConnectError(""), False) or 0.0 for attempt in range(4)]
    assert all(
        low <= wait <= high for wait, (low, high) in zip(waits, [(0.5, 1), (1, 2), (1.5, 3), (1.5, 3)], strict=True)
    )
    assert repeating.wait(4, httpx.ConnectError(""), True) is None


async def test_streamed_body_is_sent_once() -> None:
    async def lines() -> Any:
        yield b"address,amount\n"

    wire = Wire(refused(503))
    with pytest.raises(ApiProblem):
        await wire.client().create_distribution(ORG, uuid4(), Content(lines(), "text/csv"), dry_run=True)
    assert len(wire.sent) == 1


async def test_expired_access_token_is_renewed_once_for_all_calls() -> None:
    renewals: list[str] = []
    kept: list[tuple[str, str]] = []

    def answer(request: httpx.Request) -> Answer:
        if request.url.path == "/v1/auth/refresh":
            renewals.append(request.content.decode())
            return httpx.Response(200, json=TOKENS | {"access_token": "new", "refresh_token": "next"})
        old = request.headers["authorization"] == "Bearer old"
        return refused(401) if old else httpx.Response(200, json={"status": "ok"})

    client = Wire(then=answer).client(token="old", refresh_token="once", on_tokens=lambda *both: kept.append(both))
    await asyncio.gather(*(client.get_health() for _ in range(5)))
    assert renewals == ['{"refresh_token":"once"}']
    assert kept == [("new", "next")]


async def test_unrecoverable_401_is_raised() -> None:
    wire = Wire(then=lambda _: refused(401))
    with pytest.raises(ApiProblem):
        await wire.client(token="old", refresh_token="used").get_health()
    assert [r.url.path for r in wire.sent] == ["/v1/health", "/v1/auth/refresh"]


async def test_error_of_a_proxy_or_oauth_is_an_api_problem() -> None:
    wire = Wire(httpx.Response(404, text="<html>nothing</html>"))
    with pytest.raises(ApiProblem) as response:
        await wire.client().get_health()
    assert (response.value.status, response.value.title) == (404, "Not Found")
    wire = Wire(httpx.Response(400, json={"error": "invalid_grant", "error_description": "used"}))
    with pytest.raises(ApiProblem, match="400 invalid_grant: used"):
        await wire.client().jwks()
