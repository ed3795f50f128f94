"""Rotation of data keys, and of the secret key that encrypts them, while all processes run.

A new version is written first. Within `FRESH_SECONDS` every process seals with it, and all open both. Contents of
earlier versions are then sealed again, in batches. Nothing else is remembered: after an interruption, the
remaining contents are those that name an earlier version. When all are done, the earlier versions are retired, and
deleted a week later.
"""

import time
from collections.abc import Callable
from typing import Any

import psycopg
import structlog

from backend.core.connections import database
from backend.core.encryption import CannotUnseal, Seal
from backend.core.errors import CannotStart
from backend.core.secret_keys.keyring import FRESH_SECONDS, Purpose, keyring, opened, place
from backend.core.secret_keys.root_key import root_keys
from backend.secret_keys import data_keys
from backend.secret_keys.sealed_columns import COLUMNS, Bytes

log = structlog.get_logger()
BATCH = 50
"""Rows of a transaction. Each is locked until its end: pieces of documents have up to 256 KiB."""
KEPT = "7 days"
"""How long a retired version still opens contents, such as those of a restored table."""
PATIENCE = 300.0
"""Seconds to wait for transactions that may have sealed with an earlier version."""
POLL = 0.2
AGE = "select extract(epoch from now() - created_at)::float8 from data_keys where purpose = %s and version = %s"


def rotate(purpose: Purpose, say: Callable[[str], None] = log.info) -> int:
    """Give a purpose a new key, or continue an interrupted rotation; return the new version.

    Raises CannotStart where it could not be completed. It can then be repeated.
    """
    version = _begin(purpose)
    keyring().refresh()
    say(f"Version {version} of the key for {purpose} seals new contents.")
    count, _ = seal_again(purpose)
    _wait_for_others(purpose, version)
    late, lost = seal_again(purpose)
    if lost:
        say(f"{lost} contents cannot be decrypted with any key; they stay as they are.")
    with database.thread_connection() as connection:
        connection.execute(
            "update data_keys set retired_at = now() where purpose = %s and version < %s and retired_at is null",
            [purpose.value, version],
        )
    say(f"{count + late} contents were encrypted again. Earlier versions are retired, and deleted after {KEPT}.")
    return version


def delete_retired() -> None:
    """Delete the keys that were retired long ago; contents that still need one are sealed again first."""
    for purpose in COLUMNS:
        old = "purpose = %s and wrapped is not null and retired_at < now() - %s::interval"
        with database.thread_connection() as connection:
            found = connection.execute(f"select 1 from data_keys where {old}", [purpose.value, KEPT]).fetchone()  # noqa: S608
        if found:
            seal_again(purpose)
            with database.thread_connection() as connection:
                connection.execute(f"update data_keys set wrapped = null where {old}", [purpose.value, KEPT])  # noqa: S608


def wrap_again() -> int:
    """Encrypt every data key under the current secret key, in one transaction; return how many were under another."""
    with database.thread_connection() as connection:
        connection.execute(data_keys.LOCK)
        root, keys = root_keys().create(), opened(connection, {})
        query = "select purpose, version from data_keys where wrapped is not null and wrapped_by <> %s"
        others = connection.execute(query, [root.fingerprint]).fetchall()
        for purpose, version in others:
            wrapped = root.wrap(keys[purpose, version].secret, place(purpose, version))
            connection.execute(
                "update data_keys set wrapped = %s, wrapped_by = %s where purpose = %s and version = %s",
                [wrapped, root.fingerprint, purpose, version],
            )
    return len(others)


def seal_again(purpose: Purpose) -> tuple[int, int]:
    """Seal the contents of earlier versions with the newest key; return how many, and how many no key opens."""
    seal, done, lost = Seal(purpose), 0, 0
    keyring().refresh()
    for column in COLUMNS[purpose]:
        after = None
        while True:
            with database.thread_connection() as connection:
                rows = column.batch(connection, keyring().newest(purpose).version, after, BATCH)
                opens = [_replace(connection, column, seal, *row) for row in rows]
            done, lost = done + sum(opens), lost + len(opens) - sum(opens)
            if not rows:
                break
            after = str(rows[-1][0])
    return done, lost


def _replace(connection: psycopg.Connection[Any], column: Bytes, seal: Seal, row: Any, place: str, sealed: Any) -> bool:
    try:
        column.replace(connection, row, sealed, column.again(seal, sealed, place))
    except CannotUnseal:
        log.warning("content.not_decrypted", table=column.table, row=str(row))
        return False
    return True


def _begin(purpose: Purpose) -> int:
    """Return the version to rotate to: a new one, or that of a rotation that was interrupted."""
    with database.thread_connection() as connection:
        connection.execute(data_keys.LOCK)
        opened(connection, {})
        query = "select version, retired_at, wrapped_by from data_keys where purpose = %s order by version"
        found = connection.execute(query, [purpose.value]).fetchall()
        root = root_keys().current
        if not found or root is None:
            raise CannotStart("The database has no data keys yet. Start `signum serve` first.")
        newest, _, wrapped_by = found[-1]
        if wrapped_by != root.fingerprint:
            raise CannotStart(
                "The data keys are encrypted under the previous secret key. Run `signum keys rotate root`."
            )
        if sum(retired_at is None for _, retired_at, _ in found) > 1:
            return int(newest)
        data_keys.add(connection, purpose, newest + 1, data_keys.new_key())
        return int(newest) + 1


def _wait_for_others(purpose: Purpose, version: int) -> None:
    """Wait until every process seals with a version, and every transaction that began before that has ended."""
    with database.thread_connection() as connection:
        row = connection.execute(AGE, [purpose.value, version]).fetchone()
    time.sleep(max(0.0, FRESH_SECONDS + 1 - (row[0] if row else 0)))
    with database.thread_connection() as connection:
        row = connection.execute("select pg_snapshot_xmax(pg_current_snapshot())::text").fetchone()
    last, ends = row[0] if row else "0", time.monotonic() + PATIENCE
    while True:
        with database.thread_connection() as connection:
            ended = "select pg_snapshot_xmin(pg_current_snapshot()) >= %s::xid8"
            row = connection.execute(ended, [last]).fetchone()
        if row and row[0]:
            return
        if time.monotonic() > ends:
            raise CannotStart("A transaction has run for too long to retire the earlier key. Run the command again.")
        time.sleep(POLL)
