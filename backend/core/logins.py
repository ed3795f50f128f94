"""PostgreSQL login roles: one for the web, one for workers, and the owner for migrations.

Table rights and row-level security are granted to two groups, `signum_app` and `signum_worker`. Each group has one
login role, `<database>_web_login` and `<database>_worker_login`, which is a member of it and of no other role, so no
connection can return to the owner with `reset role` or `set role none`. Migrations create these roles. Their passwords
are derived from the owner's, so DATABASE_URL is enough for every process; on the embedded server the operating system
authenticates connections. An operator who creates the roles sets their URLs instead: SIGNUM_DATABASE_URL_WEB and
SIGNUM_DATABASE_URL_WORKER.
"""

import hashlib
import hmac
from functools import lru_cache
from typing import Any

import psycopg
import sqlalchemy as sa
from psycopg import sql
from sqlalchemy.engine import URL, make_url

from backend.core.errors import CannotStart
from backend.core.settings import Settings, settings

WEB, WORKER = "signum_app", "signum_worker"
"""Groups: the first for requests and workflows, the second for chain infrastructure and the operator's commands."""
_LOGINS = {WEB: "web_login", WORKER: "worker_login"}
_POWERS = """
  select r.rolsuper or r.rolcreaterole or r.rolcreatedb or r.rolbypassrls or r.rolreplication,
         pg_has_role(r.oid, %s, 'usage'),
         exists (select from pg_roles o where o.rolname not in (r.rolname, %s) and pg_has_role(r.oid, o.oid, 'member')),
         exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
                 where n.nspname in ('public', 'dbos') and c.relowner = r.oid)
  from pg_roles r where r.rolname = session_user
"""


def owner_url(url: str) -> str:
    """Return the owner's URL for psycopg 3, the only driver."""
    return make_url(url).set(drivername="postgresql+psycopg").render_as_string(hide_password=False)


def role_url(url: str, group: str) -> str:
    """Return the URL of a group's login role for psycopg 3.

    `url` is the owner's. A URL in the settings takes precedence.
    """
    chosen = _chosen(settings(), group)
    if chosen is not None:
        return owner_url(chosen)
    parsed = make_url(url).set(drivername="postgresql+psycopg", username=login_of(url, group))
    return parsed.set(password=_password(url, group) or "").render_as_string(hide_password=False)


def replica_url(url: str) -> str | None:
    """Return the replica's URL of the web's login role for psycopg 3, or None where no replica is set.

    `url` is the owner's: the roles of a replica are those of its primary.
    """
    replica = settings().database_url_replica
    if replica is None:
        return None
    if _chosen(settings(), WEB) is not None:
        return owner_url(replica)
    parsed = make_url(replica).set(drivername="postgresql+psycopg", username=login_of(url, WEB))
    return parsed.set(password=_password(url, WEB) or "").render_as_string(hide_password=False)


def login_of(url: str, group: str) -> str:
    """Return the name of a group's login role. Roles belong to the server, so the name includes the database's."""
    return f"{_database(make_url(url))[:40]}_{_LOGINS[group]}"


def make(connection: sa.Connection, url: str) -> None:
    """Create the login roles that the settings do not name, or reset their passwords. Runs as the owner.

    Raises CannotStart where the owner may not.
    """
    try:
        _make(connection, url)
    except psycopg.errors.InsufficientPrivilege as error:
        raise CannotStart(
            f"The owner {make_url(url).username} may not create the login roles: {str(error).splitlines()[0]}. Allow "
            "it with `alter role … createrole`, or set SIGNUM_DATABASE_URL_WEB and SIGNUM_DATABASE_URL_WORKER to the "
            "URLs of roles that exist."
        ) from error


def _make(connection: sa.Connection, url: str) -> None:
    driver: Any = connection.connection.driver_connection
    # A temporary function could be attached to a trigger that another role executes.
    database = sql.Identifier(driver.info.dbname)
    driver.execute(sql.SQL("revoke temporary, create on database {} from public").format(database))
    for group in _LOGINS:
        if _chosen(settings(), group) is not None:
            continue
        name = sql.Identifier(login_of(url, group))
        known = driver.execute("select 1 from pg_roles where rolname = %s", [login_of(url, group)]).fetchone()
        if known is None:
            driver.execute(sql.SQL("create role {} login").format(name))
        driver.execute(sql.SQL("grant {} to {}").format(sql.Identifier(group), name))
        if (password := _password(url, group)) is not None:
            # Hashed here, so that it appears in no log of the server.
            kept = driver.pgconn.encrypt_password(password.encode(), login_of(url, group).encode(), b"scram-sha-256")
            driver.execute(sql.SQL("alter role {} password {}").format(name, sql.Literal(kept.decode())))


def check(url: str) -> None:
    """Raise CannotStart where a login role cannot connect, or has more rights than its group."""
    for group in _LOGINS:
        named = f"{'SIGNUM_DATABASE_URL_WEB' if group == WEB else 'SIGNUM_DATABASE_URL_WORKER'}"
        try:
            with psycopg.connect(conninfo(role_url(url, group)), connect_timeout=10) as connection:
                powers = connection.execute(_POWERS, [group, group]).fetchone()
        except psycopg.OperationalError as error:
            raise CannotStart(
                f"The role {make_url(role_url(url, group)).username} cannot sign in to the database. "
                f"Allow it there, or set {named} to the URL of a role that is a member of {group}."
            ) from error
        assert powers is not None, "session_user is a role"
        is_mighty, is_member, is_more, is_owner = powers
        if is_mighty or is_more or is_owner or not is_member:
            raise CannotStart(
                f"The role {make_url(role_url(url, group)).username} must be a member of {group} and of no other "
                f"role, without rights of its own. Correct {named}."
            )


def conninfo(url: str) -> str:
    """Return a URL in libpq's form."""
    base, mark, query = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False).partition("?")
    return base + mark + query.replace("+", "%20")  # SQLAlchemy's space, which libpq would read as a plus sign


def _chosen(settings: Settings, group: str) -> str | None:
    return settings.database_url_web if group == WEB else settings.database_url_worker


def _database(url: URL) -> str:
    return url.database or url.username or "signum"


def _password(url: str, group: str) -> str | None:
    """Return the derived password, or None where the owner has none: the server then authenticates in another way, such
    as by the socket's user.
    """
    owner = make_url(url)
    if not owner.password:
        return None
    return hmac.digest(_stretched(str(owner.password), _database(owner)), group.encode(), "sha256").hex()


@lru_cache(maxsize=4)
def _stretched(password: str, database: str) -> bytes:
    """Stretch the owner's password, so that it cannot be guessed from a login role's password."""
    salt = b"signum login roles " + database.encode()
    return hashlib.scrypt(password.encode(), salt=salt, n=2**14, r=8, p=1, maxmem=2**25, dklen=32)
