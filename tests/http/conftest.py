"""A firm with records in nearly every list, and the lists of the document."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest_asyncio

from backend.client import SignumClient
from backend.core.settings import settings
from backend.server import runtime
from tests.conftest import World
from tests.openapi.operations import CASES, DOCUMENT, Case
from tests.support.issuance import SEPOLIA, Issuance
from tests.support.specimens import pdf


@pytest_asyncio.fixture(scope="module")
async def http(api: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Plain HTTP client: CSV is not JSON."""
    async with httpx.AsyncClient(transport=runtime.local_transport(api), base_url=settings().origin) as client:
        yield client


def paged_lists() -> list[Case]:
    """Return every operation of the document that responds with a page of records."""
    found = []
    for case in CASES:
        content = case.entry["responses"].get("200", {}).get("content", {}).get("application/json")
        schema = content["schema"] if content else {}
        name = schema.get("$ref", "").rsplit("/", 1)[-1]
        fields = DOCUMENT["components"]["schemas"].get(name, {}).get("properties", {})
        if case.method == "get" and "nextCursor" in fields:
            found.append(case)
    return found


class Ground:
    """A firm with records in nearly every list, and the ids of their paths."""

    def __init__(self, firm: Issuance, ids: dict[str, str]) -> None:
        self.firm, self.ids = firm, ids

    def path(self, case: Case) -> str:
        path = case.path
        for name, value in self.ids.items():
            path = path.replace(f"{{{name}}}", value)
        return path

    def params(self, case: Case) -> dict[str, str]:
        """The organization of lists whose path does not name it."""
        return {"organization_id": self.ids["orgId"]} if "identity/parties" in case.path else {}

    @property
    def headers(self) -> dict[str, str]:
        """The credential of the firm's admin."""
        return {"cookie": self.firm.admin.cookie}


@pytest_asyncio.fixture(scope="module")
async def ground(api: Any, client: SignumClient) -> Ground:
    """Created once."""
    world = World(client)
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    party = await firm.verified(None)
    for name in ("Ann", "Bo", "Cy"):
        await firm.party(name=name)
        await firm.post("/sub-orgs", {"name": f"{name} Ltd"})
        await firm.post("/invitations", {"email": f"{name.lower()}@x.example", "role": "viewer"})
        await firm.post("/wallets", {"label": name})
        await firm.post("/api-keys", {"name": name, "scopes": ["orgs:read"]})
        await world.person(firm.id)
        await firm.admin.call(
            "POST", f"/identity/parties/{party['id']}/documents", content=pdf([name]), params={"kind": "other"},
            headers={"content-type": "application/pdf"},
        )  # fmt: skip
    factory = (await firm.chain(SEPOLIA))["market_factory_address"]
    body = {"chain_eid": SEPOLIA, "market_factory_address": factory}
    accepted = await firm.post(f"/assets/{asset['id']}/markets", body)
    await firm.settle(accepted["requestId"])
    # No such event happens here, so nothing is sent.
    hook = await firm.post("/webhooks", {"url": "http://127.0.0.1:9999/", "event_types": ["distribution.activated"]})
    ids = {"orgId": str(firm.id), "assetId": asset["id"], "partyId": party["id"], "marketId": accepted["marketId"]}
    recipients = [{"address": f"0x{n:040x}", "amount": "1"} for n in (0xAB01, 0xCD02, 0xEF03)]
    body = {"name": "Dividend", "chain_eid": SEPOLIA, "recipients": recipients}
    made = await firm.post(f"/assets/{asset['id']}/distributions", body)
    return Ground(firm, ids | {"webhookId": hook["id"], "distId": made["id"]})
