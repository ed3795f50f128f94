"""Transactions that an investor signs with their own wallet: what they do is what they say."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio
import sqlalchemy as sa
from eth_abi.abi import decode
from sqlmodel import col

from backend.chain.indexer import indexer, reread
from backend.chain.rpc import node_urls
from backend.client import SignumClient
from backend.compliance.rules import MARKET_NOT_ATTESTED, RECEIVER_NOT_ATTESTED
from backend.core import db
from backend.core.units import grouped
from backend.models import ClaimRow
from tests.conftest import World
from tests.distributions.test_distributions import activated, draft_distribution, path_of
from tests.investors.scene import USD, Investor, Scene
from tests.investors.test_statements import lines_of
from tests.support.firm import refused
from tests.support.issuance import SEPOLIA, UNIT, Issuance
from tests.support.own_wallet import FAUCET, OwnWallet
from tests.users.test_linked_wallets import link


@dataclass
class Trade:
    """An investor with a linked wallet of their own, and a market in which the treasury sells 10 at 100."""

    firm: Issuance
    asset: Any
    market: Any
    investor: Investor
    wallet: OwnWallet

    @property
    def at(self) -> str:
        """Return the path of the investor."""
        return f"/investor/{self.investor.membership}"

    async def post(self, path: str, body: Any = None) -> Any:
        """POST below the investor's membership."""
        return await self.investor.actor.call("POST", f"{self.at}{path}", json=body)

    def order(self, side: str, price: float, amount: float, **other: Any) -> dict[str, Any]:
        """Return the body of an order."""
        body = {"address": self.wallet.address, "side": side}
        return body | {"price": str(int(price * USD)), "amount": str(int(amount * UNIT))} | other

    async def prepared(self, path: str, body: Any = None) -> list[Any]:
        """Prepare, send everything, and wait until the tables show it; return the transactions."""
        answer = await self.post(path, body)
        assert answer["from_address"] == self.wallet.address
        assert OwnWallet(answer["chain"]["rpc_url"]).ask("eth_chainId") == answer["chain"]["chain_id"]
        for transaction in answer["transactions"]:
            receipt = self.wallet.send(*(transaction[name] for name in ("to", "data", "value")))
        await indexer.catch_up(SEPOLIA, int(receipt["blockNumber"], 16))
        return list(answer["transactions"])

    async def orders(self) -> list[Any]:
        """Return the investor's orders."""
        return list((await self.investor.get("/orders"))["orders"])


@pytest_asyncio.fixture(scope="module")
async def trade(scene: Scene, client: SignumClient) -> Trade:
    """Created once."""
    world, firm = World(client), scene.firm
    asset = await firm.asset(required_kyc_level=2, compliance_rules={"blocked_countries": ["PRK"]})
    market = await firm.market(asset)
    await firm.order(market, await firm.treasury(), "sell", 100 * USD, 10 * UNIT)
    wallet = OwnWallet(node_urls.urls_of(SEPOLIA)[0])
    investor = await Investor.of(world, firm.id)
    await link(world, investor.actor, wallet.account)
    party = await firm.party(wallet.address, email=investor.actor.email)
    await firm.admin.call("POST", f"/identity/parties/{party['id']}/verify", json={"kyc_level": 2})
    await firm.attest(party)
    wallet.fund()
    wallet.send(market["quote_token_address"], FAUCET)
    return Trade(firm, asset, market, investor, wallet)


