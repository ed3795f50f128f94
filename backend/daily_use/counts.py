"""Counting of amounts towards daily limits, one request at a time: two concurrent requests cannot both use the same
remainder.
"""

from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col

from backend.core.db import Write, now
from backend.core.units import grouped
from backend.daily_use import rules
from backend.daily_use.models import DailyLimitRow, DailyUseRow
from backend.daily_use.schemas import LimitedAction

_LOCKED = "daily_limit"
"""Name in a session's notes: the limit that this transaction has locked."""


@dataclass(frozen=True)
class Amount:
    """The amount of an asset that a request moves, in base units."""

    asset_id: UUID
    units: int


async def excess(
    session: Write, kind: str, amount: Amount, request_id: UUID | None = None, *, lock: bool = True
) -> str | None:
    """Return why a request needs a second person: its amount exceeds the remainder of the daily limit. None where it
    does not.

    The limit stays locked until the transaction ends, unless `lock` is false. An earlier amount of the same request
    (`request_id`, for a retry) is not counted twice.
    """
    action = rules.KINDS.get(kind)
    if action is None:
        return None
    limit = await _limit(session, amount.asset_id, action, lock)
    if lock:
        session.info[(_LOCKED, amount.asset_id, action)] = limit
    if limit is None:
        return None
    used = await used_of(session, amount.asset_id, action, without=request_id)
    return await _words(session, action, limit, used, amount) if rules.exceeds(limit, used, amount.units) else None


async def note(session: Write, organization_id: UUID, kind: str, amount: Amount, request_id: UUID) -> None:
    """Count a request's amount, and delete amounts older than the window.

    Without a limit, nothing is recorded. `excess` has read and locked the limit in this transaction; KeyError if it has
    not, because an amount that is not counted would not be limited.
    """
    action = rules.KINDS.get(kind)
    if action is None or session.info[_LOCKED, amount.asset_id, action] is None:
        return
    at = now()
    row = DailyUseRow(
        organization_id=organization_id,
        asset_id=amount.asset_id,
        action=action,
        request_id=request_id,
        amount=amount.units,
        used_at=at,
    )
    new = insert(DailyUseRow).values(row.model_dump())
    await session.execute(new.on_conflict_do_update(index_elements=["request_id"], set_={"used_at": at}))
    await session.execute(
        sa.delete(DailyUseRow).where(
            col(DailyUseRow.asset_id) == amount.asset_id,
            col(DailyUseRow.action) == action,
            col(DailyUseRow.used_at) <= at - rules.WINDOW,
        )
    )


async def forget(session: Write, request_id: UUID) -> None:
    """Delete the amount of a request that never starts."""
    await session.execute(sa.delete(DailyUseRow).where(col(DailyUseRow.request_id) == request_id))


async def used_of(session: Write, asset_id: UUID, action: LimitedAction, *, without: UUID | None = None) -> int:
    """Return the base units accepted within the window without a second person."""
    query = sa.select(sa.func.coalesce(sa.func.sum(col(DailyUseRow.amount)), 0)).where(
        col(DailyUseRow.asset_id) == asset_id,
        col(DailyUseRow.action) == action,
        col(DailyUseRow.used_at) > now() - rules.WINDOW,
    )
    if without is not None:
        query = query.where(col(DailyUseRow.request_id) != without)
    return int(await session.scalar(query) or 0)


async def _limit(session: Write, asset_id: UUID, action: LimitedAction, lock: bool) -> int | None:
    query = sa.select(col(DailyLimitRow.amount)).where(
        col(DailyLimitRow.asset_id) == asset_id, col(DailyLimitRow.action) == action
    )
    found: int | None = await session.scalar(query.with_for_update() if lock else query)
    return found


async def _words(session: Write, action: LimitedAction, limit: int, used: int, amount: Amount) -> str:
    """ "4 NREF is above the daily limit for minting: 7 of 10 NREF were used in the last 24 hours." """
    text = sa.text("select symbol, decimals from assets where id = :id")
    symbol, decimals = (await session.execute(text, {"id": amount.asset_id})).one()
    asked, spent, whole = (grouped(units, decimals) for units in (amount.units, used, limit))
    verb = rules.VERBS[action]
    spending = f"{spent} of {whole} {symbol} were used in the last 24 hours."
    return f"{asked} {symbol} exceeds the daily limit for {verb}: {spending}"
