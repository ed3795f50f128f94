"""Issuers of the stories. They use the API as programs do that repeat a call until they have its response."""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import httpx

from backend.client import ApiProblem, SignumClient
from tests.nodes.stories.network import Network

UNIT = 10**18
PASSING = (429, 502, 503, 504)
PATIENCE = 400.0
"""Seconds after which a call or a request counts as unanswered."""


class Unfinished(Exception):
    """A request that did not succeed, or a refused call."""


@dataclass
class House:
    """An organization with its key: wallets, an asset on both chains, a market and investors."""

    id: UUID
    key: dict[str, str]
    cookie: str
    client: SignumClient
    network: Network
    asset: Any = None
    market: Any = None
    treasury: Any = None
    investors: list[Any] = field(default_factory=list)
    trading: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by a story with orders: an order of another story would be matched with them."""
    retried: int = 0
    """Failed requests that were retried."""

    async def get(self, path: str) -> Any:
        """Read a record of the organization."""
        return await self._repeated("GET", f"/orgs/{self.id}{path}", None)

    async def post(self, path: str, body: Any = None) -> Any:
        """Send a request of the organization, once however often it is repeated."""
        return await self._repeated("POST", f"/orgs/{self.id}{path}", body)

    async def delete(self, path: str) -> Any:
        """Delete a record of the organization."""
        return await self._repeated("DELETE", f"/orgs/{self.id}{path}", None)

    async def _repeated(self, method: str, path: str, body: Any, key: str | None = None) -> Any:
        key, deadline = key or (str(uuid4()) if method == "POST" else None), time.monotonic() + PATIENCE
        while True:
            try:
                return await self.client.call(
                    method, path, json=body, cookie=self.cookie, headers=self.key, idempotency_key=key
                )
            except ApiProblem as problem:
                may_pass = problem.status in PASSING or problem.is_still_running
                if not may_pass or time.monotonic() > deadline:
                    raise Unfinished(f"{method} {path}: {problem.status} {problem.detail}") from None
            except httpx.TransportError as error:
                if time.monotonic() > deadline:
                    raise Unfinished(f"{method} {path}: {type(error).__name__}") from None
            await asyncio.sleep(0.2)

    async def succeed(self, request_id: str) -> Any:
        """Wait until a request succeeds; a failed one is retried while that can help."""
        deadline, tries = time.monotonic() + PATIENCE, 0
        while time.monotonic() < deadline:
            request = await self.get(f"/requests/{request_id}")
            if request["status"] == "succeeded":
                return request
            if request["status"] in ("failed", "denied"):
                if not request["can_retry"] or tries == 5:
                    raise Unfinished(f"{request['kind']} {request_id} failed: {request['problem']}")
                tries, self.retried = tries + 1, self.retried + 1
                await self._retry(request_id)
            await asyncio.sleep(0.2)
        raise Unfinished(f"{request['kind']} {request_id} is {request['status']} after {PATIENCE:.0f} s")

    async def _retry(self, request_id: str) -> None:
        try:
            await self.post(f"/requests/{request_id}/retry")
        except Unfinished as refused:
            if ": 409 " not in str(refused):  # it was corrected, or runs again, in the meantime
                raise

    async def wallet(self, label: str) -> Any:
        """A new server wallet, funded on both chains."""
        wallet = await self.post("/wallets", {"label": label})
        for chain in self.network.chains.values():
            await chain.pool.fund(wallet["address"])
        return wallet

    async def party(self, address: str) -> Any:
        """A verified party with a wallet."""
        body = {"organization_id": str(self.id), "name": "Marta Lindqvist", "country": "SWE", "wallet_address": address}
        party = await self._repeated("POST", "/identity/parties", body)
        verdict = {"kyc_level": 2, "accredited": True}
        return await self._repeated("POST", f"/identity/parties/{party['id']}/verify", verdict)

    async def attest(self, party: Any, eid: int) -> Any:
        """Attest a party on a chain and return the accepted attestation."""
        accepted = await self.post("/attestations", {"party_id": party["id"], "chain_eid": eid})
        await self.succeed(accepted["requestId"])
        return accepted

    async def found(self) -> None:
        """Register as an issuer, and issue an asset that is on both chains and has a market."""
        first, second = self.network.first.eid, self.network.second.eid
        for chain in (await self.get("/chains"))["chains"]:
            if chain["xchain_eid"] in (first, second):
                await self.post(f"/chains/{chain['id']}/enable")
        self.treasury = await self.wallet("Treasury")
        await self.post("/issuer/register", {})
        await self.succeed((await self.get("/issuer"))["request_id"])
        await asyncio.gather(self._issue(second), *(self._invest(number) for number in range(2)))

    async def _issue(self, second: int) -> None:
        self.asset = await self.issue(1_000_000 * UNIT)
        accepted = await self.post(f"/assets/{self.asset['id']}/bridge", bridged(second, 100_000 * UNIT))
        await self.succeed(accepted["requestId"])
        factory = next(c for c in (await self.get("/chains"))["chains"] if c["xchain_eid"] == self.network.first.eid)
        body = {"chain_eid": self.network.first.eid, "market_factory_address": factory["market_factory_address"]}
        accepted = await self.post(f"/assets/{self.asset['id']}/markets", body)
        await self.succeed(accepted["requestId"])
        self.market = await self.get(f"/assets/{self.asset['id']}/markets/{accepted['marketId']}")
        self.asset = await self.get(f"/assets/{self.asset['id']}")

    async def issue(self, supply: int) -> Any:
        """Issue an asset on the first chain."""
        symbol = "H" + uuid4().hex[:6].upper()
        body = {"name": "Harbour Fund", "symbol": symbol, "chain_eid": self.network.first.eid}
        accepted = await self.post("/assets", body | {"initial_supply": str(supply)})
        await self.succeed(accepted["requestId"])
        return await self.get(f"/assets/{accepted['assetId']}")

    async def _invest(self, number: int) -> None:
        wallet = await self.wallet(f"Investor {number}")
        for chain in self.network.chains.values():
            await chain.give(wallet["address"], 10**15)
        party = await self.party(wallet["address"])
        await asyncio.gather(*(self.attest(party, eid) for eid in self.network.chains))
        self.investors.append(wallet)

    def token_on(self, eid: int) -> str:
        """Return the asset's token on a chain."""
        return str(next(d["token_address"] for d in self.asset["deployments"] if d["chain_eid"] == eid))


def bridged(eid: int, amount: int) -> dict[str, Any]:
    """Return the body of a bridge."""
    return {"destination_chain_eid": eid, "amount": str(amount)}
