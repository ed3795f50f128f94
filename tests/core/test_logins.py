"""The login roles: web, workers and migrations use three roles, and the first two cannot escalate."""

import secrets
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.engine import make_url

from backend.core import db, logins
from backend.core.connections import database
from backend.core.errors import CannotStart
from backend.core.runtime import runtime
from backend.core.settings import settings
from backend.engine import dbos_internals, engine
from backend.migrations.migrate import check, migrate
from tests.conftest import World

WHO = sa.text("select session_user, current_user")
ESCAPES = [
    "set role none",
    "reset role",
    "set role postgres",
    "set session authorization default",
    "set session authorization postgres",
    "reset all",
    "discard all",
]


async def test_web_workers_and_migrations_sign_in_with_different_roles(api: Any, database_url: str) -> None:
    async with db.transaction() as session:
        web = (await session.execute(WHO)).one()
    async with db.step() as session:
        flow = (await session.execute(WHO)).one()
    async with db.worker() as session:
        worker = (await session.execute(WHO)).one()
    assert tuple(web) == tuple(flow) == ("signum_web_login",) * 2
    assert tuple(worker) == ("signum_worker_login",) * 2
    client = runtime.part(engine.Engine).client
    assert client is not None
    for pool in dbos_internals.databases(client):
        with pool.connect() as connection:
            assert connection.execute(WHO).one()[0] == "signum_web_login"
    own = await database.own_connection()
    assert await (await own.execute("select session_user")).fetchone() == ("signum_worker_login",)
    await own.close()
    with psycopg.connect(database_url) as owner:
        assert owner.execute("select session_user").fetchone() == ("postgres",)


@pytest.mark.parametrize("escape", ESCAPES)
@pytest.mark.parametrize("group", [logins.WEB, logins.WORKER])
async def test_login_role_cannot_switch_back_to_the_owner(
    world: World, database_url: str, group: str, escape: str
) -> None:
    acme = await world.organization()
    with psycopg.connect(logins.conninfo(logins.role_url(database_url, group)), autocommit=True) as connection:
        before = connection.execute("select session_user").fetchone()
        with suppress(psycopg.errors.InsufficientPrivilege):
            connection.execute(escape.encode())
        assert connection.execute("select session_user").fetchone() == before
        assert connection.execute("select current_user").fetchone() == before
        seen = connection.execute("select count(*) from organizations where id = %s", [acme]).fetchone()
        assert seen == ((0,) if group == logins.WEB else (1,))
        for statement in (
            "alter table organizations disable row level security",
            "create role mighty superuser",
            "copy (select 1) to program 'true'",
            "select pg_read_file('pg_hba.conf')",
            "select rolpassword from pg_authid",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement.encode())


@pytest.mark.parametrize("group", [logins.WEB, logins.WORKER])
@pytest.mark.parametrize(
    "statement",
    [
        "create temporary table mine (id int)",
        "create function pg_temp.mine() returns trigger language plpgsql as 'begin return new; end'",
        "create function public.mine() returns int language sql as 'select 1'",
        "create function dbos.mine() returns int language sql as 'select 1'",
        "create trigger mine before insert on dbos.workflow_status execute function dbos.notifications_function()",
        "create trigger mine before insert on members execute function dbos.notifications_function()",
        "truncate dbos.workflow_status",
        "update dbos.dbos_migrations set version = 1",
        "update schema_version set version_num = '0'",
    ],
)
async def test_login_role_leaves_no_code_for_another_role_to_run(
    api: Any, database_url: str, group: str, statement: str
) -> None:
    """A trigger would run with the rights of the next writer: the worker, or the owner at the next migration."""
    with psycopg.connect(logins.conninfo(logins.role_url(database_url, group))) as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement.encode())
        connection.rollback()


async def test_web_role_cannot_become_the_worker(database_url: str) -> None:
    with psycopg.connect(logins.conninfo(logins.role_url(database_url, logins.WEB)), autocommit=True) as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("set role signum_worker")
        # The function reads the signed-in role, not a setting.
        connection.execute("select set_config('role', 'none', false)")
        assert connection.execute("select signum_is_worker()").fetchone() == (False,)


