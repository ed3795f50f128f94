"""Workflows of an accepted order. When a request has succeeded, the order's row is as on the chain."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets import records
from backend.assets.models import AssetRow
from backend.assets.transaction_step import write
from backend.chain.bindings import market as contract
from backend.chain.bindings import quote_token, token
from backend.chain.errors import Undone
from backend.chain.indexer import indexer
from backend.core.changes import publish, shown
from backend.core.db import Write
from backend.core.errors import Conflict, SignumError
from backend.markets import rules
from backend.markets.models import MarketRow, OrderRow
from backend.markets.rules import Resting
from backend.markets.schemas import Order, OrderSide, OrderStatus
from backend.requests.runs import Run, StepNotes
from backend.requests.workflows import workflow

_LIVE = (OrderStatus.OPEN, OrderStatus.PARTIAL)


async def place_failed(run: Run, error: SignumError) -> None:
    """Mark the order as failed, unless it is on the chain and only the request did not finish."""
    async with run.transaction() as session:
        order: OrderRow = await session.get_one(OrderRow, run.subject_id, with_for_update=True)
        if order.status is OrderStatus.FAILED or (order.chain_order_id and not isinstance(error, Undone)):
            return
        order.status, order.failure, order.filled = OrderStatus.FAILED, error.detail, 0
        order.chain_order_id = order.tx_hash = order.block_number = None
        await session.flush()
        market = await session.get_one(MarketRow, order.market_id)
        after = shown(Order, order, asset_id=market.asset_id) | {"chain_eid": market.chain_eid}
        await publish(session, run.organization_id, "order.failed", ("order", order.id), None, after)


@workflow("order.place", on_failure=place_failed)
async def place(run: Run) -> None:
    """Approve the allowance, place the order with matching orders as hints, and wait until the tables show it."""
    async with run.transaction() as session:
        order = await _pending(session, run)
        market = await session.get_one(MarketRow, order.market_id)
        asset = await records.asset(session, run.organization_id, market.asset_id)
        await run.begin_step(session, "order_approved")
    async with run.step("order_approved", is_begun=True) as step:
        await _approve(run, step, market, asset, order)
    async with run.step("order_placed") as step:
        await _place(run, step, market, order)


async def _pending(session: Write, run: Run) -> OrderRow:
    """Return the order; one that failed is pending again."""
    order: OrderRow = await session.get_one(OrderRow, run.subject_id, with_for_update=True)
    if order.status is OrderStatus.FAILED:
        order.status, order.failure = OrderStatus.PENDING, None
    return order


async def _approve(run: Run, step: StepNotes, market: MarketRow, asset: AssetRow, order: OrderRow) -> None:
    """Approve the most that the order can need, so that a repeated run with other hints has enough."""
    assert market.market_address is not None
    fee = max(market.taker_fee_bps, market.maker_fee_bps)
    needed = rules.budget(order.side, order.price or 0, order.amount or 0, asset.decimals, fee)
    if order.side is OrderSide.BUY:
        call = quote_token.approve(market.quote_token_address or "", market.market_address, needed)
    else:
        call = token.approve(market.rwa_token_address or "", market.market_address, needed)
    await write(run, step, call, "approve", eid=market.chain_eid, signer=order.maker_address, label="approve")


async def _place(run: Run, step: StepNotes, market: MarketRow, order: OrderRow) -> None:
    """Place the order. The indexer gives its row the number on chain."""
    assert market.market_address is not None
    side, price, amount, wallet = order.side, order.price or 0, order.amount or 0, order.maker_address
    named = rules.hints(await _book(run, market.id), side, price, amount, wallet)
    call = contract.place(market.market_address, side=side, price=price, amount=amount, hints=named)
    outcome = await write(run, step, call, "place", eid=market.chain_eid, signer=wallet, label=f"{side} order")
    placed = contract.placed(outcome)
    step.detail = f"Order {placed.order_id} is {placed.status}."
    await indexer.catch_up(market.chain_eid, outcome.block_number, outcome.read_at)


async def _book(run: Run, market_id: UUID) -> list[Resting]:
    query = sa.select(OrderRow).where(col(OrderRow.market_id) == market_id, col(OrderRow.status).in_(_LIVE))
    async with run.transaction() as session:
        rows = list(await session.scalars(query))
    return [_resting(row, row.chain_order_id) for row in rows if row.chain_order_id is not None]


def _resting(row: OrderRow, number: int) -> Resting:
    rest = (row.amount or 0) - (row.filled or 0)
    return Resting(number, row.side, row.price or 0, rest, row.maker_address)


@workflow("order.cancel")
async def cancel(run: Run) -> None:
    """Cancel on chain, and wait until the tables show it. An order that was filled in the meantime stays filled
    (409)."""
    async with run.transaction() as session:
        order = await session.get_one(OrderRow, run.subject_id)
        market = await session.get_one(MarketRow, order.market_id)
    assert market.market_address is not None
    async with run.step("order_cancelled") as step:
        if (number := order.chain_order_id) is None:
            raise Conflict(f"The order is {order.status}. Retry when it is on the chain again.")
        call = contract.cancel(market.market_address, number)
        outcome = await write(
            run, step, call, "cancel", eid=market.chain_eid, signer=order.maker_address, label="cancel order"
        )
        await indexer.catch_up(market.chain_eid, outcome.block_number, outcome.read_at)
        facts = await contract.order(market.chain_eid, market.market_address, number)
        if facts.status != OrderStatus.CANCELLED:
            raise Conflict(f"The order is {facts.status}.")
        step.detail = f"Order {number} is cancelled."
