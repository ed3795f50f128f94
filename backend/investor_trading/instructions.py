"""Transactions for an investor's wallet, and what each does in plain words. Pure functions."""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.chain.abi.calls import Call
from backend.chain.bindings import distributor, quote_token, token
from backend.chain.bindings import market as contract
from backend.core.units import grouped, priced, shortened
from backend.investor_trading.schemas import PreparedTransaction
from backend.markets.schemas import OrderSide


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in base units of a currency or a token."""

    units: int
    decimals: int
    symbol: str

    def __str__(self) -> str:
        """Return it in whole units: `1,250.5 NREF`."""
        return f"{grouped(self.units, self.decimals)} {self.symbol}"

    def as_price(self) -> str:
        """Return it with at least two decimals: `99.80 tUSD`."""
        return f"{priced(self.units, self.decimals)} {self.symbol}"


@dataclass(frozen=True, slots=True)
class Order:
    """An order to sign. `at`: the market's contract; `spends`: the address of the token or currency that it takes;
    `named`: the orders that it fills."""

    side: OrderSide
    price: Money
    amount: Money
    at: str
    spends: str
    budget: Money
    named: Sequence[int]


def approval(order: Order) -> PreparedTransaction:
    """Return the transaction that lets the market take what the order needs, and nothing more."""
    call = (quote_token if order.side is OrderSide.BUY else token).approve(order.spends, order.at, order.budget.units)
    lines = [f"The market may take up to {order.budget} from your wallet, for this order.", "Nothing is paid yet."]
    return _prepared(call, f"Allow the market to take {order.budget}", lines)


def placing(order: Order) -> PreparedTransaction:
    """Return the transaction that places an order."""
    call = contract.place(
        order.at, side=order.side, price=order.price.units, amount=order.amount.units, hints=order.named
    )
    price = order.price.as_price()
    title = f"{order.side.value.capitalize()} {order.amount} at {price}"
    if order.side is OrderSide.BUY:
        lines = [f"The market takes up to {order.budget}, fees included. You pay {price} per token or less."]
    else:
        lines = [f"The market takes {order.amount}. You receive {price} per token or more, less the fee."]
    lines.append("What is not traded immediately stays in the market as your order. You can cancel it at any time.")
    return _prepared(call, title, lines)


def cancellation(at: str, number: int, side: OrderSide, rest: Money, price: Money) -> PreparedTransaction:
    """Return the transaction that cancels an order."""
    returned = f"{rest} return" if side is OrderSide.SELL else f"The {price.symbol} that the market holds for it return"
    lines = [f"{returned} to your wallet.", "What was traded before stays traded."]
    return _prepared(
        contract.cancel(at, number), f"Cancel your order to {side.value} {rest} at {price.as_price()}", lines
    )


def claim(at: str, index: int, account: str, amount: Money, proof: Sequence[str], name: str) -> PreparedTransaction:
    """Return the transaction that pays a recipient of a distribution."""
    call = distributor.claim(at, index, account, amount.units, proof)
    return _prepared(call, f"Claim {amount} of {name}", [f"{amount} are paid to {shortened(account)}."])


def _prepared(call: Call, title: str, lines: list[str]) -> PreparedTransaction:
    assert call.to is not None
    return PreparedTransaction(to=call.to, data=call.data, value=hex(call.value), title=title, lines=lines)
