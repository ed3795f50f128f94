"""What a migration leaves in the database besides the schema: its version, and the definitions of its objects.

The definitions are compared only where they were read in the same way: for the same revision, by the same query, on the
same major version of PostgreSQL.
"""

import sqlalchemy as sa

from backend.migrations import catalog
from backend.migrations.rules import State

_MAKE = "create table if not exists schema_state (server int not null, objects jsonb not null)"
_RIGHTS = (
    "revoke all on schema_state from signum_app, signum_worker",
    "grant select on schema_state to signum_app, signum_worker",
)
_ORIGIN = "origin"
"""The entry of the stored objects that says for which revision, and how, they were read."""
_OBJECTS = sa.bindparam("objects", type_=sa.JSON)
_STORE = sa.text("insert into schema_state (server, objects) values (:server, cast(:objects as jsonb))")
_SERVER = sa.text("select current_setting('server_version_num')::int / 10000")


def read(connection: sa.Connection) -> State:
    """Return a database's state. Needs no owner's rights."""
    version = _version(connection)
    if version is None:
        return State(None, None)
    if connection.scalar(sa.text("select to_regclass('public.schema_state')")) is None:
        return State(version, None, is_known=False)
    stored = connection.execute(sa.text("select server, objects from schema_state")).one_or_none()
    if stored is None or stored.server != connection.scalar(_SERVER):
        return State(version, None)
    if stored.objects.pop(_ORIGIN, None) != _origin(version):
        return State(version, None)
    return State(version, catalog.differences(stored.objects, catalog.objects(connection)))


def prepare(connection: sa.Connection) -> None:
    """Create the table before the first revision, so that an interrupted migration can be continued."""
    connection.execute(sa.text(_MAKE))


def store(connection: sa.Connection) -> None:
    """Store the definitions of the objects as they are now."""
    for statement in (*_RIGHTS, "delete from schema_state"):
        connection.execute(sa.text(statement))
    stored = {_ORIGIN: _origin(_version(connection)), **catalog.objects(connection)}
    connection.execute(_STORE.bindparams(_OBJECTS), {"server": connection.scalar(_SERVER), "objects": stored})


def _origin(version: str | None) -> str:
    return f"{version} {catalog.FORMAT}"


def _version(connection: sa.Connection) -> str | None:
    if connection.scalar(sa.text("select to_regclass('public.schema_version')")) is None:
        return None
    found: str | None = connection.scalar(sa.text("select version_num from schema_version"))
    return found
