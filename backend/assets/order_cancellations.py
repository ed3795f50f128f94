"""Cancel the open orders of makers whom an asset's rules exclude, as the owner of its markets."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.assets import affected_facts, effects
from backend.assets.models import DeploymentRow
from backend.assets.transaction_step import write
from backend.chain.bindings import market as contract
from backend.chain.bindings import token
from backend.chain.errors import Reverted
from backend.chain.indexer import indexer
from backend.core.db import Write
from backend.requests.runs import Run, StepNotes

MOST = 100
"""Orders that one request cancels on a chain."""
LIVE = ("open", "partial")
LABEL = "cancel order"
_TRADED = sa.text("""
    select distinct chain_eid from markets where asset_id = :asset and status in ('active', 'halted')
""")
_SENT = sa.text("""
    select count(*) from transactions
    where request_id = :request and chain_eid = :eid and label = :label and status = 'confirmed'
""")


def step_name(eid: int) -> str:
    """Return the name of the step that cancels the orders on a chain."""
    return f"orders_cancelled_{eid}"


async def chains(session: Write, asset_id: UUID) -> set[int]:
    """Return the chains on which the asset has a market."""
    return set(await session.scalars(_TRADED, {"asset": asset_id}))


async def cancel(run: Run, step: StepNotes, row: DeploymentRow) -> None:
    """Cancel the orders on a chain whose makers are ineligible under the token's rules now. Orders that ended in the
    meantime are skipped, so that the step can run again."""
    eid, at = row.chain_eid, str(row.token_address)
    await indexer.catch_up(eid, 0)
    async with run.transaction() as session:
        known = await affected_facts.facts(session, run.organization_id, row.asset_id)
    orders = await effects.ineligible_orders(known, run.organization_id, eid, await token.rules(eid, at))
    there = {market.id: str(market.market_address) for market in known.markets.values()}
    live = await _live(eid, there, orders)
    owner, block = await token.owner(eid, at), 0
    for order in live[:MOST]:
        block = await _cancel(run, step, order, there[order.market_id], owner) or block
    if block:
        await indexer.catch_up(eid, block)
    step.detail = await _words(run, eid, live[MOST:])


async def _live(eid: int, there: Mapping[UUID, str], orders: Sequence[Any]) -> list[Any]:
    """Return the orders that the chain still has open."""
    found = []
    for market_id, at in there.items():
        mine = [order for order in orders if order.market_id == market_id]
        states = await contract.orders(eid, at, [order.chain_order_id for order in mine]) if mine else []
        found += [order for order, state in zip(mine, states, strict=True) if state.status in LIVE]
    return found


async def _cancel(run: Run, step: StepNotes, order: Any, at: str, owner: str) -> int | None:
    """Cancel one order; return the block, or None if it ended in the meantime."""
    eid, number, key = order.chain_eid, order.chain_order_id, f"cancel:{order.market_id}:{order.chain_order_id}"
    try:
        outcome = await write(run, step, contract.cancel(at, number), key, eid=eid, signer=owner, label=LABEL)
    except Reverted:
        if (await contract.order(eid, at, number)).status in LIVE:
            raise
        return None
    return outcome.block_number


async def _words(run: Run, eid: int, left: Sequence[Any]) -> str:
    async with run.transaction() as session:
        values = {"request": run.request_id, "eid": eid, "label": LABEL}
        count = await session.scalar(_SENT, values) or 0
    done = f"{count} order{'' if count == 1 else 's'} cancelled." if count else "No open order is affected."
    if not left:
        return done
    numbers = ", ".join(str(order.chain_order_id) for order in left[:MOST])
    return f"{done} {len(left)} more are affected; cancel them with another update: {numbers}."
