"""Events of the distributors: claims, and ends of distributions."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col

from backend.chain.abi.outcome import Log
from backend.chain.indexer import block_spans, state_events
from backend.chain.indexer.block_spans import Span
from backend.chain.models import StateEventRow
from backend.core import db
from backend.core.changes import shown
from backend.distributions import states
from backend.distributions.models import ClaimRow, DistributionRow
from backend.distributions.schemas import Distribution, DistributionStatus

_CLOSED, _ACTIVATED = "Closed", "Activated"
_CANCELLED, _COMPLETED = DistributionStatus.CANCELLED, DistributionStatus.COMPLETED
_AMOUNT = (col(ClaimRow.distribution_id), col(ClaimRow.amount))
Amounts = dict[UUID, list[int]]
"""Claimed amounts, by distribution."""
End = tuple[int, int, DistributionStatus]
"""Block and log index of the event that ended a distribution, and the kind of end."""


class Claims:
    """The stream of `Activated`, `Claimed` and `Closed` events of every distributor."""

    name = "claims"

    def contracts(self, eid: int) -> sa.Select[Any, Any]:
        """Return the query of every distributor on the chain."""
        return sa.select(col(DistributionRow.distributor_address), col(DistributionRow.block_number)).where(
            col(DistributionRow.chain_eid) == eid, col(DistributionRow.distributor_address).is_not(None)
        )

    async def apply(self, session: db.Write, eid: int, logs: Sequence[Log]) -> int:
        """Insert new events, and update sums and end of each affected distribution."""
        at = col(DistributionRow.distributor_address).in_({log.address for log in logs})
        distributions = {str(row.distributor_address): row for row in await _locked(session, eid, at)}
        rows = [
            row for log in logs if log.address in distributions and (row := _row(eid, log, distributions[log.address]))
        ]
        for log in logs:
            if log.address in distributions and (log.decoded() or ("",))[0] == _ACTIVATED:
                distributions[log.address].activated_at = datetime.fromtimestamp(log.timestamp, UTC)
        claimed = await _claim(session, [row for row in rows if isinstance(row, ClaimRow)])
        closed = [row for row in rows if isinstance(row, StateEventRow)]
        new = sum(map(len, claimed.values())) + await state_events.insert_new(session, closed)
        changed = {distributions[row.address].id for row in closed} | set(claimed)
        await _set_states(session, eid, [row for row in distributions.values() if row.id in changed], claimed, +1)
        return new

    async def rewind(self, session: db.Write, eid: int, block: int) -> None:
        """Delete the events above a block, and update each affected distribution."""
        ids = sa.select(col(DistributionRow.id)).where(col(DistributionRow.chain_eid) == eid)
        gone = sa.delete(ClaimRow).where(col(ClaimRow.distribution_id).in_(ids), col(ClaimRow.block_number) > block)
        undone = _by_distribution(await session.execute(gone.returning(*_AMOUNT)))
        closed = {address for address, _ in await state_events.forget(session, eid, [_CLOSED], block)}
        ended = col(DistributionRow.ended_block) > block
        at = col(DistributionRow.distributor_address).in_(closed)
        rows = await _locked(session, eid, sa.or_(at, ended, col(DistributionRow.id).in_(undone)))
        await _set_states(session, eid, rows, undone, -1)

    async def correct(self, session: db.Write, eid: int, address: str, span: Span, logs: Sequence[Log]) -> int:
        """Replace the claims of a distributor, their sums and its end with those of its logs."""
        (owner,) = await _locked(session, eid, col(DistributionRow.distributor_address) == address)
        before, known = shown(Distribution, owner), _derived(owner)
        rows = [row for log in logs if (row := _row(eid, log, owner)) is not None]
        claims = [row for row in rows if isinstance(row, ClaimRow)]
        closed = [row for row in rows if isinstance(row, StateEventRow)]
        wrong = await _delete_wrong_claims(session, owner, span, claims)
        wrong += len(await state_events.delete_wrong(session, eid, address, [_CLOSED], span, closed))
        new = len(await _claim(session, claims)) + await state_events.insert_new(session, closed)
        await _count(session, owner)
        newest = await state_events.newest_of(session, eid, [_CLOSED], [address])
        _set_end(owner, await _end(session, owner, newest.get((address, ""))))
        await session.flush()
        await states.record_change(session, owner, before)
        return max(wrong, new, known != _derived(owner))


def _derived(row: DistributionRow) -> tuple[object, ...]:
    """Return the distribution's fields that are derived from its events."""
    return row.claimed_recipients, row.claimed_amount, row.ended_block, row.status


