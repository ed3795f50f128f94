"""Alarms of a chain for the operator, open until their cause is gone."""

from collections.abc import Sequence

import sqlalchemy as sa
import structlog
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col

from backend.chain.models import AlarmKind, ChainAlarmRow
from backend.core import db
from backend.core.recorded_time import recorded_now

log = structlog.get_logger()


async def sound(session: db.Write, eid: int, kind: AlarmKind, detail: str, subject: str = "") -> None:
    """Open an alarm, or update the detail of the open one for this chain, kind and subject."""
    row = ChainAlarmRow(chain_eid=eid, kind=kind, subject=subject, detail=detail)
    fresh = insert(ChainAlarmRow).values(**row.model_dump())
    update = fresh.on_conflict_do_update(
        index_elements=["chain_eid", "kind", "subject"],
        set_={"detail": detail, "updated_at": recorded_now()},
        where=col(ChainAlarmRow.detail) != detail,
    )
    if (await session.execute(update.returning(col(ChainAlarmRow.id)))).first() is not None:
        log.error("chain.alarm_raised", eid=eid, kind=kind, subject=subject, detail=detail)


async def sound_once(session: db.Write, eid: int, kind: AlarmKind, detail: str, subject: str) -> None:
    """Open an alarm. An open one for this chain, kind and subject keeps its detail, which says where it began."""
    row = ChainAlarmRow(chain_eid=eid, kind=kind, subject=subject, detail=detail)
    fresh = insert(ChainAlarmRow).values(**row.model_dump()).on_conflict_do_nothing()
    if (await session.execute(fresh.returning(col(ChainAlarmRow.id)))).first() is not None:
        log.error("chain.alarm_raised", eid=eid, kind=kind, subject=subject, detail=detail)
        return
    here = sa.update(ChainAlarmRow).filter_by(chain_eid=eid, kind=kind, subject=subject)
    await session.execute(here.values(updated_at=recorded_now()))


async def close(session: db.Write, row: ChainAlarmRow) -> None:
    """Close an alarm, unless it was updated after the row was read."""
    seen = (col(ChainAlarmRow.id) == row.id, col(ChainAlarmRow.updated_at) == row.updated_at)
    await session.execute(sa.delete(ChainAlarmRow).where(*seen))


async def clear(session: db.Write, eid: int, kind: AlarmKind, *, still_open: Sequence[str] = ()) -> None:
    """Close the alarms of a kind on a chain, except those whose subjects are still open."""
    gone = sa.delete(ChainAlarmRow).where(
        col(ChainAlarmRow.chain_eid) == eid,
        col(ChainAlarmRow.kind) == kind,
        col(ChainAlarmRow.subject).not_in(still_open),
    )
    await session.execute(gone)


async def list_open(session: db.Write, eid: int | None = None) -> Sequence[ChainAlarmRow]:
    """Return the open alarms of a chain, or of all chains, oldest first."""
    query = sa.select(ChainAlarmRow).order_by(col(ChainAlarmRow.created_at))
    if eid is not None:
        query = query.where(col(ChainAlarmRow.chain_eid) == eid)
    return (await session.execute(query)).scalars().all()
