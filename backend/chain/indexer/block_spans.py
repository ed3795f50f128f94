"""Spans of blocks whose rows are replaced with those of the chain's logs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from backend.core import db


@dataclass(frozen=True, slots=True)
class Span:
    """Blocks from the first to the last, inclusive. Without a last one, it also covers blocks that cannot have logs
    yet; rows there are wrong."""

    first: int
    last: int | None

    def holds(self, block: Any) -> sa.ColumnElement[bool]:
        """Return whether a column's block number is within."""
        within: sa.ColumnElement[bool] = block >= self.first
        return within if self.last is None else sa.and_(within, block <= self.last)


async def delete_wrong(
    session: db.Write, which: sa.ColumnElement[bool], span: Span, right: Sequence[Any], kind: Any, facts: Sequence[str]
) -> list[Any]:
    """Delete the rows of some events that are not among the right ones, and return them.

    `which` selects the rows of the contract, `facts` names the columns that must match. A row with the transaction of a
    right one is checked in any block.
    """
    known = {(row.tx_hash, row.log_index): _facts(row, facts) for row in right}
    scope = sa.or_(span.holds(col(kind.block_number)), col(kind.tx_hash).in_({tx_hash for tx_hash, _ in known}))
    rows = (await session.scalars(sa.select(kind).where(which, scope))).all()
    wrong = [row for row in rows if known.get((row.tx_hash, row.log_index)) != _facts(row, facts)]
    if wrong:
        await session.execute(sa.delete(kind).where(col(kind.id).in_([row.id for row in wrong])))
    return wrong


def _facts(row: Any, names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in ("block_number", *names))
