"""Workflows of an accepted order. When a request has succeeded, the order's row is in the table."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets import records
from backend.assets.models import AssetRow
from backend.assets.transaction_step import write
from backend.chain.bindings import market as contract
from backend.chain.bindings import quote_token, token
from backend.chain.indexer import indexer
from backend.core.changes import shown
from backend.core.errors import Conflict
from backend.markets import rules
from backend.markets.models import MarketRow, OrderRow
from backend.markets.rules import Resting
from backend.markets.schemas import Order, OrderSide, OrderStatus
from backend.requests.workflows import Run, StepNotes, workflow

_LIVE = (OrderStatus.OPEN, OrderStatus.PARTIAL)


@workflow("order.place")
async def place(run: Run) -> None:
    """Approve the allowance, place the order with matching orders as hints, and wait until the tables show it."""
    async with run.transaction() as session:
        market = await session.get_one(MarketRow, run.subject_id)
        asset = await records.asset(session, run.organization_id, market.asset_id)
    async with run.step("order_approved") as step:
        await _approve(run, step, market, asset)
    async with run.step("order_placed") as step:
        await _place(run, step, market)


async def _approve(run: Run, step: StepNotes, market: MarketRow, asset: AssetRow) -> None:
    """Approve the most that the order can need, so that a repeated run with other hints has enough."""
    assert market.market_address is not None
    side, price, amount, wallet = _order(run)
    fee = max(market.taker_fee_bps, market.maker_fee_bps)
    needed = rules.budget(side, price, amount, asset.decimals, fee)
    if side is OrderSide.BUY:
        call = quote_token.approve(market.quote_token_address or "", market.market_address, needed)
    else:
        call = token.approve(market.rwa_token_address or "", market.market_address, needed)
    await write(run, step, call, "approve", eid=market.chain_eid, signer=wallet, label="approve")


async def _place(run: Run, step: StepNotes, market: MarketRow) -> None:
    assert market.market_address is not None
    side, price, amount, wallet = _order(run)
    named = rules.hints(await _book(run, market.id), side, price, amount, wallet)
    call = contract.place(market.market_address, side=side, price=price, amount=amount, hints=named)
    outcome = await write(run, step, call, "place", eid=market.chain_eid, signer=wallet, label=f"{side} order")
    placed = contract.placed(outcome)
    step.detail = f"Order {placed.order_id} is {placed.status}."
    await indexer.catch_up(market.chain_eid, outcome.block_number)
    query = sa.select(OrderRow).where(
        col(OrderRow.market_id) == market.id, col(OrderRow.chain_order_id) == placed.order_id
    )
    async with run.transaction() as session:
        row: OrderRow | None = await session.scalar(query)
    if row is not None:
        run.publish("order.placed", ("order", row.id), shown(Order, row))


def _order(run: Run) -> tuple[OrderSide, int, int, str]:
    answer = run.arguments
    return OrderSide(answer["side"]), int(answer["price"]), int(answer["amount"]), str(answer["wallet"])


async def _book(run: Run, market_id: UUID) -> list[Resting]:
    query = sa.select(OrderRow).where(col(OrderRow.market_id) == market_id, col(OrderRow.status).in_(_LIVE))
    async with run.transaction() as session:
        rows = list(await session.scalars(query))
    return [_resting(r) for r in rows]


def _resting(row: OrderRow) -> Resting:
    rest = (row.amount or 0) - (row.filled or 0)
    return Resting(row.chain_order_id, row.side, row.price or 0, rest, row.maker_address)


@workflow("order.cancel")
async def cancel(run: Run) -> None:
    """Cancel on chain, and wait until the tables show it. An order that was filled in the meantime stays filled
    (409)."""
    async with run.transaction() as session:
        market = await session.get_one(MarketRow, run.subject_id)
        order = await session.get_one(OrderRow, UUID(run.arguments["order_id"]))
    assert market.market_address is not None
    async with run.step("order_cancelled") as step:
        call = contract.cancel(market.market_address, order.chain_order_id)
        outcome = await write(
            run, step, call, "cancel", eid=market.chain_eid, signer=order.maker_address, label="cancel order"
        )
        await indexer.catch_up(market.chain_eid, outcome.block_number)
        facts = await contract.order(market.chain_eid, market.market_address, order.chain_order_id)
        if facts.status != OrderStatus.CANCELLED:
            raise Conflict(f"The order is {facts.status}.")
        step.detail = f"Order {order.chain_order_id} is cancelled."
    run.publish("order.cancelled", ("order", order.id), {"status": OrderStatus.CANCELLED})