async def test_investor_buys_sells_and_cancels_with_their_own_wallet(trade: Trade) -> None:
    path = f"/markets/{trade.market['id']}"
    book = await trade.investor.get(path)
    assert (book["asks"], book["bids"]) == ([{"price": str(100 * USD), "amount": str(10 * UNIT)}], [])
    assert book["market"]["best_ask"] == str(100 * USD)

    body = trade.order("buy", 101, 12)
    check = await trade.post(f"{path}/order-check", body)
    assert (check["allowed"], check["refusals"], check["problem"]) == (True, [], None)
    assert (check["total"], check["holds"]) == (str(1212 * USD), str(10_000 * USD))
    approval, order = await trade.prepared(f"{path}/orders/prepare", body)
    spender, units = decode(["address", "uint256"], bytes.fromhex(approval["data"][10:]))
    assert (spender, approval["to"]) == (trade.market["market_address"].lower(), trade.market["quote_token_address"])
    assert approval["title"] == f"Allow the market to take {grouped(units, 6)} tUSD"
    is_buy, price, amount, named = decode(
        ["bool", "uint256", "uint256", "uint256[]"], bytes.fromhex(order["data"][10:])
    )
    assert (is_buy, price, amount, len(named)) == (True, 101 * USD, 12 * UNIT, 1)
    assert order["title"] == f"Buy 12 {trade.asset['symbol']} at 101.00 tUSD"
    assert order["to"] == trade.market["market_address"]
    assert f"up to {grouped(units, 6)} tUSD" in order["lines"][0]

    [bought] = await trade.orders()
    assert (bought["status"], bought["filled"]) == ("partial", str(10 * UNIT))
    own = next(o for o in (await trade.firm.get(orders_of(trade)))["orders"] if o["id"] == bought["id"])
    assert own["request_id"] is None
    [done] = (await trade.investor.get("/trades"))["trades"]
    assert (done["side"], done["price"], done["amount"], done["value"]) == (
        "buy", str(100 * USD), str(10 * UNIT), str(1000 * USD),
    )  # fmt: skip
    assert int(done["fee"]) > 0

    [cancelled] = await trade.prepared(f"/orders/{bought['id']}/cancel/prepare")
    assert cancelled["title"] == f"Cancel your order to buy 2 {trade.asset['symbol']} at 101.00 tUSD"
    assert [o["status"] for o in await trade.orders()] == ["cancelled"]
    problem = await refused(trade.investor.actor, "POST", f"{trade.at}/orders/{bought['id']}/cancel/prepare", 409)
    assert "cancelled" in problem.detail

    await trade.prepared(f"{path}/orders/prepare", trade.order("sell", 102, 4))
    [sold, _] = await trade.orders()
    assert (sold["side"], sold["status"], sold["amount"]) == ("sell", "open", str(4 * UNIT))
    assert (await trade.investor.get(path))["market"]["best_ask"] == str(102 * USD)


def orders_of(trade: Trade) -> str:
    return f"/assets/{trade.asset['id']}/markets/{trade.market['id']}/orders"


async def test_order_that_the_rules_or_the_wallet_refuse_is_not_prepared(trade: Trade, world: World) -> None:
    path = f"/markets/{trade.market['id']}"
    too_much = trade.order("buy", 101, 1000)
    check = await trade.post(f"{path}/order-check", too_much)
    assert (check["allowed"], check["refusals"]) == (False, [])
    assert "This order needs 101," in check["problem"]
    problem = await refused(trade.investor.actor, "POST", f"{trade.at}{path}/orders/prepare", 409, json=too_much)
    assert problem.detail == check["problem"]

    another = OwnWallet(trade.wallet.url)
    await refused_at(trade, f"{path}/order-check", 400, trade.order("buy", 101, 1, address=another.address))
    await link(world, trade.investor.actor, another.account)
    check = await trade.post(f"{path}/order-check", trade.order("buy", 101, 1, address=another.address))
    assert {r["code"] for r in check["refusals"]} == {RECEIVER_NOT_ATTESTED, MARKET_NOT_ATTESTED}
    problem = await refused_at(
        trade, f"{path}/orders/prepare", 409, trade.order("buy", 101, 1, address=another.address)
    )
    assert {rule["code"] for rule in problem.rules} == {r["code"] for r in check["refusals"]}
    assert "/orgs/" not in str(problem.rules), "an investor can call none of the organization's operations"


