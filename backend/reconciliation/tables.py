"""What the tables say of a chain, read in one snapshot: what the indexer writes is right as of the cursor's block."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend import db
from backend.assets.models import DeploymentRow
from backend.assets.schemas import DeploymentStatus
from backend.attestations.models import AttestationRow
from backend.attestations.schemas import AttestationStatus
from backend.chain.cursor import HEAD
from backend.chain.models import CursorRow, TokenTransferRow
from backend.distributions.models import DistributionRow
from backend.issuers.models import IssuerRow, IssuerWalletRow
from backend.issuers.schemas import IssuerStatus
from backend.markets import halting
from backend.markets.models import MarketRow, OrderRow
from backend.markets.rules import LIVE, Halting

ZERO = "0x" + "0" * 40
_SAID = (AttestationStatus.ACTIVE, AttestationStatus.EXPIRED, AttestationStatus.REVOKED)


@dataclass(frozen=True)
class Snapshot:
    """The rows of a chain that have come to their end. `block`: up to where transfers, orders and claims are read."""

    eid: int
    block: int
    attesters: list[Any]
    attestations: list[AttestationRow]
    deployments: list[DeploymentRow]
    balances: dict[tuple[str, str], int]
    """By token and account; the zero address is left out."""
    markets: list[MarketRow]
    halting: dict[UUID, Halting]
    orders: list[OrderRow]
    distributions: list[DistributionRow]


async def snapshot(eid: int) -> Snapshot | None:
    """What the tables say now; None where the chain was never read."""
    async with db.worker() as session:
        await session.execute(sa.text("set transaction isolation level repeatable read, read only"))
        place = (await session.execute(sa.select(CursorRow).filter_by(chain_eid=eid, stream=HEAD))).scalar_one_or_none()
        if place is None:
            return None
        deployments = await _rows(session, DeploymentRow, eid, status=(DeploymentStatus.ACTIVE,))
        markets = await _rows(session, MarketRow, eid, status=tuple(LIVE))
        return Snapshot(
            eid,
            place.block_number,
            await _attesters(session, eid),
            [row for row in await _rows(session, AttestationRow, eid, status=_SAID) if row.uid],
            deployments,
            await _balances(session, eid, deployments),
            markets,
            await halting.facts(session, eid),
            await _orders(session, markets),
            [row for row in await _rows(session, DistributionRow, eid) if row.distributor_address],
        )


async def _rows(session: db.Write, table: Any, eid: int, status: tuple[Any, ...] = ()) -> list[Any]:
    query = sa.select(table).where(table.chain_eid == eid).order_by(table.id)
    return list(await session.scalars(query.where(table.status.in_(status)) if status else query))


async def _attesters(session: db.Write, eid: int) -> list[Any]:
    query = (
        sa.select(
            col(IssuerWalletRow.id),
            col(IssuerWalletRow.organization_id),
            col(IssuerWalletRow.address),
            col(IssuerRow.name),
            col(IssuerRow.max_kyc_level),
            col(IssuerRow.can_revoke_others),
        )
        .join(IssuerRow, col(IssuerRow.id) == col(IssuerWalletRow.issuer_id))
        .where(col(IssuerWalletRow.chain_eid) == eid, col(IssuerWalletRow.status) == IssuerStatus.REGISTERED)
    )
    return list(await session.execute(query))


async def _balances(session: db.Write, eid: int, deployments: list[DeploymentRow]) -> dict[tuple[str, str], int]:
    tokens = {row.asset_id: str(row.token_address) for row in deployments}
    moved: dict[tuple[str, str], int] = {}
    query = sa.select(TokenTransferRow).where(
        col(TokenTransferRow.chain_eid) == eid, col(TokenTransferRow.asset_id).in_(tokens)
    )
    for row in await session.scalars(query):
        for account, amount in ((row.from_address, -(row.amount or 0)), (row.to_address, row.amount or 0)):
            if account != ZERO:
                place = (tokens[row.asset_id], account)
                moved[place] = moved.get(place, 0) + amount
    return moved


async def _orders(session: db.Write, markets: list[MarketRow]) -> list[OrderRow]:
    query = sa.select(OrderRow).where(col(OrderRow.market_id).in_([market.id for market in markets]))
    return list(await session.scalars(query.order_by(col(OrderRow.chain_order_id))))
