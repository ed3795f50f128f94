"""Texts of organizations that may name a party or person: titles, reasons, labels, plans."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import SQLModel

from backend.core.db import Write
from backend.erasures.texts import Eraser

OWNER = "organization_id"
ELSEWHERE = frozenset({"audit_log", "audit_heads", "form_drafts", "outbox", "parties", "saved_views"})
"""Tables whose rows are erased by other means."""
FACTS = frozenset({
    "asset_deployments", "asset_rule_sets", "assets.cap_shares", "assets.compliance_rules", "assets.name",
    "assets.nominal_value", "chain_events", "distribution_held_recipients", "request_steps.name",
    "transactions.earlier", "transactions.receipt", "transactions.reopened_receipt", "transactions.signer",
})  # fmt: skip
"""Tables and columns that repeat what is public on a chain, or that programs read."""
IDENTIFIERS = re.compile(
    r"address|hash|sha256|uid|guid|secret|scope|status|kind|type|key|action|method|symbol|country|currency|schema_name"
    r"|provider|prefix|last_four|page|topic|sealed|token|(^|_)root$|merkle|raw$|^data$|side|cause|role|purpose|^node"
)
"""Names of columns with identifiers and words of Signum's own, which name no one."""


def texts(table: sa.Table) -> list["sa.Column[Any]"]:
    """Return the columns of a table with texts or JSON that people wrote, or that repeat what they wrote."""
    free = (c for c in table.c if not c.primary_key and not {table.name, f"{table.name}.{c.name}"} & FACTS)
    return [c for c in free if _is_text(c) and not IDENTIFIERS.search(c.name)]


def _is_text(column: "sa.Column[Any]") -> bool:
    kind = column.type
    return isinstance(kind, JSONB) or (isinstance(kind, sa.String | sa.types.TypeDecorator) and _is_string(kind))


def _is_string(kind: Any) -> bool:
    inner = kind.impl_instance if isinstance(kind, sa.types.TypeDecorator) else kind
    return isinstance(inner, sa.String) and not isinstance(inner, sa.Enum)


async def erase(session: Write, eraser: Eraser, organizations: Sequence[UUID] | None) -> Counter[str]:
    """Erase from the texts of organizations, or of all; return the number of rows by table."""
    found: Counter[str] = Counter()
    for table in SQLModel.metadata.sorted_tables:
        if OWNER in table.c and table.name not in ELSEWHERE and (columns := texts(table)):
            found[table.name] += await _erase(session, eraser, table, columns, organizations)
    return +found


async def _erase(
    session: Write,
    eraser: Eraser,
    table: sa.Table,
    columns: Sequence["sa.Column[Any]"],
    organizations: Sequence[UUID] | None,
) -> int:
    keys = list(table.primary_key)
    query = sa.select(*keys, *columns).where(sa.or_(*(mentions(c, eraser) for c in columns)))
    if organizations is not None:
        query = query.where(table.c[OWNER].in_(organizations))
    rows = (await session.execute(query.with_for_update())).mappings().all()
    for row in rows:
        changed = {c.name: new for c, new in _changed(row, columns, eraser)}
        this = sa.and_(*(key == row[key.name] for key in keys))
        if changed:
            await session.execute(sa.update(table).where(this).values(changed))
    return len(rows)


def mentions(column: Any, eraser: Eraser) -> Any:
    """Return the condition that a column has one of the names."""
    return sa.cast(column, sa.Text).op("~*")(eraser.pattern)


def _changed(row: Any, columns: Sequence["sa.Column[Any]"], eraser: Eraser) -> Iterator[tuple["sa.Column[Any]", Any]]:
    for column in columns:
        if (new := eraser.erased(row[column.name])) != row[column.name]:
            yield column, new
