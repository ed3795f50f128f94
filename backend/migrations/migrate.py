"""Migration of a database to the newest schema: Signum's with Alembic, the workflow engine's with DBOS."""

import io
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
import structlog
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from psycopg.errors import LockNotAvailable, QueryCanceled

from backend.core import logins
from backend.core.errors import CannotStart
from backend.core.locks import MIGRATION
from backend.core.logins import owner_url
from backend.migrations import frozen, state
from backend.migrations.rules import State, refusal

log = structlog.get_logger()
# The engine itself would grant all rights, so that a role could plant a trigger for the owner's next migration to run.
# The worker's role has these rights too: changes that it detects, such as an attestation's expiry, may need deliveries.
RIGHTS = (
    "revoke all on all tables in schema dbos from signum_app, signum_worker",
    "grant usage on schema dbos to signum_app, signum_worker",
    "grant select, insert, update, delete on all tables in schema dbos to signum_app, signum_worker",
    "revoke insert, update, delete on dbos.dbos_migrations from signum_app, signum_worker",
    "grant usage, select on all sequences in schema dbos to signum_app, signum_worker",
    "grant execute on all functions in schema dbos to signum_app, signum_worker",
)


@dataclass(frozen=True)
class Terms:
    """How long a migration may wait and hold locks, in seconds."""

    wait: float = 300.0
    """For another migration of the same database to end."""
    lock: float = 5.0
    """For a lock on a table: a statement that waits for one makes all later ones wait too. It is then tried again."""
    statement: float = 900.0
    attempts: int = 10
    folders: tuple[Path, ...] = (frozen.VERSIONS,)
    """Where the revisions are."""


def migrate(url: str, terms: Terms | None = None, *, accepts_drift: bool = False) -> None:
    """Upgrade to head. Safe to repeat and to run concurrently. Raises CannotStart where the schema is newer than this
    version of Signum, or has drifted from what the last migration left."""
    from dbos import DBOS

    terms = terms or Terms()
    with _alone(url, terms) as connection:
        found = state.read(connection)
        if found.version is not None and (reason := refusal(found, known(terms.folders), accepts_drift=accepts_drift)):
            raise CannotStart(reason)
        connection.rollback()
        is_current = found.version == known(terms.folders)[-1] and found.drift == []
        if not is_current:
            state.prepare(connection)
            connection.commit()
            _upgrade(connection, terms)
        DBOS.migrate(owner_url(url))
        for statement in RIGHTS:
            connection.execute(sa.text(statement))
        logins.make(connection, url)
        if not is_current:
            state.store(connection)
        connection.commit()


def plan(url: str) -> str:
    """Return the SQL that `migrate` would execute, empty if the schema is the newest."""
    with _connected(owner_url(url)) as connection:
        found = state.read(connection)
    if found.version is not None and (reason := refusal(found, known(), accepts_drift=True)):
        raise CannotStart(reason)
    if found.version == known()[-1]:
        return ""
    config = _config()
    config.output_buffer = text = io.StringIO()
    config.attributes["dialect"] = "postgresql"
    command.upgrade(config, f"{found.version or 'base'}:head", sql=True)
    return text.getvalue()


def check(url: str) -> None:
    """Raise CannotStart where the schema is not the current one, or has drifted. Needs no owner's rights."""
    with _connected(logins.role_url(url, logins.WEB)) as connection:
        try:
            found = state.read(connection)
        except sa.exc.ProgrammingError:
            found = State(None, None)
    if reason := refusal(found, known(), must_be_newest=True):
        raise CannotStart(reason)


def is_empty(url: str) -> bool:
    """Return whether a database has no schema yet."""
    with _connected(owner_url(url)) as connection:
        return state.read(connection).version is None


def known(folders: tuple[Path, ...] = (frozen.VERSIONS,)) -> list[str]:
    """Return the revisions that this version of Signum has, oldest first."""
    return [one.revision for one in ScriptDirectory.from_config(_config(folders)).walk_revisions()][::-1]


def _upgrade(connection: sa.Connection, terms: Terms) -> None:
    """Run the missing revisions, each in a transaction of its own; one that did not get a table's lock, again."""
    config = _config(terms.folders)
    config.attributes["connection"] = connection
    for attempt in range(terms.attempts):
        connection.execute(sa.text(f"set lock_timeout = {int(terms.lock * 1000)}"))
        connection.execute(sa.text(f"set statement_timeout = {int(terms.statement * 1000)}"))
        connection.commit()
        try:
            command.upgrade(config, "head")
            connection.commit()
            break
        except sa.exc.OperationalError as error:
            connection.rollback()
            if isinstance(error.orig, QueryCanceled):
                raise CannotStart(
                    f"A statement of the migration takes longer than {terms.statement:g} s. It was undone; run "
                    "`signum migrate --statement-timeout SECONDS` with more."
                ) from error
            if not isinstance(error.orig, LockNotAvailable):
                raise
            log.warning("migration.lock_refused", attempt=attempt + 1, of=terms.attempts, seconds=terms.lock)
            if attempt == terms.attempts - 1:
                raise CannotStart(
                    f"A table was in use for longer than {terms.lock:g} s at each of {terms.attempts} attempts. "
                    "The revisions before it are done. Run `signum migrate` again when there is less traffic."
                ) from error
            time.sleep(min(1.0, terms.lock))
    connection.execute(sa.text("reset lock_timeout"))
    connection.execute(sa.text("reset statement_timeout"))
    connection.commit()


@contextmanager
def _alone(url: str, terms: Terms) -> Iterator[sa.Connection]:
    """Open a connection of the owner that holds the migrations' lock."""
    with _connected(owner_url(url)) as connection:
        ends = time.monotonic() + terms.wait
        is_told = False
        while not connection.scalar(sa.text("select pg_try_advisory_lock(:key)"), {"key": MIGRATION}):
            connection.commit()
            if time.monotonic() > ends:
                raise CannotStart(
                    f"Another migration of this database has run for more than {terms.wait:g} s. Wait for its end, or "
                    "end its process."
                )
            if not is_told:
                log.warning("migration.waiting", reason="another migration of this database runs", seconds=terms.wait)
                is_told = True
            time.sleep(0.1)
        connection.commit()
        yield connection
        connection.execute(sa.text("select pg_advisory_unlock(:key)"), {"key": MIGRATION})
        connection.commit()


@contextmanager
def _connected(url: str) -> Iterator[sa.Connection]:
    engine = sa.create_engine(url, poolclass=sa.pool.NullPool, hide_parameters=True)
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def _config(folders: tuple[Path, ...] = (frozen.VERSIONS,)) -> Config:
    config = Config()
    config.set_main_option("path_separator", "newline")
    config.set_main_option("version_locations", "\n".join(map(str, folders)))
    config.set_main_option("script_location", str(Path(__file__).resolve().parent))
    return config
