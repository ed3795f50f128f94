"""Bad input over HTTP: a clear problem each time, nothing written, and never an internal error."""

import json
import re
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
import pytest
import pytest_asyncio

from backend.client import SignumClient
from backend.core.settings import settings
from backend.server import runtime
from tests.conftest import PASSWORD, World
from tests.openapi.operations import CASES, Case
from tests.support.firm import SEPOLIA, Firm

JSON = {"content-type": "application/json"}
PARTY = {"name": "Ann", "country": "DEU"}
ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"
WRONG = "0x52908400098527886E0F7030069857D2E4169Ee7"
"""The same with one letter in the wrong case."""
TEN_MB = 10 * 1024 * 1024


@dataclass
class Ground:
    """Two independent firms, and plain HTTP."""

    http: httpx.AsyncClient
    firm: Firm
    foreign: dict[str, str]
    person: dict[str, str]
    """The credential of the firm's admin."""

    async def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        """A call with the firm's key, or for a move with its admin's token; `{org}` and `{asset}`, `{party}` … of the
        foreign firm are filled in."""
        headers = (self.person if "/move" in path else self.firm.key) | options.pop("headers", {})
        return await self.http.request(method, self._filled(path), headers=headers, **options)

    def _filled(self, text: str) -> str:
        for name, value in {"org": str(self.firm.id), **self.foreign}.items():
            text = text.replace(f"<{name}>", value)
        return text

    async def problem(self, status: int, method: str, path: str, **options: Any) -> dict[str, Any]:
        """Return the problem of a call that must fail with this status."""
        if "json" in options:
            options["json"] = json.loads(self._filled(json.dumps(options["json"])))
        answer = await self.send(method, path, **options)
        assert answer.status_code == status, answer.text[:500]
        assert answer.headers["content-type"] == "application/problem+json"
        problem: dict[str, Any] = answer.json()
        assert (problem["status"], problem["instance"]) == (status, f"urn:uuid:{answer.headers['x-request-id']}")
        assert problem["detail"]
        return problem

    async def written(self) -> list[Any]:
        """Return all rows that bad input could have created."""
        call = self.firm.admin.call
        parties = await call("GET", "/identity/parties", params={"organization_id": str(self.firm.id)})
        return [parties, *[await self.firm.get(p) for p in ("", "/wallets", "/members", "/attestations", "/sub-orgs")]]


@pytest_asyncio.fixture(scope="module")
async def ground(api: Any, client: SignumClient) -> AsyncIterator[Ground]:
    """Created once: the tests leave it unchanged."""
    world = World(client)
    firm, other = await Firm.found(world), await Firm.found(world, "Other")
    for each in (firm, other):
        await each.enable(SEPOLIA)
        await each.party()
    party, wallet = await other.verified(None), await other.post("/wallets", {"label": "Foreign"})
    hook = await other.post("/webhooks", {"url": "http://localhost:1024/"})
    foreign = {
        "foreign": str(other.id),
        "party": party["id"],
        "wallet": wallet["id"],
        "hook": hook["id"],
        "user": str(other.admin.user_id),
        "unit": (await other.post("/sub-orgs", {"name": "Their unit"}))["id"],
        "own_unit": (await firm.post("/sub-orgs", {"name": "Our unit"}))["id"],
    }
    tokens = await client.call("POST", "/auth/login", json={"email": firm.admin.email, "password": PASSWORD})
    person = {"authorization": f"Bearer {tokens['access_token']}"}
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as http:
        yield Ground(http, firm, foreign, person)


