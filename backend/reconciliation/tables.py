"""The tables' state of a chain, read in one snapshot: what the indexer writes is correct as of the cursor's block."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets.models import DeploymentRow
from backend.assets.schemas import DeploymentStatus
from backend.attestations.models import AttestationRow
from backend.attestations.schemas import AttestationStatus
from backend.chain.coordination.cursor import HEAD
from backend.chain.finality import Finality
from backend.chain.models import CursorRow, TokenBalanceRow, TransactionRow, TransactionStatus
from backend.chain.rpc.terms import terms_of
from backend.core import db
from backend.core.addresses import ZERO_ADDRESS
from backend.distributions.models import DistributionRow
from backend.issuers.models import IssuerRow, IssuerWalletRow
from backend.issuers.schemas import IssuerStatus
from backend.markets import halts as market_halts
from backend.markets.models import MarketRow, OrderRow
from backend.markets.rules import LIVE, Halting
from backend.requests.models import RequestRow, RequestStepRow
from backend.requests.schemas import RequestStatus, StepStatus

SEARCHED = timedelta(days=30)
"""How long after sending a transaction is compared with the chain; later ones only until they are final."""
_SAID = (AttestationStatus.ACTIVE, AttestationStatus.EXPIRED, AttestationStatus.REVOKED)


@dataclass(frozen=True)
class Snapshot:
    """The completed rows of a chain. `block`: the block up to which transfers, orders and claims are read."""

    eid: int
    block: int
    attesters: list[Any]
    attestations: list[AttestationRow]
    deployments: list[DeploymentRow]
    balances: dict[tuple[str, str], int]
    """By token and account; without the zero address."""
    markets: list[MarketRow]
    halting: dict[UUID, Halting]
    orders: list[OrderRow]
    distributions: list[DistributionRow]
    transactions: list[TransactionRow]
    """Transactions that are not final yet, or ended within SEARCHED."""
    failed_requests: list[Any]
    """Failed requests with a successful transaction: request ID, organization, and transaction ID."""

    @property
    def at(self) -> int | None:
        """The block that the chain is read at; None for the newest, if its nodes have no older state."""
        return None if terms_of(self.eid).history == 0 else self.block


async def snapshot(eid: int) -> Snapshot | None:
    """Return the tables' current state; None if the chain was never read."""
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
            await market_halts.facts(session, eid),
            await _orders(session, markets),
            [row for row in await _rows(session, DistributionRow, eid) if row.distributor_address],
            await _transactions(session, eid),
            await _failed_requests(session, eid),
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
    kept = TokenBalanceRow
    query = sa.select(col(kept.asset_id), col(kept.address), col(kept.balance)).where(
        col(kept.chain_eid) == eid, col(kept.asset_id).in_(tokens), col(kept.address) != ZERO_ADDRESS
    )
    return {(tokens[asset], address): int(balance or 0) for asset, address, balance in await session.execute(query)}


async def _orders(session: db.Write, markets: list[MarketRow]) -> list[OrderRow]:
    theirs = col(OrderRow.market_id).in_([market.id for market in markets])
    query = sa.select(OrderRow).where(theirs, col(OrderRow.chain_order_id).is_not(None))
    return list(await session.scalars(query.order_by(col(OrderRow.chain_order_id))))


async def _transactions(session: db.Write, eid: int) -> list[TransactionRow]:
    ended = col(TransactionRow.status).in_((TransactionStatus.CONFIRMED, TransactionStatus.FAILED))
    lately = col(TransactionRow.sent_at) > db.now() - SEARCHED
    is_final = col(TransactionRow.finality) == Finality.FINAL
    query = sa.select(TransactionRow).where(
        col(TransactionRow.chain_eid) == eid, ended, sa.or_(lately, sa.not_(sa.func.coalesce(is_final, False)))
    )
    # An old transaction that failed without a block can no longer be found.
    query = query.where(sa.or_(lately, col(TransactionRow.block_number).is_not(None)))
    return list(await session.scalars(query.order_by(col(TransactionRow.block_number), col(TransactionRow.nonce))))


async def _failed_requests(session: db.Write, eid: int) -> list[Any]:
    """Return only requests that failed because the outcome was unknown: another failure may follow a success."""
    problem = col(RequestRow.problem)
    unknown = sa.or_(problem["status"].astext == "503", problem["revert"]["error"].astext == "NonceUsed")
    columns: list[Any] = [
        col(RequestRow.id),
        col(RequestRow.organization_id),
        col(TransactionRow.id).label("transaction_id"),
    ]
    query = (
        sa.select(*columns)
        .join(RequestStepRow, col(RequestStepRow.request_id) == col(RequestRow.id))
        .join(TransactionRow, col(TransactionRow.tx_hash) == col(RequestStepRow.tx_hash))
        .where(
            col(RequestRow.status) == RequestStatus.FAILED,
            col(RequestStepRow.status) == StepStatus.FAILED,
            col(TransactionRow.request_id) == col(RequestRow.id),
            col(TransactionRow.chain_eid) == eid,
            col(TransactionRow.status) == TransactionStatus.CONFIRMED,
            unknown,
        )
    )
    return list(await session.execute(query))
