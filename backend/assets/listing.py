"""Lists of assets with their deployments."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from fastapi import Response
from sqlmodel import col

from backend.assets.models import AssetRow, DeploymentRow
from backend.assets.schemas import Asset, AssetList, AssetStatus, Deployment, DeploymentStatus
from backend.auth.principal import Context
from backend.chain.bindings import token
from backend.chain.chain_models import ChainRow
from backend.chain.rpc.json_rpc import connect
from backend.core import db
from backend.core.errors import NotFound, SignumError
from backend.lists import json_records
from backend.lists.pages import BETWEEN, Listing, Page
from backend.requests.waiting import awaits_approval, awaits_sql

ASSETS = sa.inspect(AssetRow).local_table
DEPLOYMENTS = sa.inspect(DeploymentRow).local_table
_CODES = (
    sa.select(
        sa.func.string_agg(sa.func.concat_ws(BETWEEN, DEPLOYMENTS.c.token_address, DEPLOYMENTS.c.tx_hash), BETWEEN)
    )
    .where(DEPLOYMENTS.c.asset_id == ASSETS.c.id)
    .correlate(ASSETS)
    .scalar_subquery()
)
LIST = Listing.of(
    ASSETS.c,
    "created_at",
    "updated_at",
    name=sa.func.lower(ASSETS.c.name),
    names=(ASSETS.c.name, ASSETS.c.symbol),
    codes=(_CODES,),
)
_RECORD = json_records.column(
    Asset,
    ASSETS,
    awaits_approval=awaits_sql("assets"),
    total_supply="(select coalesce(sum(supply), 0)::text from asset_deployments where asset_id = assets.id)",
    deployments=json_records.many(
        json_records.record(
            Deployment, DEPLOYMENTS, chain_name=json_records.text("display_name"), supply="null", paused="null"
        ),
        "from asset_deployments left join chains on xchain_eid = chain_eid where asset_id = assets.id"
        " order by asset_deployments.created_at, asset_deployments.id",
    ),
)
"""Without what is read from the chains: the supply of each deployment, and whether it is paused."""
PATIENCE = 3.0
"""Seconds that a chain has to return its supply."""
TokenState = tuple[int | None, bool | None]
"""A token's supply and whether it is paused, as read from its chain; null if the chain does not answer."""


async def page(context: Context, page: Page, status: AssetStatus | None) -> Response:
    """Return a page of the organization's assets; archived ones only on request."""
    query = sa.select(_RECORD, ASSETS.c.id).where(ASSETS.c.organization_id == context.organization_id)
    query = query.where(ASSETS.c.status == status if status else ASSETS.c.status != AssetStatus.ARCHIVED)
    return await page.respond(context.session, query, AssetList)


async def one(context: Context, asset_id: UUID) -> Asset:
    """Return an asset with its supplies, read from the chains now."""
    mine = (ASSETS.c.id == asset_id, ASSETS.c.organization_id == context.organization_id)
    row = (await context.session.execute(sa.select(ASSETS, awaits_approval(ASSETS)).where(*mine))).one_or_none()
    if row is None:
        raise NotFound("There is no asset with this ID in this organization.")
    deployments = (await _deployments(context, [asset_id]))[asset_id]
    live = [d for d in deployments if d.status == DeploymentStatus.ACTIVE]
    async with db.paused(context.session):
        response = await asyncio.gather(*(_token_state(d.chain_eid, d.token_address) for d in live))
    return _asset(row, deployments, {d.chain_eid: t for d, t in zip(live, response, strict=True)})


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


async def _token_state(eid: int, address: str) -> TokenState:
    try:
        async with asyncio.timeout(PATIENCE):
            rpc = await connect(eid)
            supply, paused = await rpc.read_many(
                [(token.NAME, address, "totalSupply"), (token.NAME, address, "paused")]
            )
            return supply, paused
    except (SignumError, TimeoutError):
        return None, None


def _asset(row: Any, deployments: Sequence[Any], response: Mapping[int, TokenState]) -> Asset:
    shown = [_deployment(d, *response.get(d.chain_eid, (None, None))) for d in deployments]
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
