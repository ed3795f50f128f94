"""Migrations of real databases: what they create, refuse and leave."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
import sqlalchemy as sa
from sqlmodel import SQLModel

from backend import migrations, models
from backend.core import logins
from backend.core.errors import CannotStart
from backend.core.locks import MIGRATION
from backend.migrations import catalog, migrate
from backend.migrations.migrate import Terms

assert models
SQL = Path(migrations.__file__).parent / "sql"
CURRENT = ("roles", "policies", "functions", "people", "audit", "live_updates", "investors")


@pytest.fixture
def empty(database_url: str) -> Iterator[str]:
    """The URL of an empty database of its own."""
    name = f"scratch_{uuid4().hex[:8]}"
    engine = sa.create_engine(logins.owner_url(database_url), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"create database {name}")
        yield sa.make_url(database_url).set(database=name).render_as_string(hide_password=False)
        connection.exec_driver_sql(f"drop database {name} with (force)")
    engine.dispose()


@pytest.fixture
def migrated(empty: str) -> str:
    migrate.migrate(empty)
    return empty


def execute(url: str, *statements: str) -> None:
    engine = sa.create_engine(logins.owner_url(url), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    engine.dispose()


def objects(url: str) -> dict[str, str]:
    engine = sa.create_engine(logins.owner_url(url))
    with engine.connect() as connection:
        found = catalog.objects(connection)
    engine.dispose()
    return found


def test_revisions_create_what_models_and_current_sql_describe(empty: str, database_url: str) -> None:
    engine = sa.create_engine(logins.owner_url(empty))
    with engine.begin() as connection:
        SQLModel.metadata.create_all(connection)
        connection.exec_driver_sql("create table schema_version (version_num text)")
        for name in CURRENT:
            connection.exec_driver_sql((SQL / f"{name}.sql").read_text().replace("%", "%%"))
    engine.dispose()
    assert catalog.differences(objects(empty), objects(database_url)) == []


def test_migration_can_be_repeated(migrated: str) -> None:
    before = objects(migrated)
    migrate.migrate(migrated)
    assert objects(migrated) == before
    migrate.check(migrated)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("drop index ix_audit_log_subject", "index ix_audit_log_subject is missing"),
        ("alter table parties add column note text", "column parties.note is not Signum's"),
        ("drop policy worker on reconciliations", "policy reconciliations.worker is missing"),
        ("alter table parties disable row level security", "table parties differs"),
        ("grant insert on chains to signum_app", "table chains differs"),
        ("alter function signum_is_worker() security definer", "function signum_is_worker() differs"),
        ("alter table parties alter column name drop not null", "column parties.name differs"),
    ],
)
def test_drift_is_refused_by_name_until_it_is_accepted(migrated: str, change: str, said: str) -> None:
    execute(migrated, change)
    for start in (migrate.check, migrate.migrate):
        with pytest.raises(CannotStart, match="differs from what the migration left") as refused:
            start(migrated)
        assert said in str(refused.value)
    migrate.migrate(migrated, accepts_drift=True)
    migrate.check(migrated)


def test_newer_schema_is_refused(migrated: str) -> None:
    execute(migrated, "update schema_version set version_num = '9999'")
    for start in (migrate.check, migrate.migrate, migrate.plan):
        with pytest.raises(CannotStart, match="9999 is newer than this version"):
            start(migrated)


def test_schema_of_before_the_first_release_is_refused(migrated: str) -> None:
    execute(migrated, "drop table schema_state")
    for start in (migrate.check, migrate.migrate):
        with pytest.raises(CannotStart, match="before the first release"):
            start(migrated)


def test_dry_run_shows_the_sql_and_changes_nothing(empty: str, database_url: str) -> None:
    text = migrate.plan(empty)
    assert "CREATE TABLE audit_log" in text
    assert "create function signum_is_worker()" in text
    assert migrate.is_empty(empty)
    execute(empty, text)
    assert catalog.differences(objects(database_url), objects(empty)) == []


def test_newest_schema_has_nothing_to_run(migrated: str) -> None:
    assert migrate.plan(migrated) == ""


def test_second_migration_waits_and_says_so(migrated: str) -> None:
    engine = sa.create_engine(logins.owner_url(migrated))
    with engine.connect() as connection:
        connection.execute(sa.text("select pg_advisory_lock(:key)"), {"key": MIGRATION})
        with pytest.raises(CannotStart, match=r"Another migration of this database has run for more than 0\.2 s"):
            migrate.migrate(migrated, Terms(wait=0.2))
    engine.dispose()
    migrate.migrate(migrated, Terms(wait=0.2))
