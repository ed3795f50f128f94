"""Database access of commands that work without a server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import sqlalchemy as sa

from backend import models
from backend.core import db
from backend.core.connections import database
from backend.core.connections.embedded import outside_url
from backend.core.errors import CannotStart, SignumError
from backend.core.settings import Settings
from backend.registrations import listeners

assert models, "rows refer to every table"
assert listeners, "the audit log hears of changes"


@asynccontextmanager
async def outside(settings: Settings) -> AsyncIterator[db.Write]:
    """Open a transaction of the worker's role, without a server; failures become one line."""
    database.start(settings.outside_database or outside_url(settings.home))
    try:
        async with db.worker() as session:
            yield session
    except sa.exc.OperationalError as error:
        raise CannotStart("The database does not respond. Start `signum serve` first, or set DATABASE_URL.") from error
    except SignumError as error:
        raise CannotStart(error.detail) from error
    finally:
        await database.stop()
