"""Reconciling from a process of its own, as the operator's command does."""

from collections.abc import Sequence

import sqlalchemy as sa

from backend import db, indexing, listeners, models
from backend.chain import endpoints, rpc
from backend.changes import THE_OPERATOR, acting
from backend.errors import CannotStart
from backend.postgres import outside_url
from backend.reconciliation import service
from backend.reconciliation.differences import Report
from backend.settings import Settings

assert models, "every table is known, as in the server"
assert listeners, "the audit log hears of repairs"
assert indexing, "the streams are known"


async def reconciled(settings: Settings, eids: Sequence[int] | None, *, repairs: bool = False) -> Report:
    """Return the report of a run. Raises CannotStart."""
    unknown = sorted(set(eids or ()) - set(endpoints.reachable()))
    if unknown or not endpoints.reachable():
        raise CannotStart(f"There is no node for the chain {unknown[0]}." if unknown else "There is no chain's node.")
    db.start(settings.outside_database or outside_url(settings.home))
    try:
        with acting(THE_OPERATOR):
            return await service.reconcile(eids, repairs=repairs)
    except sa.exc.OperationalError as error:
        raise CannotStart("The database does not answer. Start `signum serve` first, or set DATABASE_URL.") from error
    finally:
        await rpc.close()
        await db.stop()
