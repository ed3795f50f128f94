"""Database access of commands that work without a server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import sqlalchemy as sa

from backend import models
from backend.core import db, logins
from backend.core.connections import database, engines
from backend.core.connections.embedded import outside_url
from backend.core.errors import CannotStart, SignumError
from backend.core.settings import Settings
from backend.registrations import listeners

assert models, "rows refer to every table"
assert listeners, "the audit log hears of changes"


@asynccontextmanager
async def outside(settings: Settings) -> AsyncIterator[db.Write]:
    """Open a transaction of the worker's role, without a server; failures become one line."""
    async with _started(settings), db.worker() as session:
        yield session


@asynccontextmanager
async def as_owner(settings: Settings, *, keeps: bool) -> AsyncIterator[db.Write]:
    """Open a transaction of the owner of the tables, which alone may erase from the audit log. Unless it `keeps` the
    changes, they are rolled back."""
    async with _started(settings) as url:
        engine = engines.engine(logins.owner_url(url), poolclass=sa.NullPool)
        try:
            async with db.Write(engine, expire_on_commit=False) as session:
                yield session
                await db.conclude(session)
                await (session.commit() if keeps else session.rollback())
        finally:
            await engine.dispose()


@asynccontextmanager
async def _started(settings: Settings) -> AsyncIterator[str]:
    url = settings.outside_database or outside_url(settings.home)
    database.start(url)
    try:
        yield url
    except sa.exc.OperationalError as error:
        raise CannotStart("The database does not respond. Start `signum serve` first, or set DATABASE_URL.") from error
    except SignumError as error:
        raise CannotStart(error.detail) from error
    finally:
        await database.stop()