@pytest.fixture
def elsewhere(database_url: str) -> Iterator[str]:
    """The URL of an operator's own database: an owner with a password, but not a superuser."""
    name, password = f"firm{secrets.token_hex(4)}", secrets.token_urlsafe(12)
    with psycopg.connect(database_url, autocommit=True) as owner:
        owner.execute(f"create role {name} login createrole password '{password}'".encode())
        owner.execute(f"grant signum_app, signum_worker to {name} with admin option".encode())
        owner.execute(f"create database {name} owner {name}".encode())
    url = make_url(database_url).set(username=name, password=password, database=name)
    yield url.render_as_string(hide_password=False)
    with psycopg.connect(database_url, autocommit=True) as owner:
        owner.execute(f"drop database {name} with (force)".encode())
        owner.execute(f"drop role if exists {name}_web_login, {name}_worker_login, {name}".encode())


def stored(database_url: str, role: str) -> str:
    with psycopg.connect(database_url) as owner:
        found = owner.execute("select rolpassword from pg_authid where rolname = %s", [role]).fetchone()
    assert found is not None
    return str(found[0])


@pytest.mark.long
def test_operator_needs_a_single_url(database_url: str, elsewhere: str) -> None:
    """The login roles' passwords are derived from the owner's and do not reveal it."""
    migrate(elsewhere)
    migrate(elsewhere)
    logins.check(elsewhere)
    check(elsewhere)
    name, given = make_url(elsewhere).database, str(make_url(elsewhere).password)
    passwords = set()
    for group, login in ((logins.WEB, f"{name}_web_login"), (logins.WORKER, f"{name}_worker_login")):
        url = make_url(logins.role_url(elsewhere, group))
        assert url.username == login
        assert stored(database_url, login).startswith("SCRAM-SHA-256$")
        passwords.add(str(url.password))
    assert len(passwords) == 2
    assert all(given not in password and len(password) == 64 for password in passwords)


@pytest.mark.long
def test_overprivileged_role_is_rejected(database_url: str, elsewhere: str, monkeypatch: pytest.MonkeyPatch) -> None:
    migrate(elsewhere)
    worker = logins.role_url(elsewhere, logins.WORKER)
    for mighty in (elsewhere, database_url, worker):
        monkeypatch.setattr(settings(), "database_url_web", mighty)
        monkeypatch.setattr(settings(), "database_url_worker", worker)
        with pytest.raises(CannotStart, match="must be a member of signum_app and of no other role"):
            logins.check(elsewhere)


@pytest.mark.long
def test_owner_who_may_create_no_roles_learns_what_helps(database_url: str, elsewhere: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(f"alter role {make_url(elsewhere).username} nocreaterole".encode())
    with pytest.raises(CannotStart, match=r"may not create the login roles: .* or set SIGNUM_DATABASE_URL_WEB"):
        migrate(elsewhere)


@pytest.mark.long
def test_server_without_the_owner_requires_the_newest_schema(
    database_url: str, elsewhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With only the login roles' URLs, the server does not migrate, and says what is missing."""
    migrate(elsewhere)
    web, worker = (logins.role_url(elsewhere, group) for group in (logins.WEB, logins.WORKER))
    monkeypatch.setattr(settings(), "database_url_web", web)
    monkeypatch.setattr(settings(), "database_url_worker", worker)
    check(web)
    logins.check(web)
    with psycopg.connect(elsewhere, autocommit=True) as owner:
        owner.execute("update schema_version set version_num = '0000'")
    with pytest.raises(CannotStart, match="Run `signum migrate`"):
        check(web)


@pytest.mark.long
def test_new_database_has_no_account_and_no_key(elsewhere: str) -> None:
    migrate(elsewhere)
    with psycopg.connect(logins.conninfo(elsewhere)) as connection:
        for table in ("users", "api_keys", "organizations", "oauth_clients"):
            assert connection.execute(f"select count(*) from {table}".encode()).fetchone() == (0,), table
