"""A halted market is shown as halted in lists, with the reason, and as active afterwards."""

from typing import Any

import pytest

from backend.chain.bindings import market as contract
from backend.chain.bindings import token
from backend.chain.indexer import indexer
from backend.chain.rpc import json_rpc, node_urls
from backend.markets import rules
from backend.markets.rules import Halting
from tests.chain.transactions.foreign_wallets import send_as
from tests.conftest import World
from tests.support.issuance import SEPOLIA, UNIT, Issuance, orders_path

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
        """Return status and reason, which must be the same everywhere."""
        await indexer.pass_over(await json_rpc.connect(SEPOLIA))
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


@pytest.mark.long
async def test_token_pause_halts_the_market(world: World) -> None:
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


@pytest.mark.long
async def test_market_owner_halts_the_market(world: World) -> None:
    firm = await trading(world)
    trader, at = await firm.trader(), firm.traded["market_address"]
    await firm.owner_call(contract.halt(at, True))
    assert await firm.shown() == ("halted", "The market's owner has halted it.")
    assert [r["code"] for r in (await firm.refusal(trader)).rules] == [32]
    await firm.owner_call(token.pause(firm.traded["rwa_token_address"]))
    assert await firm.shown() == ("halted", "The market's owner has halted it. The token is paused on this chain.")
    await firm.owner_call(token.unpause(firm.traded["rwa_token_address"]))
    await firm.owner_call(contract.halt(at, False))
    assert await firm.shown() == ("active", None)


@pytest.mark.long
async def test_market_that_is_no_longer_a_venue_is_halted(world: World) -> None:
    firm = await trading(world)
    trader, at, of = await firm.trader(), firm.traded["market_address"], firm.traded["rwa_token_address"]
    await firm.owner_call(token.set_venue(of, at, False))
    assert await firm.shown() == ("halted", "The token no longer lets this market settle.")
    assert "no longer lets this market settle" in (await firm.refusal(trader)).detail
    await firm.owner_call(token.set_venue(of, at))
    assert await firm.shown() == ("active", None)


@pytest.mark.long
async def test_rule_change_halts_the_market(world: World) -> None:
    """A later lock-up, and rules that exclude every attested person."""
    firm = await trading(world)
    trader = await firm.trader(level=1)
    path = f"/assets/{firm.of['id']}"

    async def change(body: Any) -> None:
        await firm.succeed((await firm.patch(path, body))["requestId"])

    await change({"compliance_rules": {"lockup_end_time": 2_000_000_000}})
    lockup = "Under the token's new rules, only the treasury can sell until 18 May 2033, 03:33 UTC."
    assert await firm.shown() == ("halted", lockup)
    assert 6 in [r["code"] for r in (await firm.refusal(trader, "sell")).rules]
    await change({"compliance_rules": {"lockup_end_time": 0}})
    assert await firm.shown() == ("active", None)

    await change({"required_kyc_level": 2})
    status, reason = await firm.shown()
    assert (status, reason) == ("halted", "Under the token's new rules, no attested wallet of 1 here can buy.")
    assert [r["code"] for r in (await firm.refusal(trader)).rules] == [11]
    await firm.trader(level=2)
    assert await firm.shown() == ("active", None)


@pytest.mark.long
async def test_market_halt_is_undone_by_a_reorg(world: World) -> None:
    """The pause is undone with its block, and the market trades again; the chain says so."""
    firm = await trading(world)
    node = await json_rpc.connect(SEPOLIA)
    assert node_urls.is_embedded(SEPOLIA)
    before, owner = await node.request("evm_snapshot"), (await firm.treasury())["address"]
    await send_as(SEPOLIA, owner, token.pause(firm.traded["rwa_token_address"]))  # it would be sent again
    assert (await firm.shown())[0] == "halted"
    await node.request("evm_revert", before)
    await node.request("evm_mine")
    assert (await firm.shown())[0] == "active"


def test_halt_reasons_are_reported_together() -> None:
    open_ = Halting(is_halted=False, paused=False, settles=True)
    assert rules.halting(open_, 0) is None
    assert rules.halting(Halting(False, False, True, lockup_end=10), 10) is None
    assert rules.halting(Halting(False, False, True, attested=3, able=1), 0) is None
    answer = rules.halting(Halting(True, True, False, 2**63, 3, 0), 0)
    assert answer is not None
    assert answer.count(".") == 5
    assert "9999" in answer
