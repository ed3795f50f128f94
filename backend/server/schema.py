"""The schema at the start of a server, and `signum migrate`."""

import sqlalchemy as sa

from backend.core import logins
from backend.core.connections import database
from backend.core.errors import CannotStart
from backend.core.settings import Settings
from backend.migrations import migrate
from backend.migrations.migrate import Terms
from backend.secret_keys import data_keys


def prepare(settings: Settings, url: str) -> None:
    """Migrate the embedded database, or a new one; check that the operator has migrated any other.

    No later connection is the owner's.
    """
    is_owner = settings.outside_database is None or settings.database_url is not None
    if settings.outside_database is None or (is_owner and migrate.is_empty(url)):
        migrate.migrate(url)
    else:
        migrate.check(url)
    logins.check(url)


def open_keys(settings: Settings, url: str) -> None:
    """Read the keys in the database. Raises CannotStart where this process has the wrong secrets."""
    database.start(url)
    data_keys.prepare(settings)


def migrate_only(settings: Settings, terms: Terms, *, is_dry_run: bool, accepts_drift: bool) -> str | None:
    """Migrate the database of DATABASE_URL and create its login roles, without starting anything; or return the SQL
    that this would execute."""
    if settings.database_url is None:
        raise CannotStart("Set DATABASE_URL to the owner's URL. `signum serve` migrates the embedded database itself.")
    try:
        if is_dry_run:
            return migrate.plan(settings.database_url)
        migrate.migrate(settings.database_url, terms, accepts_drift=accepts_drift)
    except sa.exc.SQLAlchemyError as error:
        reason = str(error).splitlines()[0]
        raise CannotStart(f"The database cannot be reached or migrated: {reason}") from error
    logins.check(settings.database_url)
    return None
