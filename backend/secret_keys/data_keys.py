"""Data keys in the database: their creation, and what a start checks."""

import secrets
from datetime import datetime
from typing import Any

import psycopg
import structlog

from backend.core.connections import database
from backend.core.errors import CannotStart
from backend.core.secret_keys.keyring import Purpose, keyring, opened, place
from backend.core.secret_keys.root_key import PREVIOUS, VARIABLE, root_keys
from backend.core.settings import Settings
from backend.secret_keys import earlier

log = structlog.get_logger()
KEY_BYTES = 32
LOCK = "lock table data_keys in share row exclusive mode"
"""Others read on, but only one process changes keys."""


def prepare(settings: Settings) -> None:
    """Create the keys that are missing, and read all. Raises CannotStart where this process has the wrong secrets."""
    with database.thread_connection() as connection:
        connection.execute(LOCK)
        found = {purpose for (purpose,) in connection.execute("select distinct purpose from data_keys")}
        opened(connection, {})
        if found and root_keys().current is None:
            raise CannotStart(f"{VARIABLE} is not set. Set it to the new secret key; {PREVIOUS} is the one before it.")
        if missing := [purpose for purpose in Purpose if purpose not in found]:
            _create(connection, missing, {} if found else earlier.keys(connection, settings))
    keyring().refresh()


def _create(connection: psycopg.Connection[Any], missing: list[Purpose], known: dict[Purpose, bytes]) -> None:
    for purpose in missing:
        secret = known.get(purpose)
        add(connection, purpose, 0 if secret else 1, secret or new_key())
    log.info("data_keys.created", purposes=[str(one) for one in missing], earlier=[str(one) for one in known])


def new_key() -> bytes:
    """Return a new random key."""
    return secrets.token_bytes(KEY_BYTES)


def add(connection: psycopg.Connection[Any], purpose: Purpose, version: int, secret: bytes) -> None:
    """Add a version, wrapped by the current secret key."""
    root = root_keys().create()
    wrapped = root.wrap(secret, place(purpose, version))
    connection.execute(
        "insert into data_keys (purpose, version, wrapped, wrapped_by) values (%s, %s, %s, %s)",
        [purpose.value, version, wrapped, root.fingerprint],
    )


def lines() -> list[str]:
    """Return a line for each version: purpose, version, state, creation, and who encrypts it."""
    query = "select purpose, version, wrapped is null, retired_at, created_at, wrapped_by from data_keys order by 1, 2"
    with database.thread_connection() as connection:
        rows = connection.execute(query).fetchall()
    newest = {row[0]: row[1] for row in rows}
    return [
        f"{purpose:<10}{version:>4}  {_state(is_deleted, retired_at, is_newest=newest[purpose] == version):<9}"
        f"created {created_at:%Y-%m-%d %H:%M}  secret key {wrapped_by}"
        for purpose, version, is_deleted, retired_at, created_at, wrapped_by in rows
    ]


def _state(is_deleted: bool, retired_at: datetime | None, *, is_newest: bool) -> str:
    if is_deleted:
        return "deleted"
    if retired_at:
        return "retired"
    return "current" if is_newest else "replaced"
