"""Search of a whole database for a text, as an auditor of an erasure does it."""

import psycopg
from psycopg import sql

COLUMNS = """
  select table_schema, table_name, column_name from information_schema.columns join information_schema.tables
    using (table_schema, table_name)
  where table_schema in ('public', 'dbos') and table_type = 'BASE TABLE'
    and (data_type in ('text', 'character varying', 'json', 'jsonb', 'ARRAY', 'character'))
"""


def traces(database_url: str, *texts: str) -> dict[str, int]:
    """Return the number of rows that have one of the texts, in any case, by `table.column`."""
    found = {}
    with psycopg.connect(database_url.replace("+psycopg", "")) as connection:
        for schema, table, column in connection.execute(COLUMNS).fetchall():
            query = sql.SQL("select count(*) from {} where {}::text ilike any(%s)").format(
                sql.Identifier(schema, table), sql.Identifier(column)
            )
            row = connection.execute(query, ([f"%{text}%" for text in texts],)).fetchone()
            if row and row[0]:
                found[f"{table}.{column}"] = row[0]
    return found


def everything(database_url: str, *tables: str) -> str:
    """Return a digest of some tables."""
    with psycopg.connect(database_url.replace("+psycopg", "")) as connection:
        parts = [
            connection.execute(
                sql.SQL("select md5(coalesce(string_agg(t::text, ',' order by t::text), '')) from {} t").format(
                    sql.Identifier(table)
                )
            ).fetchone()
            for table in tables
        ]
    return str(parts)
