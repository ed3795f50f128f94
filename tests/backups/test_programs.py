"""PostgreSQL's programs load a dump completely or not at all, also into an older server."""

import io
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from backend.backups import programs
from backend.backups.backup import plain
from backend.core.errors import CannotStart
from tests.support import schemas

ROWS = 50_000
TABLES = "select count(*) from pg_tables where schemaname = 'public'"


@pytest.fixture
def target(database_url: str) -> Iterator[str]:
    """An empty database."""
    with schemas.database(database_url) as url:
        yield plain(url)


@pytest.fixture
def dump(database_url: str, tmp_path: Path) -> Path:
    """A dump of two tables, the second one with rows."""
    with schemas.database(database_url) as url:
        with psycopg.connect(plain(url)) as connection:
            connection.execute("create table first as select 1 as n")
            connection.execute(
                f"create table second as select n, md5(n::text) from generate_series(1, {ROWS}) n".encode()
            )
        programs.run("pg_dump", "--format=custom", "--no-owner", "--file", tmp_path / "dump", plain(url))
    return tmp_path / "dump"


def test_dump_is_loaded_with_all_rows(dump: Path, target: str) -> None:
    programs.load(dump, target)
    with psycopg.connect(target) as connection:
        assert connection.execute("select count(*) from second").fetchone() == (ROWS,)


def test_damaged_dump_leaves_nothing(dump: Path, target: str) -> None:
    dump.write_bytes(dump.read_bytes()[:-200_000])
    with pytest.raises(CannotStart, match="pg_restore failed"):
        programs.load(dump, target)
    with psycopg.connect(target) as connection:
        assert connection.execute(TABLES).fetchone() == (0,)


def test_dump_that_does_not_fit_leaves_nothing_and_says_why(dump: Path, target: str) -> None:
    with psycopg.connect(target) as connection:
        connection.execute("create table second (n int)")
    with pytest.raises(CannotStart, match=r'psql failed: .*relation "second" already exists'):
        programs.load(dump, target)
    with psycopg.connect(target) as connection:
        assert connection.execute(TABLES).fetchone() == (1,)


def test_setting_that_older_servers_do_not_know_is_not_sent() -> None:
    sent = io.BytesIO()
    source = b"SET lock_timeout = 0;\nSET transaction_timeout = 0;\nCREATE TABLE a ();\n" + b"x\n" * 100
    programs._pass_on(io.BytesIO(source), sent)
    assert sent.getvalue() == source.replace(b"SET transaction_timeout = 0;\n", b"")
