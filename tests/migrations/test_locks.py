"""Migrations while others use the tables, or migrate too."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from backend.core import logins
from backend.core.errors import CannotStart
from backend.migrations import frozen, migrate, state
from backend.migrations.migrate import Terms
from tests.support import schemas

NEWEST = migrate.known()[-1]
LATER = f"{int(NEWEST) + 1:04}"
REVISION = f"""
from alembic import op

revision, down_revision = "{LATER}", "{NEWEST}"

def upgrade() -> None:
    op.execute("alter table parties add column note text")
"""
NOTES = "select count(note) from parties"
WAITING = "select count(*) from pg_locks where relation = 'parties'::regclass and not granted"


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, ...]:
    """The revisions of a later version, which adds a column."""
    (tmp_path / f"{LATER}_notes.py").write_text(REVISION)
    return frozen.VERSIONS, tmp_path


@contextmanager
def reading(url: str) -> Iterator[sa.Connection]:
    """Keep a transaction open that has read the table."""
    engine = sa.create_engine(logins.owner_url(url), poolclass=sa.NullPool)
    with engine.connect() as connection:
        connection.exec_driver_sql("select count(*) from parties")
        yield connection


def version(url: str) -> str | None:
    with migrate._connected(logins.owner_url(url)) as connection:
        return state.read(connection).version


def test_later_revision_is_migrated_and_then_refused_by_the_old_version(
    migrated: str, folders: tuple[Path, ...]
) -> None:
    migrate.migrate(migrated, Terms(folders=folders))
    schemas.execute(migrated, NOTES)
    with pytest.raises(CannotStart, match=f"{LATER} is newer than this version"):
        migrate.check(migrated)


def test_migration_gives_up_where_a_table_stays_in_use(migrated: str, folders: tuple[Path, ...]) -> None:
    terms = Terms(lock=0.1, attempts=2, folders=folders)
    with reading(migrated), pytest.raises(CannotStart, match=r"in use for longer than 0\.1 s at each of 2 attempts"):
        migrate.migrate(migrated, terms)
    assert version(migrated) == NEWEST
    migrate.check(migrated)
    migrate.migrate(migrated, terms)
    assert version(migrated) == LATER


def test_migration_retries_until_a_table_is_free(migrated: str, folders: tuple[Path, ...]) -> None:
    with ThreadPoolExecutor(1) as other, reading(migrated) as reader:
        running = other.submit(migrate.migrate, migrated, Terms(lock=0.1, attempts=100, folders=folders))
        for is_waiting in (True, False, True):
            while bool(reader.exec_driver_sql(WAITING).scalar()) != is_waiting:
                assert not running.done()
        reader.rollback()
        running.result()
    assert version(migrated) == LATER


def test_statement_that_takes_too_long_leaves_the_schema_as_it_was(migrated: str, tmp_path: Path) -> None:
    (tmp_path / f"{LATER}_notes.py").write_text(REVISION + '    op.execute("select pg_sleep(60)")\n')
    with pytest.raises(CannotStart, match=r"takes longer than 0\.2 s"):
        migrate.migrate(migrated, Terms(statement=0.2, folders=(frozen.VERSIONS, tmp_path)))
    assert version(migrated) == NEWEST
    migrate.check(migrated)


def test_concurrent_migrations_migrate_once(empty: str) -> None:
    with ThreadPoolExecutor(3) as starts:
        for done in [starts.submit(migrate.migrate, empty) for _ in range(3)]:
            done.result()
    migrate.check(empty)
