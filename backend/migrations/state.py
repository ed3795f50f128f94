"""What a migration leaves in the database besides the schema: its version, and the definitions of its objects."""

import sqlalchemy as sa

from backend.migrations import catalog
from backend.migrations.rules import State

_MAKE = "create table if not exists schema_state (server int not null, objects jsonb not null)"
_READERS = "grant select on schema_state to signum_app, signum_worker"
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
    return State(version, catalog.differences(stored.objects, catalog.objects(connection)))


def store(connection: sa.Connection) -> None:
    """Store the definitions of the objects as they are now."""
    connection.execute(sa.text(_MAKE))
    connection.execute(sa.text(_READERS))
    connection.execute(sa.text("delete from schema_state"))
    values = {"server": connection.scalar(_SERVER), "objects": catalog.objects(connection)}
    connection.execute(_STORE.bindparams(_OBJECTS), values)


def _version(connection: sa.Connection) -> str | None:
    if connection.scalar(sa.text("select to_regclass('public.schema_version')")) is None:
        return None
    found: str | None = connection.scalar(sa.text("select version_num from schema_version"))
    return found
