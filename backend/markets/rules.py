"""Decisions about markets and orders. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.errors import BadRequest, Conflict
from backend.markets.schemas import MarketStatus, OrderSide, OrderStatus

MAX_HINTS = 32
"""How many resting orders one order may name (Market.MAX_HINTS)."""
BPS = 10_000
FINAL_ORDERS = frozenset({OrderStatus.FILLED, OrderStatus.CANCELLED})


@dataclass(frozen=True, slots=True)
class Resting:
    """An order of the book."""

    order_id: int
    side: OrderSide
    price: int
    rest: int
    maker: str


def check_fees(taker_bps: int, maker_bps: int) -> None:
    """400 where the fees together are more than everything."""
    if taker_bps + maker_bps > BPS:
        raise BadRequest("Taker and maker fee together are at most 10,000 basis points.", pointer="/taker_fee_bps")


def check_open(status: MarketStatus) -> None:
    """409 where a market takes no orders."""
    if status is not MarketStatus.ACTIVE:
        raise Conflict(f"The market is {status}; orders are taken when it is active.")


def check_cancellable(status: OrderStatus) -> None:
    """409 where an order has come to its end."""
    if status in FINAL_ORDERS:
        raise Conflict(f"The order is {status}, which is final.")


def hints(book: Sequence[Resting], side: OrderSide, price: int, amount: int, maker: str) -> list[int]:
    """The resting orders that a new one would trade with, best price first, then oldest; as many as it needs."""
    able = [o for o in book if o.side is not side and o.maker != maker and _crosses(o, side, price)]
    able.sort(key=lambda o: (o.price if side is OrderSide.BUY else -o.price, o.order_id))
    named: list[int] = []
    for order in able[:MAX_HINTS]:
        if amount <= 0:
            break
        named.append(order.order_id)
        amount -= order.rest
    return named


def _crosses(order: Resting, side: OrderSide, price: int) -> bool:
    return order.price <= price if side is OrderSide.BUY else order.price >= price


def budget(side: OrderSide, price: int, amount: int, decimals: int, fee_bps: int, named: int = MAX_HINTS) -> int:
    """The allowance an order needs (Market.budget): of the quote for a buy, of the token for a sell.

    `fee_bps` is the higher of the two fees. Each order named may round by one base unit.
    """
    if side is OrderSide.SELL:
        return amount
    unit: int = 10**decimals
    cost = -(-amount * price // unit) + named
    return cost + -(-cost * fee_bps // BPS)


def check_worth(price: int, amount: int, decimals: int) -> None:
    """400 where an order is worth nothing, or more than a chain can count."""
    worth = price * amount // 10**decimals
    if price == 0 or amount == 0 or worth == 0:
        raise BadRequest("The order is worth less than one base unit of the quote currency.", pointer="/amount")
    if budget(OrderSide.BUY, price, amount, decimals, BPS) > 2**256 - 1:
        raise BadRequest("Price times amount is larger than a chain can hold.", pointer="/price")
