"""Reconciling from a process of its own, as the operator's command does."""

from collections.abc import Sequence

import sqlalchemy as sa

from backend import db, models
from backend.chain import endpoints, rpc
from backend.errors import CannotStart
from backend.postgres import outside_url
from backend.reconciliation import service
from backend.reconciliation.differences import Report
from backend.settings import Settings

assert models, "every table is known, as in the server"


async def reconciled(settings: Settings, eids: Sequence[int] | None) -> Report:
    """The report; what stands in its way is told in one line."""
    unknown = sorted(set(eids or ()) - set(endpoints.reachable()))
    if unknown or not endpoints.reachable():
        raise CannotStart(f"There is no node for the chain {unknown[0]}." if unknown else "There is no chain's node.")
    db.start(settings.database_url or outside_url(settings.home))
    try:
        return await service.reconcile(eids)
    except sa.exc.OperationalError as error:
        raise CannotStart("The database does not answer. Start `signum serve` first, or set DATABASE_URL.") from error
    finally:
        await rpc.close()
        await db.stop()
