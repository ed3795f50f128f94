"""The blocks at which a cap table is read: on each chain the last one up to a time."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.assets.models import DeploymentRow
from backend.auth.principal import Context
from backend.cap_table.schemas import SupplySource
from backend.chain.bindings import token
from backend.chain.devnet import clock
from backend.chain.errors import RpcError
from backend.chain.indexer import indexer, supply_events
from backend.chain.rpc import block_times
from backend.chain.rpc.json_rpc import connect
from backend.chain.rpc.terms import confirmations
from backend.core import db
from backend.core.errors import SignumError

PATIENCE = 6.0
"""Seconds that a chain has to name a block."""
_BOUNDS = sa.text("""
  select d.chain_eid, c.block_number as head,
    (select block_number from token_transfers t
      where t.asset_id = d.asset_id and t.chain_eid = d.chain_eid and t.created_at <= :at
      order by created_at desc, block_number desc limit 1) as last,
    (select block_number from token_transfers t
      where t.asset_id = d.asset_id and t.chain_eid = d.chain_eid and t.created_at > :at
      order by created_at, block_number limit 1) as next
  from asset_deployments d left join cursors c on c.chain_eid = d.chain_eid and c.stream = 'head'
  where d.asset_id = :asset
""")


@dataclass(frozen=True)
class Moment:
    """A chain at a block. `time` is None if the chain did not answer: then the block is the last one with a transfer
    of the asset, or the last one that was read. `first` is the block of the token's creation."""

    eid: int
    token: str
    block: int
    time: datetime | None
    first: int = 0


@dataclass(frozen=True)
class Supply:
    """A token's supply at a moment, in base units, and what the chain said it by; both None if it did not."""

    amount: int | None = None
    source: SupplySource | None = None


async def at(context: Context, asset_id: UUID, rows: Sequence[DeploymentRow], when: datetime | None) -> list[Moment]:
    """Return the moment of every token that was there at a time, by default now. Chains are queried: the session's
    transaction is paused."""
    until = when or clock.chain_now()
    known = {r.chain_eid: r for r in await context.session.execute(_BOUNDS, {"asset": asset_id, "at": until})}
    async with db.paused(context.session):
        found = await asyncio.gather(*(_moment(row, known[row.chain_eid], when) for row in rows))
    return [moment for moment in found if moment is not None]


async def _moment(row: DeploymentRow, bounds: Any, when: datetime | None) -> Moment | None:
    eid, at, first = row.chain_eid, str(row.token_address), row.block_number or 0
    try:
        async with asyncio.timeout(PATIENCE):
            newest = await (await connect(eid)).height() - confirmations(eid)
            found = await _block(eid, first, bounds, newest, when)
            if found is None:
                return None
            await indexer.catch_up(eid, found.number)
        return Moment(eid, at, found.number, datetime.fromtimestamp(found.time, UTC), first)
    except (SignumError, RpcError, TimeoutError):
        block = bounds.head if when is None else bounds.last
        return None if block is None else Moment(eid, at, block, None, first)


async def _block(eid: int, first: int, bounds: Any, newest: int, when: datetime | None) -> block_times.Timed | None:
    """Return the last block up to a time; None if the token was created after it."""
    rpc = await connect(eid)
    until = 2**62 if when is None else int(when.timestamp())
    last = newest if bounds.next is None or when is None else min(bounds.next, newest)
    return await block_times.last_until(rpc, until, min(max(first, bounds.last or 0), last), last)


async def supply(moment: Moment) -> Supply:
    """Return the token's supply at a moment as its chain says: by its state, or by its mints and burns if the node does
    not keep the state of the block."""
    if moment.time is None:
        return Supply()
    try:
        async with asyncio.timeout(PATIENCE):
            try:
                found = await token.total_supply(moment.eid, moment.token, moment.block)
                return Supply(found, SupplySource.STATE)
            except RpcError:
                listed = await supply_events.supply(moment.eid, moment.token, moment.first, moment.block)
                return Supply() if listed is None else Supply(listed, SupplySource.EVENTS)
    except (SignumError, RpcError, TimeoutError):
        return Supply()
