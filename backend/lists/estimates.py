"""How many rows a query has: exact while they are few, then as the database's planner estimates them.

Only the same filtered query is used, in the same transaction, so row-level security applies. The planner's figure alone
would reveal something about other tenants: for a small organization it is the average of all. So it is used only above
the exact count.
"""

from collections.abc import Mapping
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

EXACT = 10_000
"""Rows up to which the count is exact."""


class Explain(sa.sql.expression.Executable, sa.sql.expression.ClauseElement):
    """The plan of a query, as JSON. The query is not executed."""

    inherit_cache = False

    def __init__(self, query: sa.Select[Any]) -> None:
        self.query = query


@compiles(Explain)
def _compiled(element: Explain, compiler: SQLCompiler, **options: Any) -> str:
    return f"explain (format json) {compiler.process(element.query, **options)}"


async def count(session: AsyncSession, query: sa.Select[Any]) -> int:
    """Return the number of rows of a query without a limit."""
    bare = query.with_only_columns(sa.literal(1), maintain_column_froms=True).order_by(None)
    counted = sa.select(sa.func.count()).select_from(bare.limit(EXACT + 1).subquery())
    number = int(await session.scalar(counted) or 0)
    return number if number <= EXACT else max(number, await planned(session, bare))


async def count_text(session: AsyncSession, text: str, values: Mapping[str, Any]) -> int:
    """Return the number of rows of a query in SQL that returns at most `:most`; one more than EXACT means more."""
    counted = sa.text(f"select count(*) from ({text}) counted")  # noqa: S608  (no text from outside is in it)
    return int(await session.scalar(counted, {**values, "most": EXACT + 1}) or 0)


async def planned(session: AsyncSession, query: sa.Select[Any]) -> int:
    """Return the planner's estimate of a query's rows."""
    plan = (await session.execute(Explain(query))).scalar_one()
    plan = orjson.loads(plan) if isinstance(plan, str | bytes) else plan
    return int(plan[0]["Plan"]["Plan Rows"])
