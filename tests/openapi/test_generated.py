"""Whatever can be thought of against the document: no fault of ours, and nothing that it does not say."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import pytest_asyncio
import schemathesis
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis.errors import Unsatisfiable
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi import checks

from backend import runtime
from backend.client import SignumClient
from backend.members.schemas import Role
from backend.settings import settings
from tests.conftest import World
from tests.issuance import SEPOLIA, Issuance
from tests.openapi.operations import CASES, DOCUMENT, Case

EXAMPLES = 3
CHECKS = [
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
]
"""All but those that know less than we do: data that fits its schema may still be impossible (400), and credentials
and methods are walked through elsewhere."""


def _open(document: dict[str, Any]) -> dict[str, Any]:
    """The document without credentials, which `test_matrix` walks through."""
    copied: dict[str, Any] = deepcopy(document)
    for entry in (e for item in copied["paths"].values() for e in item.values()):
        entry["security"] = []
    return copied


SCHEMA = schemathesis.openapi.from_dict(_open(DOCUMENT))


@dataclass
class Installation:
    """A firm with an asset, and the ids that lead to what it has."""

    http: httpx.AsyncClient
    firm: Issuance
    ids: dict[str, str]
    loop: asyncio.AbstractEventLoop

    async def send(self, sent: dict[str, Any], headers: dict[str, str]) -> httpx.Response:
        """The answer to a generated request, by the admin's session and a key of every scope."""
        known = {k: v.encode() for k, v in (sent.pop("headers", None) or {}).items() if k.lower() not in headers}
        plain = {k: v for k, v in sent.items() if k in ("method", "url", "params", "json", "content", "data")}
        if isinstance(plain.get("data"), str | bytes):
            plain["content"] = plain.pop("data")
        request = self.http.build_request(**plain, headers={**known, **{k: v.encode() for k, v in headers.items()}})
        return await self.http.send(request)


@pytest_asyncio.fixture(scope="module")
async def installation(api: Any, client: SignumClient) -> AsyncIterator[Installation]:
    """Made once."""
    firm = await Issuance.ready(World(client), SEPOLIA)
    asset, party = await firm.asset(), await firm.verified(None)
    wallets = (await firm.get("/wallets"))["wallets"]
    hook = await firm.post("/webhooks", {"url": "http://localhost:1024/"})
    delivery = await firm.post(f"/webhooks/{hook['id']}/test")
    ids = {
        "orgId": str(firm.id),
        "assetId": asset["id"],
        "partyId": party["id"],
        "walletId": wallets[0]["id"],
        "requestId": asset["request_id"],
        "webhookId": hook["id"],
        "deliveryId": delivery["id"],
    }
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as http:
        yield Installation(http, firm, ids, asyncio.get_running_loop())


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["fits", "does not fit"])
@pytest.mark.parametrize("case", CASES, ids=str)
async def test_answers_are_as_documented(installation: Installation, case: Case, mode: GenerationMode) -> None:
    firm, operation = installation.firm, SCHEMA[case.path][case.method.upper()]
    # Whoever may, would stop the chains of all tests and move their time by years.
    role = Role.VIEWER if case.path.startswith("/v1/devnet") else Role.ADMIN
    person = firm.admin if case.takes_key or case.is_open else await World(firm.admin.client).person(firm.id, role)
    headers = {"cookie": person.cookie, "origin": settings().origin, **firm.key}
    kept = {"orgId"} if case.method == "delete" else set(installation.ids)
    fixed = {k: v for k, v in installation.ids.items() if k in kept and f"{{{k}}}" in case.path}

    @hypothesis_settings(
        max_examples=EXAMPLES, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(generated=operation.as_strategy(mode, path_parameters=fixed or None))
    def run(generated: Any) -> None:
        sent = generated.as_transport_kwargs(base_url=settings().origin)
        waiting = asyncio.run_coroutine_threadsafe(installation.send(sent, headers), installation.loop)
        answer = waiting.result(30)
        assert answer.status_code < 500, f"{sent} {answer.text}"
        generated.validate_response(answer, checks=CHECKS)

    with suppress(Unsatisfiable):  # nothing of it can be wrong
        await asyncio.to_thread(run)
