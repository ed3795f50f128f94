"""Databases of released schemas, with data: each is restored, migrated to the newest schema, and read."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from backend.core import logins
from backend.migrations import catalog, migrate
from tests.migrations.dump import RELEASES
from tests.support.schemas import execute, objects

DUMPS = sorted(RELEASES.glob("*.sql.gz"))
LATEST = DUMPS[-1]
EACH = [pytest.param(dump, marks=[] if dump == LATEST else [pytest.mark.long]) for dump in DUMPS]


def _count(url: str, table: str) -> int:
    engine = sa.create_engine(logins.owner_url(url))
    with engine.connect() as connection:
        count: int = connection.scalar(sa.text(f"select count(*) from {table}")) or 0
    engine.dispose()
    return count


def _visible(url: str, organization_id: str) -> int:
    """Return how many assets requests for an organization see."""
    with psycopg.connect(logins.role_url(url, logins.WEB).replace("+psycopg", "")) as connection:
        connection.execute("select set_config('app.organization_ids', %s, true)", [organization_id])
        row = connection.execute("select count(*) from assets").fetchone()
        return int(row[0]) if row else 0


KEPT = b"select asset_id, chain_eid, address, balance from token_balances where balance <> 0 order by 1, 2, 3"
ADDED_UP = b"""
  select asset_id, chain_eid, address, sum(amount) from (
    select asset_id, chain_eid, to_address as address, amount from token_transfers
    union all select asset_id, chain_eid, from_address, -amount from token_transfers
  ) moved group by 1, 2, 3 having sum(amount) <> 0 order by 1, 2, 3
"""
CHILDREN = b"""
  select o.child_count, (select count(*) from organizations c where c.parent_id = o.id) from organizations o
"""


def test_every_released_schema_has_a_dump() -> None:
    assert [path.name.partition(".")[0] for path in DUMPS] == migrate.known()


@pytest.mark.parametrize("dump", EACH, ids=lambda path: path.name)
def test_released_database_is_migrated_with_its_data(empty: str, database_url: str, dump: Path, tmp_path: Path) -> None:
    execute(empty, gzip.decompress(dump.read_bytes()).decode())
    before = {
        table: _count(empty, table) for table in ("assets", "parties", "audit_log", "token_transfers", "requests")
    }
    migrate.migrate(empty)
    migrate.check(empty)
    assert catalog.differences(objects(database_url), objects(empty)) == []
    assert {table: _count(empty, table) for table in before} == before
    assert all(before.values())
    with psycopg.connect(logins.owner_url(empty).replace("+psycopg", "")) as connection:
        rows = connection.execute("select distinct organization_id from assets").fetchall()
        moved, held = (connection.execute(query).fetchall() for query in (ADDED_UP, KEPT))
        children = connection.execute(CHILDREN).fetchall()
    assert moved
    assert held == moved, "balances are the sums of the transfers, those that were made before the revision included"
    assert any(kept for kept, _ in children)
    assert all(kept == counted for kept, counted in children)
    assert all(_visible(empty, str(row[0])) for row in rows)
    assert _visible(empty, "") == 0
    environment = os.environ | {"DATABASE_URL": empty, "SIGNUM_HOME": str(tmp_path)}
    verify = [sys.executable, "-m", "backend.cli", "audit", "verify"]
    done = subprocess.run(verify, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    read = subprocess.run(
        [sys.executable, "-m", "tests.migrations.reader", empty],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert read.returncode == 0, read.stderr
    answers = json.loads(read.stdout)
    assert len(answers) == 7
    assert all(answers.values()), answers
