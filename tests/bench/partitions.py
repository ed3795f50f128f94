"""`partitions_TABLE_BY_READ`: the tables that grow most, each partitioned in two ways, beside the table as it is.

A copy has the same rows and indexes in 12 partitions, by a hash of the organization or by the month of the row. It is
asked for the newest page of an organization (of its market or endpoint), and for a row by its ID, with prepared
statements, alternately with the table, so the ratio is that of the work.
"""

import os
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg

from tests.bench import in_process
from tests.bench import many_rows_sql as sql

ROWS = int(os.environ.get("BENCH_ROWS", "1000000"))
ORGANIZATIONS, PARTITIONS, CALLS = 200, 12, 300
_PARENT = f"md5('organization' || n %% {ORGANIZATIONS})::uuid"
_TIME = "date_trunc('year', now()) + n * interval '355 days' / %(rows)s"


@dataclass(frozen=True)
class Table:
    """A table, the parent of its lists, the column with a row's time, and the order and key of its rows."""

    name: str
    parent: str = "organization_id"
    at: str = "created_at"
    order: str = "created_at desc, id desc"
    key: str = "id"


TABLES = (
    Table("requests"),
    Table("orders", "market_id"),
    Table("transfers"),
    Table("webhook_deliveries", "endpoint_id"),
    Table("audit_log", at="at", order="seq desc", key="seq"),
)


def measure() -> list[dict[str, Any]]:
    """Return a row for each table, way and read, in milliseconds."""
    return in_process.run(_measured)


async def _measured(url: str) -> list[dict[str, Any]]:
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True, prepare_threshold=0) as connection:
        connection.execute("set session_replication_role = replica")
        return [row for table in TABLES for row in _of(connection, table)]


def _of(connection: psycopg.Connection[Any], table: Table) -> Iterator[dict[str, Any]]:
    given = {"organization_id": _PARENT, table.parent: _PARENT, table.at: _TIME}
    given |= {"seq": "n"} if table.key == "seq" else {}
    connection.execute(sql.insert(table.name, given).encode(), {"rows": ROWS})
    for way in ("organization", "month"):
        copy = f"{table.name}_by_{way}"
        _copy(connection, table, copy, way)
        connection.execute(f"vacuum analyze {table.name}, {copy}".encode())
        yield from _compared(connection, table, copy)
        connection.execute(f"drop table {copy}".encode())


def _copy(connection: psycopg.Connection[Any], table: Table, copy: str, way: str) -> None:
    """Create a partitioned copy. Its indexes are not unique: a unique one would need the partition's column too."""
    method = "hash (organization_id)" if way == "organization" else f"range ({table.at})"
    connection.execute(f"create table {copy} (like {table.name} including defaults) partition by {method}".encode())
    for number in range(PARTITIONS):
        bounds = f"with (modulus {PARTITIONS}, remainder {number})"
        if way == "month":
            bounds = "from ('{}') to ('{}')".format(*_month(connection, number))
        connection.execute(f"create table {copy}_{number} partition of {copy} for values {bounds}".encode())
    connection.execute(f"insert into {copy} select * from {table.name}".encode())
    indexes = "select indexdef from pg_indexes where tablename = %s and schemaname = 'public'"
    for number, (definition,) in enumerate(connection.execute(indexes, [table.name]).fetchall()):
        columns = definition.partition(" USING ")[2]
        connection.execute(f"create index {copy}_index_{number} on {copy} using {columns}".encode())


def _month(connection: psycopg.Connection[Any], number: int) -> tuple[Any, ...]:
    start = "date_trunc('year', now()) + make_interval(months => %s)"
    return connection.execute(f"select {start}, {start}", [number, number + 1]).fetchone() or ()


def _compared(connection: psycopg.Connection[Any], table: Table, copy: str) -> Iterator[dict[str, Any]]:
    page = f"select * from {{}} where {table.parent} = %s order by {table.order} limit 51"
    row = f"select * from {{}} where {'organization_id = %s and seq' if table.key == 'seq' else 'id'} = %s"
    ids = connection.execute(f"select organization_id, {table.key} from {table.name} limit {CALLS}".encode()).fetchall()
    asked = {"page": (page, [one[:1] for one in ids]), "row": (row, [one[-row.count("%s") :] for one in ids])}
    for read, (text, values) in asked.items():
        took: dict[str, list[float]] = {copy: [], table.name: []}
        for value in values:
            for name, times in took.items():
                began = time.perf_counter()
                connection.execute(text.format(name).encode(), value).fetchall()
                times.append((time.perf_counter() - began) * 1000)
        ours, floor = (statistics.median(times) for times in took.values())
        figure = {"name": f"partitions_{copy}_{read}", "value": round(ours, 3), "unit": "ms", "floor": round(floor, 3)}
        print(f"{figure['name']:<52}{ours:8.3f} ms {ours / floor:8.2f} x the table as it is")  # noqa: T201
        yield figure | {"ratio_floor": round(ours / floor, 2)}