async def refused_at(trade: Trade, path: str, status: int, body: Any) -> Any:
    return await refused(trade.investor.actor, "POST", f"{trade.at}{path}", status, json=body)


async def test_wallet_that_is_not_linked_signs_nothing(scene: Scene) -> None:
    ada = scene.ada
    body = {"address": ada.wallet["address"], "side": "sell", "price": "1000000", "amount": str(UNIT)}
    for path, sent in (
        (f"/markets/{scene.market['id']}/order-check", body),
        (f"/orders/{ada.order['id']}/cancel/prepare", None),
    ):
        problem = await refused(ada.actor, "POST", f"/investor/{ada.membership}{path}", 409, json=sent)
        assert "You have not linked this wallet" in problem.detail


async def test_orders_and_claims_of_another_investor_do_not_exist(scene: Scene, trade: Trade) -> None:
    await refused_at(trade, f"/orders/{scene.ada.order['id']}/cancel/prepare", 404, None)
    [claim] = (await scene.ada.get("/claims"))["claims"]
    path = f"/claims/{claim['distribution_id']}/prepare"
    for address in (trade.wallet.address, scene.ada.wallet["address"]):
        await refused_at(trade, path, 404, {"address": address})


@pytest.mark.long
async def test_investor_claims_in_the_asset_and_in_the_quote_currency(trade: Trade, api: Any) -> None:
    await trade.firm.give(SEPOLIA, (await trade.firm.treasury())["address"], 1_000 * USD)
    asset = await draft_distribution(trade.firm, trade.asset, (trade.wallet.address, 5 * UNIT))
    body = {
        "name": "Coupon", "chain_eid": SEPOLIA, "currency": "quote",
        "recipients": [{"address": trade.wallet.address, "amount": str(7 * USD)}],
    }  # fmt: skip
    money = await trade.firm.post(path_of(trade.asset), body)
    for made, words in ((asset, f"5 {trade.asset['symbol']} of Dividend"), (money, "7 tUSD of Coupon")):
        await activated(trade.firm, trade.asset, made)
        [waiting] = [c for c in await claims(trade) if c["state"] == "waiting"]
        [transaction] = await trade.prepared(
            f"/claims/{waiting['distribution_id']}/prepare", {"address": waiting["address"]}
        )
        assert transaction["title"] == f"Claim {words}"
        assert transaction["title"].startswith(
            f"Claim {grouped(waiting['amount'], waiting['decimals'])} {waiting['symbol']}"
        )
        assert [c["state"] for c in await claims(trade) if c["distribution_id"] == made["id"]] == ["claimed"]
    problem = await refused_at(trade, f"/claims/{money['id']}/prepare", 409, {"address": trade.wallet.address})
    assert "already claimed" in problem.detail

    [tokens, coupon] = paid = await payments(trade, api)
    assert (tokens["in"], tokens["value"], coupon["in"]) == ("5", "", "")
    assert (coupon["value"], coupon["currency"], coupon["balance"]) == ("7", "tUSD", tokens["balance"])
    async with db.worker() as session:
        at = sa.update(ClaimRow).where(col(ClaimRow.tx_hash) == coupon["tx_hash"])
        await session.execute(at.values(created_at=db.now() - timedelta(days=40)))
    assert await payments(trade, api) == [tokens]
    distributor = (await trade.firm.get(path_of(trade.asset, money)))["distributor_address"]
    assert await reread.reread(SEPOLIA, distributor) == 1, "the time of a claim is that of its block"
    assert await payments(trade, api) == paid


async def claims(trade: Trade) -> list[Any]:
    return list((await trade.investor.get("/claims"))["claims"])


async def payments(trade: Trade, api: Any) -> list[dict[str, str]]:
    """Return the distributions in the statement of the current month."""
    month = (await trade.investor.get("/statements"))["statements"][0]["month"]
    return [line for line in await lines_of(api, trade.investor, month) if line["entry"] == "distribution"]
