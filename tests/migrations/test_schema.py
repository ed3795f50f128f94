"""Migrations of real databases: what they create, refuse and leave."""

from uuid import uuid4

import pytest
import sqlalchemy as sa

from backend.core import logins
from backend.core.errors import CannotStart
from backend.core.locks import MIGRATION
from backend.migrations import catalog, migrate
from backend.migrations.migrate import Terms
from tests.support.schemas import execute, execute_as, objects, psql


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
        ("alter view signum_acquainted set (security_barrier = false)", "table signum_acquainted differs"),
        ("grant select (password_hash) on users to signum_app", "column users.password_hash differs"),
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


def test_schema_of_before_the_first_revision_is_refused(migrated: str) -> None:
    execute(migrated, "drop table schema_state")
    for start in (migrate.check, migrate.migrate):
        with pytest.raises(CannotStart, match=r"created by version 0\.1\.0"):
            start(migrated)


def test_dry_run_shows_the_sql_and_changes_nothing(empty: str, database_url: str) -> None:
    text = migrate.plan(empty)
    assert "CREATE TABLE audit_log" in text
    assert "create function signum_is_worker()" in text
    assert migrate.is_empty(empty)
    psql(empty, text)
    assert catalog.differences(objects(database_url), objects(empty)) == []
    assert "%%" not in text


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


def test_rights_of_other_roles_and_extensions_are_no_drift(migrated: str) -> None:
    role = f"reports_{uuid4().hex[:8]}"
    execute(migrated, f"create role {role}", f"grant select on parties to {role}", "create extension vector")
    migrate.check(migrated)
    execute(migrated, f"drop owned by {role}", f"drop role {role}")


def test_interrupted_migration_is_continued(migrated: str) -> None:
    """The revision is committed before the definitions are stored."""
    execute(migrated, "delete from schema_state", "drop index ix_audit_log_subject")
    migrate.migrate(migrated)
    migrate.check(migrated)


def test_roles_of_requests_cannot_hide_drift(migrated: str) -> None:
    for group in (logins.WEB, logins.WORKER):
        with pytest.raises(sa.exc.ProgrammingError, match="permission denied for table schema_state"):
            execute_as(logins.role_url(migrated, group), "delete from schema_state")
