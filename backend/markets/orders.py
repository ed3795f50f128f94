"""Place and check orders. The workflow sends what is accepted here, and the indexer sets the rows to the chain's
events."""

from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets import gas, records, transfer_check
from backend.assets.models import AssetRow
from backend.assets.transfer_check import Place
from backend.attestations.revocations import resolved
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.chain.bindings import market as contract
from backend.chain.bindings import quote_token, token
from backend.chain.devnet import clock
from backend.chain.transactions import lost_transactions
from backend.chains import new_activity
from backend.compliance import resolutions
from backend.compliance.refusal import Refused, Underfunded
from backend.compliance.rules import evaluate_order, failures
from backend.compliance.schemas import RuleVerdict, TransferVerdict
from backend.core import db
from backend.core.changes import publish, shown
from backend.core.errors import Conflict, NotFound
from backend.core.units import grouped
from backend.markets import own_orders, rules, service
from backend.markets.models import MarketRow, OrderRow
from backend.markets.order_words import words_of
from backend.markets.schemas import (
    Order,
    OrderAccepted,
    OrderCheck,
    OrderCreate,
    OrderImpact,
    OrderPlan,
    OrderSide,
)
from backend.markets.terms import market_rules
from backend.requests.accept import accept, acceptance_message
from backend.requests.service import Step
from backend.test_funds import service as test_funds
from backend.wallets.models import WalletRow
from backend.wallets.schemas import WalletKind

UNSETTLED = "The token no longer lets this market settle, so it takes no orders."


@dataclass(frozen=True)
class Trader:
    """A server wallet of the organization in one of its markets."""

    market: MarketRow
    asset: AssetRow
    wallet: WalletRow


async def _placeable(context: Context, asset_id: UUID, market_id: UUID, body: OrderCreate) -> Trader:
    """Return the trader of a new order, after every check."""
    trader = await _trader(context, asset_id, market_id, body.wallet_id)
    await new_activity.check(context, trader.market.chain_eid)
    rules.check_open(trader.market.status)
    rules.check_worth(int(body.price), int(body.amount), trader.asset.decimals)
    async with lost_transactions.considered(context.session, trader.market.chain_eid):
        await _check_on_chain(context, trader, body)
    return trader


async def placing_plan(context: Context, asset_id: UUID, market_id: UUID, body: OrderCreate) -> OrderPlan:
    """Run every check of an order, and return what it would commit."""
    trader = await _placeable(context, asset_id, market_id, body)
    market = trader.market
    impact = OrderImpact(
        market_id=market_id,
        side=body.side,
        price=body.price,
        wallet_address=trader.wallet.address,
        amount=str(_needed(trader, body)),
        currency=str(market.quote_symbol) if body.side is OrderSide.BUY else trader.asset.symbol,
        own_orders=await own_orders.met_by(context, market_id, body, trader.wallet.address),
    )
    return OrderPlan(steps=["Allow the market to take what the order gives", "Place the order"], impact=impact)


async def place(context: Context, asset_id: UUID, market_id: UUID, body: OrderCreate) -> OrderAccepted:
    """Create an order's request, after checking every rule of market and token."""
    trader = await _placeable(context, asset_id, market_id, body)
    order = await _insert(context, trader, body)
    request = await accept(
        context,
        "order.place",
        f"{body.side.title()} {await words_of(context, trader.market, trader.asset, order)}",
        subject=("order", order.id),
        scope=Scope.TRANSFERS_WRITE,
        order=market_id,
        steps=[
            Step("order_approved", "Allow the market to take what the order gives", trader.market.chain_eid),
            Step("order_placed", "Place the order", trader.market.chain_eid),
        ],
        arguments={"asset_id": str(asset_id), "market_id": str(market_id)},
    )
    order.request_id = request.id
    await context.session.flush()
    subject, asked = ("order", order.id), shown(Order, order, asset_id=asset_id)
    await publish(context.session, context.organization_id, "order.requested", subject, None, asked)
    return OrderAccepted(
        orderId=order.id,
        marketId=market_id,
        status=request.status,
        request_id=str(request.id),
        message=acceptance_message(request, "The order is being placed."),
    )


async def _insert(context: Context, trader: Trader, body: OrderCreate) -> OrderRow:
    order = OrderRow(
        organization_id=context.organization_id,
        market_id=trader.market.id,
        side=body.side,
        price=int(body.price),
        amount=int(body.amount),
        maker_address=trader.wallet.address,
    )
    context.session.add(order)
    await context.session.flush()
    return order


async def _trader(context: Context, asset_id: UUID, market_id: UUID, wallet_id: UUID) -> Trader:
    market = await service.market(context, asset_id, market_id)
    asset = await records.asset(context.session, context.organization_id, asset_id)
    wallet: WalletRow | None = await context.session.scalar(
        sa.select(WalletRow).where(
            col(WalletRow.id) == wallet_id, col(WalletRow.organization_id) == context.organization_id
        )
    )
    if wallet is None:
        raise NotFound("There is no wallet with this ID in this organization.")
    if wallet.kind is not WalletKind.SERVER:
        raise Conflict("Orders are signed by server wallets. Signum does not hold this wallet's key.")
    return Trader(market, asset, wallet)


