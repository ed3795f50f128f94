"""Reconciliation in a separate process, for the operator's command."""

from collections.abc import Sequence

import sqlalchemy as sa

from backend import models
from backend.chain.rpc import json_rpc, node_urls
from backend.core.changes import THE_OPERATOR, acting
from backend.core.connections import database
from backend.core.connections.embedded import outside_url
from backend.core.errors import CannotStart
from backend.core.settings import Settings
from backend.reconciliation import service
from backend.reconciliation.differences import Report
from backend.registrations import event_streams, listeners

assert models, "every table is registered, as in the server"
assert listeners, "the audit log records repairs"
assert event_streams, "the streams are registered"


async def reconciled(settings: Settings, eids: Sequence[int] | None, *, repairs: bool = False) -> Report:
    """Return the report of a run. Raises CannotStart."""
    unknown = sorted(set(eids or ()) - set(node_urls.reachable()))
    if unknown or not node_urls.reachable():
        raise CannotStart(f"The chain {unknown[0]} has no node." if unknown else "No chain has a node.")
    database.start(settings.outside_database or outside_url(settings.home))
    try:
        with acting(THE_OPERATOR):
            return await service.reconcile(eids, repairs=repairs)
    except sa.exc.OperationalError as error:
        raise CannotStart("The database does not respond. Start `signum serve` first, or set DATABASE_URL.") from error
    finally:
        await json_rpc.close()
        await database.stop()
