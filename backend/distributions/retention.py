"""Nightly deletion of drafts that were never activated: a list of recipients can take a gigabyte."""

from datetime import timedelta
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend.core import db
from backend.distributions import states
from backend.distributions.drafts import HAS_REQUESTS
from backend.distributions.models import DistributionRow
from backend.distributions.schemas import DRAFT_DAYS, DistributionStatus
from backend.engine.schedules import nightly

log = structlog.get_logger()
LATER = 1
"""Hours after the reconciliation of the chains."""


async def once() -> int:
    """Delete the drafts that are too old, each in a transaction of its own; return their number.

    Each is tried once a night, so one that cannot be deleted does not keep the others.
    """
    count, last = 0, UUID(int=0)
    while found := await _after(last):
        count, last = count + await _delete(found), found
    log.info("drafts.deleted", count=count)
    return count


def _is_old() -> sa.ColumnElement[bool]:
    return sa.and_(
        col(DistributionRow.status) == DistributionStatus.DRAFT,
        col(DistributionRow.created_at) <= db.now() - timedelta(days=DRAFT_DAYS),
        ~HAS_REQUESTS,
    )


async def _after(last: UUID) -> UUID | None:
    """Return the next old draft in the order of IDs."""
    id_ = col(DistributionRow.id)
    async with db.worker() as session:
        found: UUID | None = await session.scalar(sa.select(id_).where(_is_old(), id_ > last).order_by(id_).limit(1))
    return found


async def _delete(id_: UUID) -> bool:
    """Delete an old draft, unless it is locked; False where it stays."""
    mine = sa.select(DistributionRow).where(_is_old(), col(DistributionRow.id) == id_)
    try:
        async with db.worker() as session:
            row = await session.scalar(mine.with_for_update(skip_locked=True))
            if row is not None:
                await states.delete(session, row)
    except Exception:
        log.exception("draft.deletion_failed", draft=str(id_))
        return False
    return row is not None


NIGHTLY = nightly("drafts", once, "old drafts could not be deleted; will retry tomorrow", LATER)