async def pieces(size: int) -> AsyncIterator[bytes]:
    """A body of unknown length."""
    for _ in range(size // 65_536):
        yield b" " * 65_536


def raw(text: str | bytes) -> dict[str, Any]:
    """A body of JSON, or nearly."""
    return {"content": text, "headers": JSON}


def named(value: str) -> dict[str, Any]:
    """A party with its name in this JSON notation."""
    return raw(f'{{"country": "DEU", "name": {value}}}')


PARTIES, WALLETS, MEMBERS = "/v1/identity/parties", "/v1/orgs/<org>/wallets", "/v1/orgs/<org>/members"
WRITTEN = {
    "checksum of a wallet": (422, WALLETS, {"json": {"label": "A", "address": WRONG}}),
    "checksum of a party": (422, PARTIES, {"json": PARTY | {"wallet_address": WRONG}}),
    "checksum of a member": (422, MEMBERS, {"json": {"wallet_address": WRONG}}),
    "10 MB": (413, PARTIES, raw(b'"' + b"x" * TEN_MB + b'"')),
    "10 MB of unknown length": (413, PARTIES, {"content": pieces, "headers": JSON}),
    "10 MB under a false length": (413, PARTIES, {"content": pieces, "headers": JSON | {"content-length": "2"}}),
    "deep lists": (400, PARTIES, raw("[" * 100_000 + "]" * 100_000)),
    "deep objects": (400, PARTIES, raw('{"a":' * 100_000 + "1" + "}" * 100_000)),
    "as deep as can be read": (422, PARTIES, named("[" * 1000 + "]" * 1000)),
    "deep and with a NUL": (422, PARTIES, named("[" * 1000 + '"\\u0000"' + "]" * 1000)),
    "NaN": (400, PARTIES, named("NaN")),
    "Infinity": (400, PARTIES, named("Infinity")),
    "-Infinity": (400, PARTIES, named("-Infinity")),
    "a number beyond doubles": (400, PARTIES, named("1e999")),
    "a number of many digits": (400, PARTIES, named("9" * 5000)),
    "NUL": (400, PARTIES, named('"a\0b"')),
    "NUL, escaped": (422, PARTIES, named('"a\\u0000b"')),
    "NUL in a name": (422, PARTIES, raw('{"country": "DEU", "name": "Ann", "\\u0000": 1}')),
    "lone high surrogate": (400, PARTIES, named('"\\ud800"')),
    "lone low surrogate": (400, PARTIES, named('"\\udc00x"')),
    "lone surrogate in bytes": (400, PARTIES, raw(b'{"country": "DEU", "name": "\xed\xa0\x80"}')),
    "no UTF-8": (400, PARTIES, raw('{"country": "DEU", "name": "Åsa"}'.encode("latin-1"))),
    "UTF-16": (400, PARTIES, raw(json.dumps(PARTY).encode("utf-16"))),
    "byte order mark": (400, PARTIES, raw(b"\xef\xbb\xbf" + json.dumps(PARTY).encode())),
    "unknown field": (422, PARTIES, {"json": PARTY | {"kyc_level": 3}}),
    "unknown field of the class": (422, PARTIES, {"json": PARTY | {"__class__": "x"}}),
    "a number for yes or no": (422, "/v1/orgs/<org>/webhooks",
                               {"json": {"url": "https://a.example", "include_descendants": 0}}),
    "a word for yes or no": (422, "/v1/orgs/<org>/webhooks",
                             {"json": {"url": "https://a.example", "include_descendants": "yes"}}),
    "a number for a time": (422, "/v1/orgs/<org>/attestations",
                            {"json": {"party_id": "<party>", "chain_eid": SEPOLIA, "expires_at": 4102444800}}),
    "text": (415, PARTIES, {"content": json.dumps(PARTY), "headers": {"content-type": "text/plain"}}),
    "no content type": (415, PARTIES, {"content": json.dumps(PARTY)}),
    "form": (415, PARTIES, {"data": PARTY}),
    "file": (415, PARTIES, {"files": {"file": b"x"}}),
    "XML": (415, PARTIES, {"content": "<a/>", "headers": {"content-type": "application/xml"}}),
    "parameter twice": (400, "/v1/orgs/<org>/sub-orgs/<own_unit>/move?dry_run=true&dry_run=false",
                        {"json": {"newParentId": "<org>"}}),
    "foreign party": (409, "/v1/orgs/<org>/attestations", {"json": {"party_id": "<party>", "chain_eid": SEPOLIA}}),
    "foreign organization of a party": (403, PARTIES, {"json": PARTY | {"organization_id": "<foreign>"}}),
    "foreign party to verify": (404, f"{PARTIES}/<party>/verify", {"json": {"kyc_level": 2, "accredited": True}}),
    "foreign parent": (403, "/v1/orgs/<org>/sub-orgs/<own_unit>/move", {"json": {"newParentId": "<unit>"}}),
    "foreign unit": (404, "/v1/orgs/<org>/sub-orgs/<unit>/move", {"json": {"newParentId": "<org>"}}),
    "foreign hook": (404, "/v1/orgs/<org>/webhooks/<hook>/test", {}),
    "foreign organization": (403, "/v1/orgs/<foreign>/wallets", {"json": {"label": "Mine"}}),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("name", WRITTEN)
async def test_bad_input_is_a_clear_problem_and_writes_nothing(ground: Ground, name: str) -> None:
    status, path, options = WRITTEN[name]
    sent = dict(options)
    if sent.get("content") is pieces:
        sent["content"] = pieces(TEN_MB)
    before = await ground.written()
    problem = await ground.problem(status, "POST", path, **sent)
    if status == 422:
        assert problem["errors"]
        assert all(re.fullmatch("(/[^/]+)*", e["pointer"]) and e["detail"] for e in problem["errors"])
    assert await ground.written() == before
    assert len(json.dumps(problem)) < 4000, "the response does not repeat the input"


@pytest.mark.parametrize(
    ("status", "path"),
    [
        (404, "/v1/orgs/<org>/wallets/<wallet>"),
        (404, "/v1/identity/parties/<party>"),
        (404, "/v1/orgs/<org>/webhooks/<hook>"),
        (403, "/v1/orgs/<foreign>"),
        (403, "/v1/identity/parties?organization_id=<foreign>"),
        (404, "/v1/orgs/<org>/wallets/not-an-id"),
        (404, "/v1/orgs/<org>/wallets/%00"),
        (404, "/v1/orgs/<org>/wallets/%ED%A0%80"),
        (422, "/v1/identity/parties?q=%00"),
        (400, "/v1/identity/parties?limit=NaN"),
        (400, "/v1/identity/parties?limit=Infinity"),
        (400, "/v1/identity/parties?limit=1&limit=2"),
        (400, "/v1/identity/parties?limit=2&limit=2"),
        (400, "/v1/identity/parties?organization_id=<org>&organization_id=<foreign>"),
    ],
)
async def test_bad_queries_are_clear_problems(ground: Ground, status: int, path: str) -> None:
    await ground.problem(status, "GET", path)


@pytest.mark.parametrize("path", ["/v1/identity/parties?q=%ED%A0%80", "/v1/identity/parties?other=1&other=2"])
async def test_odd_but_harmless_queries_are_answered(ground: Ground, path: str) -> None:
    assert (await ground.send("GET", path)).status_code in (200, 400)


def with_query() -> list[Case]:
    """Every operation with a query, except the authorization request, whose errors go to the application."""
    found = [c for c in CASES if any(p.get("in") == "query" for p in c.entry.get("parameters", []))]
    return [c for c in found if "/oauth/" not in c.path]


@pytest.mark.parametrize("case", with_query(), ids=str)
async def test_repeated_query_parameter_is_rejected(ground: Ground, case: Case) -> None:
    path = case.path.replace("{orgId}", str(ground.firm.id))
    while "{" in path:
        before, _, rest = path.partition("{")
        path = f"{before}{uuid4()}{rest.partition('}')[2]}"
    headers = {"cookie": ground.firm.admin.cookie, "origin": settings().origin}
    for parameter in case.entry["parameters"]:
        if parameter.get("in") == "query":
            pair = [(parameter["name"], secrets.token_hex(2)), (parameter["name"], secrets.token_hex(2))]
            answer = await ground.http.request(
                case.method.upper(), path, params=pair, headers=ground.firm.key | headers
            )
            assert answer.status_code == 400, answer.text
            assert answer.json()["detail"] == f"{parameter['name']} is given more than once."
