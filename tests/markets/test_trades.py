"""Trades, a market's totals, and the events of orders: as on the chain, once each, also when it is read again."""

from datetime import datetime
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.chain.indexer import reread
from backend.chain.indexer.block_spans import Span
from backend.chain.rpc.json_rpc import connect
from backend.core import db
from backend.markets.indexed_events import Orders
from backend.models import TradeRow
from tests.conftest import World
from tests.support.firm import SEPOLIA, Firm
from tests.support.issuance import UNIT, Issuance, orders_path
from tests.webhooks.conftest import Endpoint, receiver
from tests.webhooks.receiver import Receiver

pytestmark = pytest.mark.long

__all__ = ["receiver"]
USD = 10**6
FEES = {"taker_fee_bps": 100, "maker_fee_bps": 50}


async def traded(firm: Issuance) -> tuple[Any, list[Any]]:
    """Return a market with two trades, with the chain's height before them, and its orders: a sell order of the
    treasury, partly filled by a buy order that was filled completely, and then filled by one that is partly open."""
    market = await firm.market(await firm.asset(), **FEES)
    market["height"] = await (await connect(SEPOLIA)).height()
    treasury, buyer = await firm.treasury(), await firm.trader()
    orders = [
        await firm.order(market, treasury, "sell", 10 * USD, 10 * UNIT),
        await firm.order(market, buyer, "buy", 11 * USD, 4 * UNIT),
        await firm.order(market, buyer, "buy", 10 * USD, 8 * UNIT),
    ]
    return market | await firm.get(market_path(market)), orders


def market_path(market: Any) -> str:
    return orders_path(market).removesuffix("/orders")


def trades_path(market: Any) -> str:
    return orders_path(market).removesuffix("orders") + "trades"


async def block_time(number: int) -> int:
    block = await (await connect(SEPOLIA)).request("eth_getBlockByNumber", hex(number), False)
    return int(block["timestamp"], 16)


async def rewound(block: int) -> None:
    """Undo the events of all markets above a block."""
    async with db.worker() as session:
        await Orders().rewind(session, SEPOLIA, block)


