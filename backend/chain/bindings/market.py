"""A market: limit orders between a token and a quote currency.

A price is in quote base units per whole token, an amount in token base units. A buy order needs a quote allowance of
`budget(…)`, a sell order a token allowance of its amount.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.chain.abi.calls import Call, call
from backend.chain.abi.outcome import Outcome
from backend.chain.abi.rule_sets import MarketRules
from backend.chain.errors import UnexpectedAnswer
from backend.chain.rpc.json_rpc import connect
from backend.core.errors import NotFound

NAME = "Market"
STATUSES = ("none", "open", "partial", "filled", "cancelled")
"""By their number on chain."""


@dataclass(frozen=True, slots=True)
class OrderFacts:
    """An order's state on chain. `side` is buy or sell, `status` open, partial, filled or cancelled."""

    order_id: int
    maker: str
    side: str
    status: str
    price: int
    amount: int
    filled: int


@dataclass(frozen=True, slots=True)
class MarketInfo:
    """A market's state on chain."""

    token: str
    quote: str
    fee_collector: str
    taker_fee_bps: int
    maker_fee_bps: int
    halted: bool
    owner: str
    factory: str
    rules: MarketRules


@dataclass(frozen=True, slots=True)
class Escrow:
    """What a market holds for an account: its open orders with their tokens and quote, and claimable quote; base
    units."""

    order_ids: tuple[int, ...]
    tokens: int
    quote: int


def place(at: str, *, side: str, price: int, amount: int, hints: Sequence[int] = ()) -> Call:
    """Place an order and match it with the named resting ones (at most 32), best first."""
    return call(NAME, at, "place", side == "buy", price, amount, list(hints))


def cancel(at: str, order_id: int) -> Call:
    """Cancel an order; its maker or the market's owner may."""
    return call(NAME, at, "cancel", order_id)


def halt(at: str, halted: bool) -> Call:
    """Halt or resume trading; only the owner may."""
    return call(NAME, at, "halt", halted)


def claim(at: str) -> Call:
    """Claim quote that could not be paid out before."""
    return call(NAME, at, "claim")


def _status(code: int) -> str:
    if code >= len(STATUSES):
        raise UnexpectedAnswer(f"An order has the status {code}, which Signum's markets do not have.")
    return STATUSES[code]


def placed(outcome: Outcome) -> OrderFacts:
    """Return the order that a `place` created, after its fills."""
    order = outcome.event("OrderPlaced")
    end = next(e for e in outcome.events("OrderStatus") if e["orderId"] == order["orderId"])
    return OrderFacts(
        order["orderId"],
        order["maker"],
        "buy" if order["isBuy"] else "sell",
        _status(end["status"]),
        order["price"],
        order["amount"],
        end["filled"],
    )


def _facts(order_id: int, answer: Mapping[str, Any]) -> OrderFacts:
    return OrderFacts(
        order_id,
        answer["maker"],
        "buy" if answer["isBuy"] else "sell",
        _status(answer["status"]),
        answer["price"],
        answer["amount"],
        answer["filled"],
    )


async def order(eid: int, at: str, order_id: int) -> OrderFacts:
    """Return an order's current state. Raises NotFound if the number does not exist."""
    facts = _facts(order_id, await (await connect(eid)).read(NAME, at, "getOrder", order_id))
    if facts.status == "none":
        raise NotFound(f"The market has no order {order_id}.")
    return facts


async def orders(eid: int, at: str, order_ids: Sequence[int], block: int | None = None) -> list[OrderFacts]:
    """Return several orders in one round trip, at a block or now; a missing one has the status `none`."""
    answer = await (await connect(eid)).read_many([(NAME, at, "getOrder", number) for number in order_ids], block=block)
    return [_facts(number, entry) for number, entry in zip(order_ids, answer, strict=True)]


async def escrow(eid: int, at: str, account: str, order_ids: Sequence[int]) -> Escrow:
    """Return what a market holds for an account in its own open orders among the named ones; one round trip."""
    reads = [*((NAME, at, "getOrder", number) for number in order_ids), (NAME, at, "claimable", account)]
    *answer, claimable = await (await connect(eid)).read_many(reads)
    facts = [_facts(number, entry) for number, entry in zip(order_ids, answer, strict=True)]
    live = {f.order_id: f for f in facts if f.maker == account and f.status in ("open", "partial")}
    tokens = sum(f.amount - f.filled for f in live.values() if f.side == "sell")
    held = sum(e["quoteEscrow"] for f, e in zip(facts, answer, strict=True) if f.order_id in live)
    return Escrow(tuple(live), tokens, held + int(claimable))


def order_codes(at: str, account: str, side: str, amount: int) -> tuple[Any, ...]:
    """Return the read of every restriction code that an order violates, of the market and of the token; its answer is
    empty if the order would pass."""
    return NAME, at, "checkOrder", account, side == "buy", amount


async def budget(eid: int, at: str, side: str, price: int, amount: int, hints: int = 0) -> int:
    """Return the allowance an order needs: of the quote for a buy, of the token for a sell."""
    return int(await (await connect(eid)).read(NAME, at, "budget", side == "buy", price, amount, hints))


async def rules(eid: int, at: str) -> MarketRules:
    """Return the market's rules; they never change."""
    return MarketRules.of_abi(await (await connect(eid)).read(NAME, at, "rules"))


async def info(eid: int, at: str) -> MarketInfo:
    """Return a market's data except its orders, in one round trip."""
    functions = (
        "token",
        "quote",
        "feeCollector",
        "takerFeeBps",
        "makerFeeBps",
        "halted",
        "owner",
        "factory",
        "rules",
    )
    values: list[Any]
    *values, answer = await (await connect(eid)).read_many([(NAME, at, function) for function in functions])
    values.append(MarketRules.of_abi(answer))
    return MarketInfo(*values)
