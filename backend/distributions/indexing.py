"""Claims of the distributions, as their chains tell them."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col

from backend import db
from backend.chain.outcome import Log
from backend.changes import shown
from backend.distributions import states
from backend.distributions.models import ClaimRow, DistributionRow
from backend.distributions.schemas import Distribution, DistributionStatus

_ENDED = (DistributionStatus.COMPLETED, DistributionStatus.CANCELLED)


class Claims:
    """The stream of `Claimed` and `Closed` events of every distributor."""

    name = "claims"

    async def contracts(self, session: db.Write, eid: int) -> dict[str, int | None]:
        """Every distributor on the chain."""
        found = sa.select(col(DistributionRow.distributor_address), col(DistributionRow.block_number)).where(
            col(DistributionRow.chain_eid) == eid, col(DistributionRow.distributor_address).is_not(None)
        )
        return {str(at): created for at, created in await session.execute(found)}

    async def apply(self, session: db.Write, eid: int, logs: Sequence[Log]) -> None:
        """Insert the claims, and bring each distribution's sums and status to where its newest event leaves them."""
        found = sa.select(DistributionRow).where(
            col(DistributionRow.chain_eid) == eid,
            col(DistributionRow.distributor_address).in_({log.address for log in logs}),
        )
        for row in (await session.execute(found.with_for_update())).scalars():
            theirs = [log for log in logs if log.address == row.distributor_address]
            before = shown(Distribution, row)
            await _claim(session, row, theirs)
            _end(row, theirs)
            await session.flush()
            await states.tell_of(session, row, before)

    async def rewind(self, session: db.Write, eid: int, block: int) -> set[str]:
        """Forget claims above a block and take them off the sums; what ended above it has not ended."""
        ids = sa.select(col(DistributionRow.id)).where(col(DistributionRow.chain_eid) == eid)
        gone = sa.delete(ClaimRow).where(col(ClaimRow.distribution_id).in_(ids), col(ClaimRow.block_number) > block)
        taken: dict[UUID, list[int]] = {}
        for row in await session.execute(gone.returning(col(ClaimRow.distribution_id), col(ClaimRow.amount))):
            taken.setdefault(row.distribution_id, []).append(int(row.amount))
        for distribution_id, amounts in taken.items():
            await _count(session, distribution_id, -len(amounts), -sum(amounts))
        undone = sa.select(DistributionRow).where(
            col(DistributionRow.chain_eid) == eid, col(DistributionRow.ended_block) > block
        )
        for ended in (await session.scalars(undone.with_for_update())).all():
            await states.change(session, ended, status=DistributionStatus.ACTIVE, ended_block=None)
        return set()


async def _claim(session: db.Write, row: DistributionRow, logs: Sequence[Log]) -> None:
    claims = [claim for log in logs if (claim := _row(row, log)) is not None]
    if not claims:
        return
    fresh = insert(ClaimRow).values(claims).on_conflict_do_nothing().returning(col(ClaimRow.amount))
    amounts = [int(amount or 0) for amount in (await session.execute(fresh)).scalars()]
    row.claimed_recipients += len(amounts)
    row.claimed_amount = (row.claimed_amount or 0) + sum(amounts)


def _row(row: DistributionRow, log: Log) -> dict[str, Any] | None:
    decoded = log.decoded()
    if decoded is None or decoded[0] != "Claimed" or "index" not in decoded[1]:
        return None
    values = decoded[1]
    claim = ClaimRow(
        organization_id=row.organization_id,
        distribution_id=row.id,
        index=values["index"],
        address=values["account"],
        amount=values["amount"],
        tx_hash=log.tx_hash,
        log_index=log.log_index,
        block_number=log.block_number,
    )
    return claim.model_dump()


def _end(row: DistributionRow, logs: Sequence[Log]) -> None:
    closed = [log for log in logs if (told := log.decoded()) is not None and told[0] == "Closed"]
    if row.status in _ENDED and row.ended_block is not None:
        return
    if closed:
        row.status, row.ended_block = DistributionStatus.CANCELLED, closed[0].block_number
    elif row.total_recipients is not None and row.claimed_recipients >= row.total_recipients:
        row.status, row.ended_block = DistributionStatus.COMPLETED, logs[-1].block_number


async def _count(session: db.Write, distribution_id: UUID, recipients: int, amount: int) -> None:
    row = await session.get_one(DistributionRow, distribution_id, with_for_update=True)
    row.claimed_recipients += recipients
    row.claimed_amount = (row.claimed_amount or 0) + amount
    await session.flush()