async def test_trades_have_price_amount_fees_orders_and_the_time_of_their_block(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    market, (sell, first, second) = await traded(firm)
    last, one = (await firm.get(trades_path(market)))["trades"]
    facts = ("price", "amount", "value", "taker_fee", "maker_fee", "taker_side", "maker_order_id", "taker_order_id")
    amounts = (str(10 * USD), str(4 * UNIT), str(40 * USD), str(400_000), str(200_000))
    assert tuple(one[name] for name in facts) == (*amounts, "buy", sell["id"], first["id"])
    amounts = (str(10 * USD), str(6 * UNIT), str(60 * USD), str(600_000), str(300_000))
    assert tuple(last[name] for name in facts) == (*amounts, "buy", sell["id"], second["id"])
    assert (one["buyer_address"], one["seller_address"]) == (first["maker_address"], sell["maker_address"])
    assert (one["buyer_name"], one["seller_name"]) == (first["maker_name"], sell["maker_name"])
    assert (one["tx_hash"], one["finality"], one["chain_eid"]) == (first["tx_hash"], "final", SEPOLIA)
    executed = datetime.fromisoformat(one["executed_at"])
    assert executed.timestamp() == await block_time(one["block_number"])
    assert (market["last_price"], market["volume"]) == (str(10 * USD), str(10 * UNIT))
    assert market["last_trade_at"] == last["executed_at"]
    (listed,) = (await firm.get(f"/assets/{market['asset_id']}/markets"))["markets"]
    assert (listed["last_price"], listed["volume"]) == (market["last_price"], market["volume"])


async def test_trades_are_listed_in_pages_and_by_order(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    market, (sell, first, _) = await traded(firm)
    path = trades_path(market)
    both = (await firm.get(path))["trades"]
    page = await firm.get(path, params={"limit": "1"})
    rest = await firm.get(path, params={"limit": "1", "cursor": page["nextCursor"]})
    assert page["trades"] + rest["trades"] == both
    assert rest["nextCursor"] is None
    assert (await firm.get(path, params={"orderId": sell["id"]}))["trades"] == both
    assert (await firm.get(path, params={"orderId": first["id"]}))["trades"] == both[1:]
    assert (await firm.get(path, params={"orderId": market["id"]}))["trades"] == []
    for cursor, code in {"x": 400, "WyIxIiwieCJd": 422}.items():
        await firm.refused("GET", path, code, params={"cursor": cursor})
    await firm.refused("GET", path.replace(market["id"], market["asset_id"]), 404)


async def test_trades_and_orders_of_another_organization_are_not_found(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    market, (sell, *_) = await traded(firm)
    other = await Firm.found(world, "Elsewhere")
    await other.refused("GET", trades_path(market), 404)
    await other.refused("GET", f"{orders_path(market)}/{sell['id']}", 404)
    async with db.step(other.id) as session:
        seen = sa.select(sa.func.count()).select_from(TradeRow).where(col(TradeRow.market_id) == UUID(market["id"]))
        assert await session.scalar(seen) == 0
    async with db.step(firm.id) as session:
        assert await session.scalar(seen) == 2


async def test_rewind_removes_trades_and_reading_again_restores_them_with_the_same_ids(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    market, orders = await traded(firm)
    at = market_path(market)
    before = [await firm.get(path) for path in (at, orders_path(market), trades_path(market))]
    last, one = before[2]["trades"]

    await rewound(last["block_number"] - 1)
    assert (await firm.get(trades_path(market)))["trades"] == [one]
    totals = await firm.get(at)
    assert (totals["last_price"], totals["volume"]) == (str(10 * USD), str(4 * UNIT))
    undone = await firm.get(f"{orders_path(market)}/{orders[2]['id']}")
    assert (undone["status"], undone["chain_order_id"], undone["tx_hash"], undone["filled"]) == (
        "pending", None, None, "0",
    )  # fmt: skip
    assert (await firm.get(f"{orders_path(market)}/{orders[0]['id']}"))["status"] == "partial"
    await firm.refused("DELETE", f"{orders_path(market)}/{undone['id']}", 409)

    await rewound(market["height"])
    totals = await firm.get(at)
    assert (totals["last_price"], totals["last_trade_at"], totals["volume"]) == (None, None, "0")
    assert {order["status"] for order in (await firm.get(orders_path(market)))["orders"]} == {"pending"}

    assert await reread.reread(SEPOLIA, market["market_address"]) > 0
    after = [await firm.get(path) for path in (at, orders_path(market), trades_path(market))]
    for record in (before[0], after[0], *before[1]["orders"], *after[1]["orders"]):
        del record["updated_at"]
    assert after == before


async def test_wrong_trade_is_corrected(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    market, _ = await traded(firm)
    before = (await firm.get(trades_path(market)))["trades"]
    async with db.worker() as session:
        mine = col(TradeRow.market_id) == UUID(market["id"])
        await session.execute(sa.update(TradeRow).where(mine).values(amount=1))
    assert await reread.reread(SEPOLIA, market["market_address"]) > 0
    assert (await firm.get(trades_path(market)))["trades"] == before
    assert (await firm.get(market_path(market)))["volume"] == str(10 * UNIT)
    async with db.worker() as session:
        span = Span(before[0]["block_number"], None)
        assert await Orders().correct(session, SEPOLIA, market["market_address"], span, []) > 0
    assert (await firm.get(trades_path(market)))["trades"] == before[1:]


async def test_orders_and_trades_are_announced_once(world: World, receiver: Receiver) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    end = await Endpoint.made(
        world, receiver.url, firm.id, event_types=[
            "order.placed", "order.partially_filled", "order.filled", "order.cancelled", "order.failed",
            "trade.executed",
        ],
    )  # fmt: skip
    market, (sell, first, second) = await traded(firm)
    path = orders_path(market)
    await firm.succeed((await firm.delete(f"{path}/{second['id']}"))["requestId"])

    async def announced() -> list[tuple[str, str]]:
        found = [d["payload"] for d in await end.deliveries()]
        return [(payload["type"], payload["data"]["id"]) for payload in reversed(found)]

    last, one = (await firm.get(trades_path(market)))["trades"]
    expected = [
        ("order.placed", sell["id"]),
        ("order.placed", first["id"]),
        ("trade.executed", one["id"]),
        ("order.partially_filled", sell["id"]),
        ("order.filled", first["id"]),
        ("order.placed", second["id"]),
        ("trade.executed", last["id"]),
        ("order.filled", sell["id"]),
        ("order.partially_filled", second["id"]),
        ("order.cancelled", second["id"]),
    ]
    assert await announced() == expected
    payloads = {(p["type"], p["data"]["id"]): p["data"] for d in await end.deliveries() if (p := d["payload"])}
    trade = payloads["trade.executed", one["id"]]
    place = {"asset_id": market["asset_id"], "market_id": market["id"], "chain_eid": SEPOLIA}
    assert trade == place | {
        "object": "trade", "id": one["id"], "organization_id": str(firm.id), "tx_hash": one["tx_hash"],
        "maker_order_id": sell["id"], "taker_order_id": first["id"],
    }  # fmt: skip
    assert payloads["order.filled", sell["id"]] == place | {
        "object": "order", "id": sell["id"], "organization_id": str(firm.id), "status": "filled",
        "request_id": sell["request_id"], "tx_hash": last["tx_hash"],
    }  # fmt: skip

    await rewound(market["height"])
    await reread.reread(SEPOLIA, market["market_address"])
    assert (await firm.get(f"{path}/{second['id']}"))["status"] == "cancelled"
    assert await announced() == expected
    entries = (await firm.get("/audit", params={"action": "trade.executed"}))["audit"]
    assert [(e["subject"]["id"], e["actor"]) for e in entries] == [
        (last["id"], str(firm.admin.user_id)),
        (one["id"], str(firm.admin.user_id)),
    ]
