"""A firm with a token to control, and the effects of a plan."""

from typing import Any

from backend.chain.bindings import token
from tests.conftest import World
from tests.support.firm import SEPOLIA
from tests.support.issuance import Issuance

WHY = "Order 12 of the court"


class Issuer(Issuance):
    """A firm with an asset and its controls."""

    token_at: str
    of: Any

    async def ready_asset(self, **body: Any) -> "Issuer":
        self.of = await self.asset(**body)
        self.token_at = self.of["deployments"][0]["token_address"]
        return self

    def control(self, name: str) -> str:
        return f"/assets/{self.of['id']}/{name}"

    async def do(self, name: str, **body: Any) -> Any:
        """Run a control that must succeed and return its request."""
        accepted = await self.post(self.control(name), {"chain_eid": SEPOLIA, "reason": WHY} | body)
        assert accepted["assetId"] == self.of["id"]
        return await self.succeed(accepted["requestId"])

    async def plan(self, name: str, **body: Any) -> Any:
        return await self.post(self.control(name) + "?dry_run=true", {"chain_eid": SEPOLIA, "reason": WHY} | body)

    async def no(self, name: str, status: int, **body: Any) -> Any:
        return await self.refused("POST", self.control(name), status, json={"chain_eid": SEPOLIA, "reason": WHY} | body)

    async def held(self, address: str) -> int:
        return await token.balance_of(SEPOLIA, self.token_at, address)

    async def frozen(self, address: str) -> int:
        return await token.frozen_of(SEPOLIA, self.token_at, address)

    async def give_tokens(self, wallet: Any, amount: int) -> None:
        body = {
            "asset_id": self.of["id"], "chain_eid": SEPOLIA, "from_wallet_id": (await self.treasury())["id"],
            "to_address": wallet["address"], "amount": str(amount),
        }  # fmt: skip
        await self.succeed((await self.post("/transfers", body))["requestId"])


async def issuer(world: World, **body: Any) -> Issuer:
    firm = await Issuer.ready(world, SEPOLIA)
    assert isinstance(firm, Issuer)
    return await firm.ready_asset(**body)


def changed(plan: Any) -> dict[tuple[str, str | None], tuple[str, str]]:
    return {(c["field"], c["address"]): (c["before"], c["after"]) for c in plan["impact"]["changes"]}
