"""Two trees of thousands of organizations, with parties, in a transaction that is rolled back."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg

from backend.core import logins
from tests.bench import many_rows_sql as sql

UNITS = 4_000
"""Organizations below the divisions of a tree. Each has a party, and the root has as many."""
DIVISIONS = 20
CLOSED = "192.0.2.0/24"
"""The only addresses that the division 3 allows."""
TABLES = ("organizations", "parties", "members")
_DIVISION = "md5(%(org)s || 'division' || {})::uuid"
_UNIT = "md5(%(org)s || 'unit' || {})::uuid"
_WHOLE = """
  with recursive down as (
    select o.id, o.name, o.created_at from organizations o where o.id = %s
    union all
    select o.id, o.name, o.created_at from down join organizations o on o.parent_id = down.id
    where o.allowed_ip_ranges = '{}' or %s::inet <<= any(o.allowed_ip_ranges::inet[])
  )
  select id, name, created_at from down order by created_at desc, id desc
"""
_READ = "select coalesce(sum(seq_tup_read + idx_tup_fetch), 0) from pg_stat_xact_user_tables where relname = any(%s)"


@dataclass
class Tree:
    """A root with divisions and units below them, and a person with a role in the root."""

    connection: psycopg.Connection[Any]
    root: UUID
    person: UUID

    def fill(self, shift: int) -> None:
        """Insert its rows: a unit every two seconds, and the units of another `shift` between them."""
        root = {"id": "%(org)s::uuid", "name": "'Top'", "status": "'active'", "created_at": "'2020-01-01Z'"}
        self._insert("organizations", root, 1, child_count=f"{DIVISIONS}")
        ranges = f"case when n = 3 then array['{CLOSED}'] else '{{}}' end"
        division = {"id": _DIVISION.format("n"), "name": "'Division ' || n", "parent_id": "%(org)s::uuid"}
        division |= {"status": "'active'", "allowed_ip_ranges": ranges, "created_at": "'2020-01-02Z'"}
        self._insert("organizations", division, DIVISIONS, child_count=f"{UNITS // DIVISIONS}")
        unit = {"id": _UNIT.format("n"), "name": "'Unit ' || n", "parent_id": _DIVISION.format(f"1 + n %% {DIVISIONS}")}
        unit |= {"status": "'active'", "created_at": f"'2099-01-01Z'::timestamptz - (2 * n + {shift}) * interval '1 s'"}
        self._insert("organizations", unit, UNITS, child_count="0")
        party = {"name": "'Investor ' || n", "email": "null", "wallet_address": "null"}
        for organization in ("%(org)s::uuid", _UNIT.format("n")):
            self._insert("parties", party, UNITS, organization_id=organization)
        role = {"user_id": f"'{self.person}'::uuid", "role": "'admin'", "status": "'active'"}
        self._insert("members", role, 1, organization_id="%(org)s::uuid")

    def _insert(self, table: str, columns: dict[str, str], rows: int, **others: str) -> None:
        text = sql.insert(table, columns | others)
        self.connection.execute(text.encode(), {"org": str(self.root), "rows": rows})

    def reached(self, address: str | None) -> list[tuple[UUID, str, datetime]]:
        """Return ID, name and time of every organization from the root down, newest first: from all rows."""
        with as_owner(self.connection):
            return self.connection.execute(_WHOLE, (self.root, address)).fetchall()

    def enter(self) -> None:
        """Let the transaction see the root, as a request of the person does."""
        self.connection.execute("select set_config('app.organization_ids', %s, true)", [str(self.root)])


@contextmanager
def as_owner(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """Read all rows while inside."""
    connection.execute("set local role none")
    yield
    connection.execute("set local role signum_app")


@contextmanager
def two_trees(url: str) -> Iterator[tuple[Tree, Tree]]:
    """Yield two trees whose units are equally new, counted for the planner, as the role of requests sees them."""
    with psycopg.connect(logins.owner_url(url).replace("+psycopg", "")) as connection:
        connection.execute("set local session_replication_role = replica")
        trees = Tree(connection, UUID(int=1), UUID(int=11)), Tree(connection, UUID(int=2), UUID(int=12))
        for shift, tree in enumerate(trees):
            tree.fill(shift)
        connection.execute("set local session_replication_role = origin")
        for table in TABLES:
            connection.execute(f"analyze {table}".encode())
            connection.execute("select gin_clean_pending_list(%s::regclass)", [f"marks_of_{table}"])
        connection.execute("set local role signum_app")
        yield trees
        connection.rollback()


def cost(connection: psycopg.Connection[Any], query: str, values: dict[str, Any]) -> tuple[int, int]:
    """Return how many rows of the tables, and how many pages of 8 KiB, a query reads when it runs again."""
    text = f"explain (analyze, buffers, format json) {query}".encode()
    connection.execute(text, values)
    before = _rows(connection)
    plan = (connection.execute(text, values).fetchone() or ())[0][0]["Plan"]
    return _rows(connection) - before, plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]


def _rows(connection: psycopg.Connection[Any]) -> int:
    return int((connection.execute(_READ, [list(TABLES)]).fetchone() or (0,))[0])
