"""Check and prepare orders that an investor signs with their own wallet. Signum has no key of it and stores nothing:
the indexer reads the order from the chain."""

from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets import gas, records
from backend.assets.models import AssetRow
from backend.auth.principal import Context
from backend.chain.bindings import quote_token, token
from backend.chain.transactions import lost_transactions
from backend.compliance.refusal import Refused
from backend.compliance.rules import failures
from backend.compliance.schemas import RuleVerdict
from backend.core import db
from backend.core.errors import Conflict, NotFound
from backend.core.units import grouped
from backend.investor_trading import instructions, markets, senders
from backend.investor_trading.instructions import Money, Order
from backend.investor_trading.schemas import InvestorOrderCheck, InvestorOrderCreate, PreparedTransactions
from backend.investors.rules import value
from backend.investors.schemas import RefusedRule
from backend.markets import orders as market_orders
from backend.markets import rules
from backend.markets.models import MarketRow, OrderRow
from backend.markets.schemas import OrderSide


@dataclass(frozen=True)
class Checked:
    """An order that was checked. `problem`: what prevents it beside the rules that refuse it."""

    market: MarketRow
    asset: AssetRow
    refused: list[RuleVerdict]
    problem: str | None
    held: int


async def check(context: Context, market_id: UUID, body: InvestorOrderCreate) -> InvestorOrderCheck:
    """Return every reason for which an order would not be accepted."""
    found = await _checked(context, market_id, body)
    fee_bps, total = _fee_bps(found.market), value(int(body.price), int(body.amount), found.asset.decimals)
    return InvestorOrderCheck(
        allowed=not found.refused and found.problem is None,
        refusals=[RefusedRule(rule=v.rule, code=v.code, reason=v.reason) for v in found.refused],
        problem=found.problem,
        total=str(total),
        fee=str(-(-total * fee_bps // rules.BPS)),
        holds=str(found.held),
    )


async def prepare(context: Context, market_id: UUID, body: InvestorOrderCreate) -> PreparedTransactions:
    """Return the transactions of an order: an approval if the market may not yet take enough, and the order."""
    found = await _checked(context, market_id, body)
    if found.refused:
        raise Refused(found.refused)
    if found.problem is not None:
        raise Conflict(found.problem)
    order = await _order(context, found, body)
    async with db.paused(context.session):
        allowed = await quote_token.allowance(found.market.chain_eid, order.spends, body.address, order.at)
    needs_approval = allowed < order.budget.units
    transactions = [*([instructions.approval(order)] if needs_approval else []), instructions.placing(order)]
    return await senders.prepared(context, found.market.chain_eid, body.address, transactions)


async def prepare_cancellation(context: Context, order_id: UUID) -> PreparedTransactions:
    """Return the transaction that cancels an order of the investor; 404 for an order of another."""
    await senders.counted(context)
    order, market = await _own_order(context, order_id)
    rules.check_cancellable(order.status)
    await senders.linked(context, order.maker_address)
    if (problem := await senders.lacking_gas(context, market.chain_eid, order.maker_address, gas.TRANSFER)) is not None:
        raise Conflict(problem)
    asset = await records.asset(context.session, context.organization_id, market.asset_id)
    assert order.chain_order_id is not None
    rest = Money(int((order.amount or 0) - (order.filled or 0)), asset.decimals, asset.symbol)
    transaction = instructions.cancellation(
        str(market.market_address), order.chain_order_id, order.side, rest, _quote(market, int(order.price or 0))
    )
    return await senders.prepared(context, market.chain_eid, order.maker_address, [transaction])


async def _checked(context: Context, market_id: UUID, body: InvestorOrderCreate) -> Checked:
    await senders.counted(context)
    await senders.linked(context, body.address)
    market = await _market(context, market_id)
    asset = await records.asset(context.session, context.organization_id, market.asset_id)
    rules.check_worth(int(body.price), int(body.amount), asset.decimals)
    async with lost_transactions.considered(context.session, market.chain_eid):
        found, _ = await market_orders.verdicts_of(context, market, body.address, body.side, int(body.amount))
        held, problem = await _means(context, market, asset, body)
    return Checked(market, asset, failures(found), problem, held)


async def _means(
    context: Context, market: MarketRow, asset: AssetRow, body: InvestorOrderCreate
) -> tuple[int, str | None]:
    """Return what the wallet holds of what the order needs, and what prevents the order; the rules judge what a sell
    order needs."""
    try:
        await market_orders.check_settles(context, market)
    except Conflict as refusal:
        return 0, refusal.detail
    is_buy = body.side is OrderSide.BUY
    at = str(market.quote_token_address if is_buy else market.rwa_token_address)
    async with db.paused(context.session):
        held = await (quote_token if is_buy else token).balance_of(market.chain_eid, at, body.address)
    needed = _budget(market, asset, body, rules.MAX_HINTS)
    if is_buy and held < needed:
        holds, needs = (grouped(units, market.quote_decimals or 0) for units in (held, needed))
        return held, (
            f"Your wallet holds {holds} {market.quote_symbol}. This order needs {needs} {market.quote_symbol}, fees "
            "included."
        )
    return held, await senders.lacking_gas(context, market.chain_eid, body.address, gas.ORDER)


async def _order(context: Context, found: Checked, body: InvestorOrderCreate) -> Order:
    market, asset, is_buy = found.market, found.asset, body.side is OrderSide.BUY
    price, amount = int(body.price), int(body.amount)
    named = rules.hints(await markets.resting(context, market.id), body.side, price, amount, body.address)
    budget = _budget(market, asset, body, len(named))
    whole = Money(amount, asset.decimals, asset.symbol)
    return Order(
        side=body.side,
        price=_quote(market, price),
        amount=whole,
        at=str(market.market_address),
        spends=str(market.quote_token_address if is_buy else market.rwa_token_address),
        budget=_quote(market, budget) if is_buy else whole,
        named=named,
    )


def _budget(market: MarketRow, asset: AssetRow, body: InvestorOrderCreate, named: int) -> int:
    return rules.budget(body.side, int(body.price), int(body.amount), asset.decimals, _fee_bps(market), named)


def _fee_bps(market: MarketRow) -> int:
    return max(market.taker_fee_bps, market.maker_fee_bps)


def _quote(market: MarketRow, units: int) -> Money:
    return Money(units, market.quote_decimals or 0, market.quote_symbol or "")


async def _market(context: Context, market_id: UUID) -> MarketRow:
    query = sa.select(MarketRow).where(
        col(MarketRow.id) == market_id, col(MarketRow.organization_id) == context.organization_id
    )
    row: MarketRow | None = await context.session.scalar(query)
    if row is None:
        raise NotFound("There is no market with this ID in this organization.")
    rules.check_open(row.status)
    return row


async def _own_order(context: Context, order_id: UUID) -> tuple[OrderRow, MarketRow]:
    query = (
        sa.select(OrderRow, MarketRow)
        .join(MarketRow, col(MarketRow.id) == col(OrderRow.market_id))
        .where(
            col(OrderRow.id) == order_id,
            col(OrderRow.organization_id) == context.organization_id,
            col(OrderRow.maker_address).in_(sa.select(sa.func.signum_investor_addresses())),
        )
    )
    row = (await context.session.execute(query)).one_or_none()
    if row is None:
        raise NotFound("You have no order with this ID.")
    return row[0], row[1]
