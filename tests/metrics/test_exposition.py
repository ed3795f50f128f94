"""Metrics of a running API: by route, from the database, on a port of their own or with a token."""

import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio
from prometheus_client.parser import text_string_to_metric_families

from backend import web
from backend.chain.deployment import contracts
from backend.chain.rpc import json_rpc, node_urls
from backend.core.connections.database import Database
from backend.core.errors import CannotStart
from backend.core.runtime import runtime
from backend.core.settings import settings
from backend.metrics import balances, exposition, facts, verifications
from backend.metrics.balances import Balances
from backend.metrics.facts import Facts
from tests.support.server import free_port

TOKEN = "a-token-of-sixteen-or-more"


def samples(text: str) -> dict[str, dict[tuple[str, ...], float]]:
    """Return the value of each sample by its name and the values of its labels."""
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sample.labels.values())] = sample.value
    return found


async def read() -> dict[str, dict[tuple[str, ...], float]]:
    return samples((await exposition.text()).decode())


@pytest_asyncio.fixture
async def caller(api: Any) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=api), base_url="http://t") as client:
        yield client


@pytest_asyncio.fixture
async def port(api: Any, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[int]:
    chosen = free_port()
    monkeypatch.setattr(settings(), "metrics_port", chosen)
    async with exposition.serving(settings()):
        yield chosen


@pytest.fixture(autouse=True)
def _fresh(api: Any) -> None:
    runtime.reset(Facts)


async def test_requests_are_counted_by_route_and_status(caller: httpx.AsyncClient) -> None:
    def counts(known: dict[str, dict[tuple[str, ...], float]], *labels: str) -> float:
        return known.get("signum_http_requests_total", {}).get(labels, 0)

    before = await read()
    secret = "01900000-0000-7000-8000-00000000beef"
    await caller.get(f"/v1/orgs/{secret}/summary")
    await caller.head("/v1/health")
    await caller.get("/v1/nothing-here")
    after = await read()
    for labels in (
        ("GET", "/v1/orgs/{orgId}/summary", "401"),
        ("HEAD", "/v1/health", "200"),
        ("GET", "unmatched", "404"),
    ):
        assert counts(after, *labels) == counts(before, *labels) + 1, labels
    assert ("GET", "/v1/orgs/{orgId}/summary") in after["signum_http_request_duration_seconds_count"]
    assert after["signum_http_requests_in_flight"][()] == 0
    assert secret not in (await exposition.text()).decode()


async def test_facts_of_the_database_are_exposed(caller: httpx.AsyncClient) -> None:
    known = await read()
    assert known["signum_database_up"][()] == 1
    assert known["signum_audit_entries"][()] >= 0
    assert known["signum_webhook_deliveries_pending"][()] >= 0
    assert known["process_resident_memory_bytes"][()] > 10_000_000
    assert known["signum_database_connections_limit"][("worker",)] > 0
    used = known["signum_database_connections"]
    assert set(used) == {(pool, state) for pool in ("app", "flow", "worker", "replica") for state in ("used", "free")}


async def test_facts_are_read_at_most_every_few_seconds(caller: httpx.AsyncClient) -> None:
    await facts.text()
    read_at = runtime.loop_part(Facts).read_at
    await facts.text()
    assert runtime.loop_part(Facts).read_at == read_at


async def test_unreachable_database_is_reported_and_does_not_fail_the_scrape(
    caller: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = runtime.part(Database)
    monkeypatch.setattr(database, "url", None)
    known = await read()
    assert known["signum_database_up"][()] == 0
    assert "signum_http_requests_in_flight" in known


async def test_balances_of_the_operator_are_read_from_the_chains(world: Any) -> None:
    found = Balances()
    await balances.read(found)
    operator = await contracts.operator()
    assert found.of == {eid: await json_rpc.native_balance(eid, operator) / 10**18 for eid in node_urls.reachable()}
    assert len(found.of) == 3


async def test_port_answers_metrics_only(port: int) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
        answer, other = await client.get("/metrics"), await client.get("/v1/health")
    assert (answer.status_code, other.status_code) == (200, 404)
    assert answer.headers["content-type"].startswith("text/plain")
    assert samples(answer.text)["signum_database_up"][()] == 1


async def test_occupied_port_is_named(port: int) -> None:
    with pytest.raises(CannotStart, match=rf"metrics port 127\.0\.0\.1:{port} cannot be used"):
        async with exposition.serving(settings()):
            pass


@pytest.mark.parametrize(
    ("token", "sent", "status"),
    [
        (None, None, 404),
        (None, "Bearer None", 404),
        (TOKEN, None, 401),
        (TOKEN, "Bearer x", 401),
        (TOKEN, f"Bearer {TOKEN}", 200),
    ],
)
async def test_public_port_answers_with_the_token_only(
    api: Any, monkeypatch: pytest.MonkeyPatch, token: str | None, sent: str | None, status: int
) -> None:
    async def console(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    monkeypatch.setattr(settings(), "metrics_token", token)
    transport = httpx.ASGITransport(app=web.front(console, console))
    async with httpx.AsyncClient(transport=transport, base_url="http://t") as client:
        answer = await client.get("/metrics", headers={"authorization": sent} if sent else {})
    assert answer.status_code == status
    assert ("signum_http_requests" in answer.text) == (status == 200)


def test_verification_of_the_audit_logs_is_exposed(tmp_path: Any) -> None:
    assert samples(verifications.text(tmp_path).decode())["signum_audit_verified_timestamp_seconds"][()] == 0
    verifications.note(tmp_path, is_whole=True)
    known = samples(verifications.text(tmp_path).decode())
    assert known["signum_audit_verified_timestamp_seconds"][()] > 1_700_000_000
    assert known["signum_audit_intact"][()] == 1


async def test_every_metric_has_help(caller: httpx.AsyncClient) -> None:
    text = (await exposition.text()).decode()
    names = set(re.findall(r"^# TYPE (\S+) ", text, re.MULTILINE))
    assert names == set(re.findall(r"^# HELP (\S+) \S", text, re.MULTILINE))
