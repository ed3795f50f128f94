"""Reading assets with their deployments."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend import db
from backend.assets.models import AssetRow, DeploymentRow
from backend.assets.schemas import Asset, AssetList, AssetStatus, Deployment, DeploymentStatus
from backend.auth.principal import Context
from backend.chain import token
from backend.chain.rpc import connect
from backend.chains.models import ChainRow
from backend.errors import NotFound, SignumError
from backend.keyset import Page

ASSETS = sa.inspect(AssetRow).local_table
DEPLOYMENTS = sa.inspect(DeploymentRow).local_table
PATIENCE = 3.0
"""Seconds that a chain has to tell its supply."""
Told = tuple[int | None, bool | None]
"""A token's supply and whether it is paused, as its chain says; nothing where it does not answer."""


async def page(context: Context, page: Page, status: AssetStatus | None) -> AssetList:
    """A page of the organization's assets; archived ones only where they are asked for."""
    query = sa.select(ASSETS).where(ASSETS.c.organization_id == context.organization_id)
    query = query.where(ASSETS.c.status == status if status else ASSETS.c.status != AssetStatus.ARCHIVED)
    rows = (await context.session.execute(page.apply(query, ASSETS.c.created_at, ASSETS.c.id))).all()
    shown, cursor = page.cut(rows)
    deployments = await _deployments(context, [r.id for r in shown])
    return AssetList(assets=[_asset(r, deployments[r.id], {}) for r in shown], nextCursor=cursor)


async def one(context: Context, asset_id: UUID) -> Asset:
    """An asset, its supplies read from the chains now."""
    mine = (ASSETS.c.id == asset_id, ASSETS.c.organization_id == context.organization_id)
    row = (await context.session.execute(sa.select(ASSETS).where(*mine))).one_or_none()
    if row is None:
        raise NotFound("There is no such asset in this organization.")
    deployments = (await _deployments(context, [asset_id]))[asset_id]
    live = [d for d in deployments if d.status == DeploymentStatus.ACTIVE]
    async with db.paused(context.session):
        told = await asyncio.gather(*(_told(d.chain_eid, d.token_address) for d in live))
    return _asset(row, deployments, {d.chain_eid: t for d, t in zip(live, told, strict=True)})


async def _deployments(context: Context, asset_ids: Sequence[UUID]) -> Mapping[UUID, list[Any]]:
    query = (
        sa.select(DEPLOYMENTS, col(ChainRow.display_name).label("chain_name"))
        .outerjoin(ChainRow, col(ChainRow.xchain_eid) == DEPLOYMENTS.c.chain_eid)
        .where(DEPLOYMENTS.c.asset_id.in_(asset_ids))
        .order_by(DEPLOYMENTS.c.created_at, DEPLOYMENTS.c.id)
    )
    found: dict[UUID, list[Any]] = defaultdict(list)
    for row in await context.session.execute(query):
        found[row.asset_id].append(row)
    return found


async def _told(eid: int, address: str) -> Told:
    try:
        async with asyncio.timeout(PATIENCE):
            rpc = await connect(eid)
            supply, paused = await rpc.read_many(
                [(token.NAME, address, "totalSupply"), (token.NAME, address, "paused")]
            )
            return supply, paused
    except (SignumError, TimeoutError):
        return None, None


def _asset(row: Any, deployments: Sequence[Any], told: Mapping[int, Told]) -> Asset:
    shown = [_deployment(d, *told.get(d.chain_eid, (None, None))) for d in deployments]
    total = sum(int(s.supply) if s.supply else d.supply or 0 for s, d in zip(shown, deployments, strict=True))
    return Asset(**{**row._mapping, "deployments": shown, "total_supply": str(total)})


def _deployment(row: Any, supply: int | None, paused: bool | None) -> Deployment:
    return Deployment(
        chain_eid=row.chain_eid,
        chain_name=row.chain_name,
        token_address=row.token_address,
        status=row.status,
        tx_hash=row.tx_hash,
        supply=None if supply is None else str(supply),
        paused=paused,
    )