async def _delete_wrong_claims(
    session: db.Write, owner: DistributionRow, span: Span, claims: Sequence[ClaimRow]
) -> int:
    theirs = col(ClaimRow.distribution_id) == owner.id
    facts = ("index", "address", "amount", "created_at")
    wrong = len(await block_spans.delete_wrong(session, theirs, span, claims, ClaimRow, facts))
    # A claim with the same index, in the tables at a block beyond the span, would conflict.
    taken = col(ClaimRow.index).in_([claim.index for claim in claims])
    elsewhere = col(ClaimRow.tx_hash).not_in([claim.tx_hash for claim in claims])
    gone = sa.delete(ClaimRow).where(theirs, taken, elsewhere)
    return wrong + len((await session.execute(gone.returning(col(ClaimRow.id)))).all())


async def _count(session: db.Write, row: DistributionRow) -> None:
    """Set the sums of a distribution to those of its claims."""
    amounts = sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(col(ClaimRow.amount)), 0))
    claims = (await session.execute(amounts.where(col(ClaimRow.distribution_id) == row.id))).one()
    row.claimed_recipients, row.claimed_amount = claims[0], int(claims[1] or 0)


async def _claim(session: db.Write, claims: Sequence[ClaimRow]) -> Amounts:
    """Insert new claims; return their amounts."""
    if not claims:
        return {}
    fresh = insert(ClaimRow).on_conflict_do_nothing().returning(*_AMOUNT)
    return _by_distribution(await session.execute(fresh, [claim.model_dump() for claim in claims]))


def _by_distribution(rows: Iterable[Any]) -> Amounts:
    found: Amounts = {}
    for distribution_id, amount in rows:
        found.setdefault(distribution_id, []).append(int(amount))
    return found


async def _locked(session: db.Write, eid: int, which: sa.ColumnElement[bool]) -> Sequence[DistributionRow]:
    found = sa.select(DistributionRow).where(col(DistributionRow.chain_eid) == eid, which)
    return (await session.scalars(found.order_by(col(DistributionRow.id)).with_for_update())).all()


def _row(eid: int, log: Log, owner: DistributionRow) -> ClaimRow | StateEventRow | None:
    name, values = log.decoded() or ("", {})
    if name == _CLOSED:
        return state_events.event_row(owner.organization_id, eid, log, name, {})
    if name != "Claimed" or "index" not in values:
        return None
    return ClaimRow(
        created_at=datetime.fromtimestamp(log.timestamp, UTC),
        organization_id=owner.organization_id,
        distribution_id=owner.id,
        index=values["index"],
        address=values["account"],
        amount=values["amount"],
        tx_hash=log.tx_hash,
        log_index=log.log_index,
        block_number=log.block_number,
    )


async def _set_states(
    session: db.Write, eid: int, rows: Sequence[DistributionRow], amounts: Amounts, sign: int
) -> None:
    """Add claims to (or subtract them from) the sums of distributions, and set their ends as on chain."""
    if not rows:
        return
    closed = await state_events.newest_of(session, eid, [_CLOSED], [str(row.distributor_address) for row in rows])
    for row in rows:
        before = shown(Distribution, row)
        theirs = amounts.get(row.id, [])
        row.claimed_recipients += sign * len(theirs)
        row.claimed_amount = (row.claimed_amount or 0) + sign * sum(theirs)
        _set_end(row, await _end(session, row, closed.get((str(row.distributor_address), ""))))
        await session.flush()
        await states.record_change(session, row, before)


async def _end(session: db.Write, row: DistributionRow, closed: StateEventRow | None) -> End | None:
    """Return what ended a distribution first: its last claim, or its owner. None if it has not ended."""
    ends: list[End] = [] if closed is None else [(closed.block_number, closed.log_index, _CANCELLED)]
    if row.total_recipients is not None and row.claimed_recipients >= row.total_recipients:
        last = (
            sa.select(col(ClaimRow.block_number), col(ClaimRow.log_index))
            .where(col(ClaimRow.distribution_id) == row.id)
            .order_by(col(ClaimRow.block_number).desc(), col(ClaimRow.log_index).desc())
            .limit(1)
        )
        ends += [(block, index, _COMPLETED) for block, index in await session.execute(last)]
    return min(ends, default=None)


def _set_end(row: DistributionRow, end: End | None) -> None:
    """Set or undo an end as on chain; an end that the chain has no record of stays."""
    if end is not None:
        row.ended_block, row.status = end[0], end[2]
    elif row.ended_block is not None:
        row.ended_block, row.status = None, DistributionStatus.ACTIVE
