"""Counting of amounts towards daily limits, one request at a time: two concurrent requests cannot both use the same
remainder.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, cast
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

_ACCEPTED = (
    sa.text("""
    select r.id, (r.arguments -> 'moves' ->> 'units')::numeric as amount, r.created_at as used_at from requests r
    where r.organization_id = :org and r.created_at > :since and r.kind = any(:kinds)
      and r.arguments -> 'moves' ->> 'asset_id' = :asset
      and r.status not in ('awaiting_approval', 'denied') and not exists (select from approvals where request_id = r.id)
    """)
    .columns(
        sa.column("id", sa.Uuid), sa.column("amount", sa.Numeric), sa.column("used_at", sa.DateTime(timezone=True))
    )
    .subquery()
)
"""Amounts that were accepted without a second person, from the requests' tables, which are above this package."""


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


async def is_limited(session: Write, kind: str, asset_ids: Collection[UUID]) -> bool:
    """Return whether a daily limit counts what requests of a kind move of some assets."""
    query = sa.select(col(DailyLimitRow.id)).where(
        col(DailyLimitRow.asset_id).in_(asset_ids), col(DailyLimitRow.action) == rules.KINDS.get(kind)
    )
    return await session.scalar(query.limit(1)) is not None


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


async def note_earlier(session: Write, organization_id: UUID, asset_id: UUID, action: LimitedAction) -> None:
    """Count what was accepted within the window before the action had a limit, towards a new one."""
    given = {"organization_id": organization_id, "asset_id": asset_id, "action": action, "created_at": now()}
    given |= {"updated_at": now()}
    table = cast("sa.Table", sa.inspect(DailyUseRow).local_table)
    columns = [sa.literal(value, table.c[name].type) for name, value in given.items()]
    found = sa.select(_ACCEPTED.c.id, *columns, _ACCEPTED.c.id, _ACCEPTED.c.amount, _ACCEPTED.c.used_at)
    into = insert(table).from_select(["id", *given, "request_id", "amount", "used_at"], found)
    kinds = _accepted(organization_id, asset_id, action)
    await session.execute(into.on_conflict_do_nothing(index_elements=["request_id"]), kinds)


async def accepted_of(session: Write, organization_id: UUID, asset_id: UUID, action: LimitedAction) -> int:
    """Return what `used_of` would for an action without a limit, of which nothing is counted."""
    query = sa.select(sa.func.coalesce(sa.func.sum(_ACCEPTED.c.amount), 0))
    return int(await session.scalar(query, _accepted(organization_id, asset_id, action)) or 0)


def _accepted(organization_id: UUID, asset_id: UUID, action: LimitedAction) -> dict[str, Any]:
    kinds = [kind for kind, limited in rules.KINDS.items() if limited is action]
    return {"org": organization_id, "asset": str(asset_id), "kinds": kinds, "since": now() - rules.WINDOW}


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
