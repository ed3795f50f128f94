"""A firm on a served installation, with one record of every kind."""

import asyncio
from typing import Any

import httpx

from backend.client import SignumClient
from backend.core.settings import settings
from tests.conftest import World
from tests.openapi.installation import Installation
from tests.openapi.operations import CASES
from tests.support.issuance import SEPOLIA, UNIT, Issuance, orders_path

FINAL = ("denied", "succeeded", "failed")
USD = 10**6
PATIENCE = 60


class Served(Issuance):
    """It waits for its requests by the API, and asks the API for test funds."""

    async def settle(self, request_id: str, attempt: int = 1) -> Any:
        """Wait for a request to finish; return it."""
        async with asyncio.timeout(PATIENCE):
            while (request := await self.get(f"/requests/{request_id}"))["status"] not in FINAL:  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.05)
        return request

    async def market_body(self, eid: int = SEPOLIA, **body: Any) -> dict[str, Any]:
        """Send a deploy request for a market."""
        return {"chain_eid": eid, "market_factory_address": (await self.chain(eid))["market_factory_address"]} | body

    async def order_of(self, market: Any) -> None:
        """An open order of an investor who was paid test funds."""
        wallet = await self.post("/wallets", {"label": "Investor"})
        party = await self.verified(wallet["address"])
        await self.attest(party)
        funds = await self.post(f"/wallets/{wallet['id']}/test-funds", {"chain_eid": SEPOLIA})
        await self.succeed(funds["requestId"])
        body = {"side": "buy", "price": str(USD), "amount": str(UNIT), "wallet_id": wallet["id"]}
        accepted = await self.post(orders_path(market), body)
        await self.succeed(accepted["requestId"])

    async def records(self) -> None:
        """One record of every kind that the API lists."""
        asset = await self.asset()
        await self.order_of(await self.market(asset))
        recipients = [{"address": (await self.treasury())["address"], "amount": str(UNIT)}]
        draft = {"name": "Payout", "chain_eid": SEPOLIA, "recipients": recipients}
        await self.post(f"/assets/{asset['id']}/distributions", draft)
        hook = await self.post("/webhooks", {"url": "http://localhost:1024/"})
        await self.post(f"/webhooks/{hook['id']}/test")
        await self.post("/sub-orgs", {"name": "Below"})
        await self.post("/invitations", {"email": "invited@example.com"})
        await self.post("/api-keys", {"name": "Other", "scopes": ["orgs:read"]})


DEMO_ONLY = "/attempts"
"""The end of a path that exists only on a demo."""


async def ids_of(firm: Issuance) -> dict[str, str]:
    """Return an id for each parameter of the organization's paths: those of the first items of its lists, as the
    document links them."""
    ids = {"orgId": str(firm.id)}
    lists = [case for case in CASES if case.method == "get" and "/orgs/{orgId}/" in case.path]
    lists = [case for case in lists if not case.path.endswith(DEMO_ONLY)]
    for case in sorted(lists, key=lambda c: c.path.count("{")):
        links = [link for response in case.entry["responses"].values() for link in response.get("links", {}).values()]
        found = {k: v for link in links for k, v in link["parameters"].items() if "/0/" in v and k not in ids}
        path = case.path.partition("/v1")[2]
        if not found or any(f"{{{name}}}" in path and name not in ids for name in _names(path)):
            continue
        answer = await firm.admin.call("GET", path.format(**ids))
        for name, pointer in found.items():
            listed, _, field = pointer.rpartition("#/")[2].split("/")
            if answer[listed]:
                ids[name] = answer[listed][0][field]
    return ids


def _names(path: str) -> list[str]:
    return [part[1:-1] for part in path.split("/") if part.startswith("{")]


async def installed(http: httpx.AsyncClient) -> Installation:
    """Return a new firm on the served installation, and the ids of its records."""
    world = World(SignumClient(settings().origin))
    firm = await Served.ready(world, SEPOLIA)
    assert isinstance(firm, Served)
    await firm.records()
    parties = await firm.admin.call("GET", "/identity/parties", params={"organization_id": str(firm.id)})
    ids = await ids_of(firm) | {"partyId": parties["parties"][0]["id"]}
    return Installation(http, firm, ids, asyncio.get_running_loop())
