"""A market that is halted shows so in lists, with what halts it, and goes back when that ends."""

from typing import Any

from backend.chain import endpoints, indexer, rpc, token
from backend.chain import market as contract
from backend.markets import rules
from backend.markets.rules import Halting
from tests.chain.outside import send_as
from tests.conftest import World
from tests.issuance import SEPOLIA, UNIT, Issuance, orders_path

WHY = "Suspicion of a leaked key"


class Trading(Issuance):
    """A firm with an asset and its market."""

    of: Any
    traded: Any

    async def open(self, **body: Any) -> "Trading":
        self.of = await self.asset(**body)
        self.traded = await self.market(self.of)
        return self

    async def control(self, name: str) -> None:
        body = {"chain_eid": SEPOLIA, "reason": WHY}
        await self.succeed((await self.post(f"/assets/{self.of['id']}/{name}", body))["requestId"])

    async def shown(self) -> tuple[str, str | None]:
        """Status and reason, which every place that shows the market must agree about."""
        await indexer.pass_over(await rpc.connect(SEPOLIA))
        lists = [await self.get("/markets"), await self.get(f"/assets/{self.of['id']}/markets")]
        found = [m for page in lists for m in page["markets"]]
        found.append(await self.get(f"/assets/{self.of['id']}/markets/{self.traded['id']}"))
        (state,) = {(m["status"], m["halt_reason"]) for m in found}
        named = (await self.get("/markets", params={"status": state[0]}))["markets"]
        assert [m["id"] for m in named] == [self.traded["id"]]
        return state

    async def refusal(self, wallet: Any, side: str = "buy") -> Any:
        body = {"side": side, "price": str(10**6), "amount": str(UNIT), "wallet_id": wallet["id"]}
        return await self.refused("POST", orders_path(self.traded), 409, json=body)


async def trading(world: World, **body: Any) -> Trading:
    firm = await Trading.ready(world, SEPOLIA)
    assert isinstance(firm, Trading)
    return await firm.open(**body)


async def test_a_paused_token_halts_its_market(world: World) -> None:
    firm = await trading(world)
    trader = await firm.trader()
    assert await firm.shown() == ("active", None)
    await firm.control("pause")
    assert await firm.shown() == ("halted", "The token is paused on this chain.")
    problem = await firm.refusal(trader)
    assert [r["code"] for r in problem.rules] == [1]
    assert problem.rules[0]["resolution"]["path"].endswith("/unpause")
    await firm.control("unpause")
    assert await firm.shown() == ("active", None)
    await firm.order(firm.traded, trader, "buy", 10**6, UNIT)


async def test_its_owner_halts_it(world: World) -> None:
    firm = await trading(world)
    trader, at = await firm.trader(), firm.traded["market_address"]
    await firm.owner_call(contract.halt(at, True))
    assert await firm.shown() == ("halted", "Its owner has halted it.")
    assert [r["code"] for r in (await firm.refusal(trader)).rules] == [32]
    await firm.owner_call(token.pause(firm.traded["rwa_token_address"]))
    assert await firm.shown() == ("halted", "Its owner has halted it. The token is paused on this chain.")
    await firm.owner_call(token.unpause(firm.traded["rwa_token_address"]))
    await firm.owner_call(contract.halt(at, False))
    assert await firm.shown() == ("active", None)


async def test_a_market_that_may_not_settle_is_halted(world: World) -> None:
    firm = await trading(world)
    trader, at, of = await firm.trader(), firm.traded["market_address"], firm.traded["rwa_token_address"]
    await firm.owner_call(token.set_venue(of, at, False))
    assert await firm.shown() == ("halted", "The token does not let it settle any more.")
    assert "does not let this market settle" in (await firm.refusal(trader)).detail
    await firm.owner_call(token.set_venue(of, at))
    assert await firm.shown() == ("active", None)


async def test_a_change_of_rules_halts_it(world: World) -> None:
    """A lockup that came later, and rules that keep out everybody who is attested."""
    firm = await trading(world)
    trader = await firm.trader(level=1)
    path = f"/assets/{firm.of['id']}"

    async def change(body: Any) -> None:
        await firm.succeed((await firm.patch(path, body))["requestId"])

    await change({"compliance_rules": {"lockup_end_time": 2_000_000_000}})
    lockup = "By the token's new rules nobody but the treasury can sell until 2033-05-18 03:33 UTC."
    assert await firm.shown() == ("halted", lockup)
    assert 6 in [r["code"] for r in (await firm.refusal(trader, "sell")).rules]
    await change({"compliance_rules": {"lockup_end_time": 0}})
    assert await firm.shown() == ("active", None)

    await change({"required_kyc_level": 2})
    status, reason = await firm.shown()
    assert (status, reason) == ("halted", "By the token's new rules none of the 1 attested wallet(s) here can buy.")
    assert [r["code"] for r in (await firm.refusal(trader)).rules] == [11]
    await firm.trader(level=2)
    assert await firm.shown() == ("active", None)


async def test_what_a_reorganization_undoes_is_undone(world: World) -> None:
    """The pause is gone with its block, and the market trades again; who says so is the chain."""
    firm = await trading(world)
    node = await rpc.connect(SEPOLIA)
    assert endpoints.is_embedded(SEPOLIA)
    before, owner = await node.request("evm_snapshot"), (await firm.treasury())["address"]
    await send_as(SEPOLIA, owner, token.pause(firm.traded["rwa_token_address"]))  # ours would be sent again
    assert (await firm.shown())[0] == "halted"
    await node.request("evm_revert", before)
    await node.request("evm_mine")
    assert (await firm.shown())[0] == "active"


def test_reasons_are_told_together() -> None:
    open_ = Halting(is_halted=False, paused=False, settles=True)
    assert rules.halting(open_, 0) is None
    assert rules.halting(Halting(False, False, True, lockup_end=10), 10) is None
    assert rules.halting(Halting(False, False, True, attested=3, able=1), 0) is None
    told = rules.halting(Halting(True, True, False, 2**63, 3, 0), 0)
    assert told is not None
    assert told.count(".") == 5
    assert "9999" in told
