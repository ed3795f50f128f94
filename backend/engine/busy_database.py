"""Workflows that found no free connection, or no lock, in time: one log line instead of a traceback."""

import logging

import structlog
from dbos import DBOS
from psycopg.errors import LockNotAvailable, QueryCanceled
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionFree

log = structlog.get_logger()
ENGINE_LOG = "dbos"


def install() -> None:
    """Shorten the engine's log. Repeated calls have no effect."""
    logging.getLogger(ENGINE_LOG).addFilter(_is_kept)


def is_busy(error: BaseException | None) -> bool:
    """Return whether an error says that a connection, a lock or a statement took too long."""
    if isinstance(error, OperationalError):
        return isinstance(error.orig, LockNotAvailable | QueryCanceled)
    return isinstance(error, NoConnectionFree)


def note(error: BaseException) -> None:
    """Write the line of a workflow that ended with such an error."""
    cause = error.orig if isinstance(error, OperationalError) else error
    log.warning("workflow.timed_out", workflow=DBOS.workflow_id, error=type(cause).__name__)


def _is_kept(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if error is None or not is_busy(error):
        return True
    note(error)
    return False
