"""A firm that issues: assets, bridges, markets and orders, created through the API to their end."""

import secrets
from typing import Any
from uuid import UUID

from backend.chain.bindings import quote_token
from backend.chain.deployment.contracts import contracts_of, operator
from backend.chain.transactions.execution import execute
from tests.conftest import World
from tests.support.firm import BASE, HYPEREVM, SEPOLIA, Firm

UNIT = 10**18


class Issuance(Firm):
    """A firm with a treasury, chains enabled and an issuer registered."""

    @classmethod
    async def ready(cls, world: World, *eids: int, parent: UUID | None = None) -> "Issuance":
        """Create one on some chains (all three by default)."""
        firm = await cls.issuing(world, *(eids or (SEPOLIA, HYPEREVM, BASE)), parent=parent)
        assert isinstance(firm, cls)
        return firm

    async def patch(self, path: str, json: Any, **options: Any) -> Any:
        """POST below the organization."""
        return await self.admin.call("PATCH", f"{self.base}{path}", json=json, **options)

    async def delete(self, path: str, **options: Any) -> Any:
        """GET below the organization."""
        return await self.admin.call("DELETE", f"{self.base}{path}", **options)

    async def asset(self, eid: int = SEPOLIA, **body: Any) -> Any:
        """Create an active asset."""
        accepted = await self.post("/assets", asset_body(eid, **body))
        await self.succeed(accepted["requestId"])
        return await self.get(f"/assets/{accepted['assetId']}")

    async def succeed(self, request_id: str) -> Any:
        """Wait for a request that must succeed."""
        request = await self.settle(request_id)
        assert request["status"] == "succeeded", request["problem"]
        return request

    async def fail(self, request_id: str) -> Any:
        """Wait for a request that must fail."""
        request = await self.settle(request_id)
        assert request["status"] == "failed", request
        return request

    async def retry(self, request_id: str, attempt: int = 2) -> Any:
        """Retry a failed request and wait."""
        assert (await self.post(f"/requests/{request_id}/retry"))["requestId"] == request_id
        return await self.settle(request_id, attempt)

    async def market_body(self, eid: int = SEPOLIA, **body: Any) -> dict[str, Any]:
        """Send a deploy request for a market."""
        factory = (await contracts_of(eid)).market_factory
        return {"chain_eid": eid, "market_factory_address": factory} | body

    async def market(self, asset: Any, eid: int = SEPOLIA, **body: Any) -> Any:
        """Deploy a market of an asset."""
        path = f"/assets/{asset['id']}/markets"
        accepted = await self.post(path, await self.market_body(eid, **body))
        await self.succeed(accepted["requestId"])
        return await self.get(f"{path}/{accepted['marketId']}")

    async def trader(self, eid: int = SEPOLIA, usd: int = 1_000_000 * 10**6, level: int = 2, **party: Any) -> Any:
        """A server wallet of an attested party, with play money."""
        wallet = await self.post("/wallets", {"label": f"Trader {secrets.token_hex(2)}"})
        made = await self.verified(wallet["address"], level, **party)
        await self.attest(made, eid)
        await self.give(eid, wallet["address"], usd)
        return wallet

    async def transfer(self, asset: Any, to_address: str, amount: int, eid: int = SEPOLIA) -> None:
        """Transfer base units from the treasury."""
        body = {
            "asset_id": asset["id"], "chain_eid": eid, "from_wallet_id": (await self.treasury())["id"],
            "to_address": to_address, "amount": str(amount),
        }  # fmt: skip
        await self.succeed((await self.post("/transfers", body))["requestId"])

    async def give(self, eid: int, address: str, usd: int) -> None:
        """Give play money."""
        at = (await contracts_of(eid)).quote_token
        assert at is not None
        call = quote_token.mint(at, address, usd)
        await execute(call.intent(f"test:{secrets.token_hex(8)}", eid=eid, signer=await operator()))

    async def owner_call(self, call: Any, eid: int = SEPOLIA) -> Any:
        """Send a call from the treasury, which owns the tokens."""
        signer = (await self.treasury())["address"]
        return await execute(call.intent(f"test:{secrets.token_hex(8)}", eid=eid, signer=signer))

    async def treasury(self) -> Any:
        """Return the default wallet."""
        return next(w for w in (await self.get("/wallets"))["wallets"] if w["is_default"])

    async def order(self, market: Any, wallet: Any, side: str, price: int, amount: int) -> Any:
        """Place an order and wait; return it."""
        path = orders_path(market)
        body = {"side": side, "price": str(price), "amount": str(amount), "wallet_id": wallet["id"]}
        accepted = await self.post(path, body)
        await self.succeed(accepted["requestId"])
        return await self.get(f"{path}/{accepted['orderId']}")


def orders_path(market: Any) -> str:
    """Return the path of a market's orders, below the organization."""
    return f"/assets/{market['asset_id']}/markets/{market['id']}/orders"


def asset_body(eid: int = SEPOLIA, **body: Any) -> dict[str, Any]:
    """Request a new asset."""
    defaults = {"name": "Harbour Fund", "symbol": "HF" + secrets.token_hex(3).upper(), "chain_eid": eid}
    return defaults | {"initial_supply": str(1_000 * UNIT)} | body


def steps_of(request: Any) -> dict[str, Any]:
    """Return a request's steps by name."""
    return {s["name"]: s for s in request["steps"]}
