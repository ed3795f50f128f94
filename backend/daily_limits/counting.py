"""Count amounts against daily limits, one request after the other: two at once cannot both fit into what is left."""

from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col

from backend.daily_limits import rules
from backend.daily_limits.models import DailyLimitRow, DailyUseRow
from backend.daily_limits.schemas import LimitedAction
from backend.db import Write, now
from backend.units import grouped


@dataclass(frozen=True)
class Amount:
    """How much of an asset a request moves, in base units."""

    asset_id: UUID
    units: int


async def excess(
    session: Write, kind: str, amount: Amount, request_id: UUID | None = None, *, lock: bool = True
) -> str | None:
    """Why a request of a kind needs a second person: its amount is above what is left of the daily limit. None where it
    is not. The limit stays locked until the transaction ends, unless `lock` is false. What the request used before
    (`request_id`, when it is retried) is not counted twice."""
    action = rules.KINDS.get(kind)
    if action is None:
        return None
    limit = await _limit(session, amount.asset_id, action, lock)
    if limit is None:
        return None
    used = await used_of(session, amount.asset_id, action, without=request_id)
    return await _words(session, action, limit, used, amount) if rules.exceeds(limit, used, amount.units) else None


async def note(session: Write, organization_id: UUID, kind: str, amount: Amount, request_id: UUID) -> None:
    """Count a request's amount from now on, and forget what is older than the window. Without a limit, nothing is
    noted. `excess` has locked the limit."""
    action = rules.KINDS.get(kind)
    if action is None or await _limit(session, amount.asset_id, action, lock=False) is None:
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


async def used_of(session: Write, asset_id: UUID, action: LimitedAction, *, without: UUID | None = None) -> int:
    """Base units that were accepted within the window without a second person."""
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