async def check(context: Context, asset_id: UUID, market_id: UUID, body: OrderCheck) -> TransferVerdict:
    """Return every rule's verdict on a hypothetical order, and whether the market's contract agrees."""
    market = await service.market(context, asset_id, market_id)
    if market.market_address is None:
        raise Conflict(f"The market is {market.status}. Orders can be checked after it is deployed.")
    verdicts, codes = await verdicts_of(context, market, body.address, body.side, int(body.amount))
    failed = failures(verdicts)
    return TransferVerdict(
        allowed=not failed,
        chain_agrees=[v.code for v in failed] == codes,
        rules=await resolved(context, verdicts, asset_id, market.chain_eid, body.address, body.address),
    )


@dataclass
class _Findings:
    """What the chain says about an order. What follows a refusal is not read."""

    verdicts: list[RuleVerdict]
    cost: records.Cost | None = None
    held: int | None = None
    """Base units of the quote currency that the buyer holds."""
    is_test: bool = False


async def _check_on_chain(context: Context, trader: Trader, body: OrderCreate) -> None:
    """Raise 409 with every failed rule, or if the market cannot settle, or the wallet lacks gas or the quote currency.
    The chain is read in one pause, because each one begins another transaction."""
    market, address = trader.market, trader.wallet.address
    place = await transfer_check.place_of(context, market.asset_id, market.chain_eid)
    async with db.paused(context.session):
        found = await _read(place, trader, body)
    if refused := failures(found.verdicts):
        raise Refused(await resolved(context, refused, trader.asset.id, market.chain_eid, address, address))
    if found.cost is None:
        raise Conflict(UNSETTLED)
    await records.check_covered(context.session, trader.wallet, market.chain_eid, found.cost)
    if found.held is not None:
        _check_means(trader, _needed(trader, body), found.held, found.is_test)


async def _read(place: Place, trader: Trader, body: OrderCreate) -> _Findings:
    market, address, eid = trader.market, trader.wallet.address, trader.market.chain_eid
    found = _Findings((await _verdicts(place, market, address, body.side, int(body.amount)))[0])
    if failures(found.verdicts) or not await _settles(market):
        return found
    found.cost = await records.cost_on_chain(address, eid, gas.ORDER)
    if body.side is OrderSide.BUY and found.cost.is_covered:
        currency = str(market.quote_token_address)
        found.held = await quote_token.balance_of(eid, currency, address)
        found.is_test = found.held < _needed(trader, body) and await test_funds.is_test_currency(eid, currency)
    return found


async def verdicts_of(
    context: Context, market: MarketRow, address: str, side: OrderSide, amount: int
) -> tuple[list[RuleVerdict], list[int]]:
    """Return every rule's verdict on an order of an address, and the codes that the market's contract refuses with,
    both of one block."""
    place = await transfer_check.place_of(context, market.asset_id, market.chain_eid)
    async with db.paused(context.session):
        return await transfer_check.agreed(lambda: _verdicts(place, market, address, side, amount))


async def _verdicts(
    place: Place, market: MarketRow, address: str, side: OrderSide, amount: int
) -> tuple[list[RuleVerdict], list[int]]:
    is_buy, at = side is OrderSide.BUY, str(market.market_address)
    asked = [(contract.NAME, at, "halted"), contract.order_codes(at, address, side, amount)]
    facts = await transfer_check.facts_of(place, address, also=asked)
    (account,), (halted, codes), now = facts.accounts, facts.answers, clock.moment()
    return evaluate_order(facts.rules, market_rules(market), account, is_buy, amount, now, facts.state, halted), list(
        codes
    )


async def check_settles(context: Context, market: MarketRow) -> None:
    """Raise 409 if the token's owner has removed the venue: an order there could never settle."""
    async with db.paused(context.session):
        settles = await _settles(market)
    if not settles:
        raise Conflict(UNSETTLED)


async def _settles(market: MarketRow) -> bool:
    return await token.is_venue(market.chain_eid, str(market.rwa_token_address), str(market.market_address))


def _check_means(trader: Trader, needed: int, held: int, is_test: bool) -> None:
    """Raise 409 if the wallet lacks the quote currency for a buy order."""
    market = trader.market
    if held >= needed:
        return
    holds, needs = (f"{grouped(n, market.quote_decimals or 0)} {market.quote_symbol}" for n in (held, needed))
    detail = (
        f'The wallet "{trader.wallet.label}" ({trader.wallet.address}) holds {holds}; '
        f"the order needs {needs}, fees included."
    )
    if not is_test:
        raise Conflict(detail)
    wallet, lacks = trader.wallet, needed - held
    raise Underfunded(detail, resolutions.test_funds(wallet.organization_id, wallet.id, market.chain_eid, lacks))


def _needed(trader: Trader, body: OrderCreate) -> int:
    """Return the most that an order can use of its currency."""
    fee = max(trader.market.taker_fee_bps, trader.market.maker_fee_bps)
    return rules.budget(body.side, int(body.price), int(body.amount), trader.asset.decimals, fee)
