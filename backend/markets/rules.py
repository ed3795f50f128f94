"""Rules of markets and orders. Pure functions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from backend.core.errors import BadRequest, Conflict
from backend.markets.schemas import MarketStatus, OrderSide, OrderStatus

MAX_HINTS = 32
"""Maximum number of resting orders that an order may name (Market.MAX_HINTS)."""
BPS = 10_000
LIVE = frozenset({MarketStatus.ACTIVE, MarketStatus.HALTED})
FAR = 253_402_300_799
"""The last second of the year 9999, the latest representable time."""
FINAL_ORDERS = frozenset({OrderStatus.FILLED, OrderStatus.CANCELLED, OrderStatus.FAILED})


@dataclass(frozen=True, slots=True)
class Resting:
    """An order in the order book."""

    order_id: int
    side: OrderSide
    price: int
    rest: int
    maker: str


def check_fees(taker_bps: int, maker_bps: int) -> None:
    """Raise 400 if the fees together exceed 100%."""
    if taker_bps + maker_bps > BPS:
        raise BadRequest("Taker and maker fee together can be at most 10,000 basis points.", pointer="/taker_fee_bps")


def check_open(status: MarketStatus) -> None:
    """Raise 409 if a market does not take orders yet or anymore. For a halted market, the rules decide who is
    refused."""
    if status not in LIVE:
        raise Conflict(f"The market is {status}. Only an active market takes orders.")


@dataclass(frozen=True, slots=True)
class Halting:
    """What can halt a market. `lockup_end`: of a lock-up that the token got after the market opened (Unix time, 0 for
    none); `attested`, `able`: wallets with an attestation on the chain, and how many of them may buy under rules that
    the token got since; both 0 if the rules have not changed since the opening."""

    is_halted: bool
    paused: bool
    settles: bool
    lockup_end: int = 0
    attested: int = 0
    able: int = 0


def halting(facts: Halting, now: int) -> str | None:
    """Return why a market is halted, as text; None if it is open."""
    reasons = []
    if facts.is_halted:
        reasons.append("The market's owner has halted it.")
    if facts.paused:
        reasons.append("The token is paused on this chain.")
    if not facts.settles:
        reasons.append("The token no longer lets this market settle.")
    if facts.lockup_end > now:
        end = datetime.fromtimestamp(min(facts.lockup_end, FAR), UTC)
        reasons.append(f"Under the token's new rules, only the treasury can sell until {end:%-d %b %Y, %H:%M} UTC.")
    if facts.attested and not facts.able:
        reasons.append(f"Under the token's new rules, no attested wallet of {facts.attested} here can buy.")
    return " ".join(reasons) or None


def check_cancellable(status: OrderStatus) -> None:
    """Raise 409 if an order is not on the chain yet, or already final."""
    if status is OrderStatus.PENDING:
        raise Conflict(
            "The order is pending: it is not on the chain yet. Cancel it when it is open; if its request waits for "
            "approval, deny the request."
        )
    if status in FINAL_ORDERS:
        raise Conflict(f"The order is {status}. Only an open or partly filled order can be cancelled.")


def hints(book: Sequence[Resting], side: OrderSide, price: int, amount: int, maker: str) -> list[int]:
    """Return the resting orders that a new one would fill, best price first, then oldest; as many as it needs."""
    able = [o for o in book if o.side is not side and o.maker != maker and _crosses(o, side, price)]
    able.sort(key=lambda o: (o.price if side is OrderSide.BUY else -o.price, o.order_id))
    named: list[int] = []
    for order in able[:MAX_HINTS]:
        if amount <= 0:
            break
        named.append(order.order_id)
        amount -= order.rest
    return named


def met_by(book: Sequence[Resting], side: OrderSide, price: int, amount: int, maker: str) -> list[Resting]:
    """Return the resting orders that a new one meets until it is filled, best price first, then oldest; those of its
    own maker, which it skips, included."""
    opposite = [o for o in book if o.side is not side and _crosses(o, side, price)]
    opposite.sort(key=lambda o: (o.price if side is OrderSide.BUY else -o.price, o.order_id))
    met: list[Resting] = []
    for order in opposite:
        if amount <= 0:
            break
        met.append(order)
        amount -= 0 if order.maker == maker else order.rest
    return met


def _crosses(order: Resting, side: OrderSide, price: int) -> bool:
    return order.price <= price if side is OrderSide.BUY else order.price >= price


def budget(side: OrderSide, price: int, amount: int, decimals: int, fee_bps: int, named: int = MAX_HINTS) -> int:
    """Return the allowance an order needs (Market.budget): of the quote for a buy, of the token for a sell.

    `fee_bps` is the higher of the two fees. Each named order may round by one base unit.
    """
    if side is OrderSide.SELL:
        return amount
    unit: int = 10**decimals
    cost = -(-amount * price // unit) + named
    return cost + -(-cost * fee_bps // BPS)


def cost(price: int, amount: int, decimals: int, *, is_taker_buying: bool) -> int:
    """Return the value of a trade in base units of the quote currency, rounded against the taker (Market._tryFill)."""
    unit = int(10**decimals)
    return -(-price * amount // unit) if is_taker_buying else price * amount // unit


def check_worth(price: int, amount: int, decimals: int) -> None:
    """Raise 400 if an order's value is zero, or exceeds what a chain can count."""
    worth = price * amount // 10**decimals
    if price == 0 or amount == 0 or worth == 0:
        raise BadRequest(
            ("The order is worth less than one base unit of the quote currency. Increase price or amount."),
            pointer="/amount",
        )
    if budget(OrderSide.BUY, price, amount, decimals, BPS) > 2**256 - 1:
        raise BadRequest(
            ("Price times amount exceeds what a chain can store. Decrease price or amount."), pointer="/price"
        )
