"""Keyset pagination: newest first, with an opaque cursor of the last row's time and id."""

import base64
import binascii
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import orjson
import sqlalchemy as sa
from fastapi import Query
from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncSession

from backend.core.errors import BadRequest

DEFAULT_LIMIT = 50
MAX_LIMIT = 100


Limit = Annotated[str, Field(max_length=20, json_schema_extra={"pattern": "^0*[1-9][0-9]*$"})]


def limit_of(text: str | None) -> int:
    """Return the page size: default 50, at most 100; BadRequest (400) where it is 0, negative or not a number."""
    if text is None:
        return DEFAULT_LIMIT
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise BadRequest("limit must be a whole number of at least 1.")
    return min(int(text), MAX_LIMIT)


class Page:
    """The requested page of a list (`?limit=&cursor=`)."""

    def __init__(
        self,
        limit: Annotated[
            Limit | None, Query(description="Entries per page. Default 50, at most 100; a larger number means 100.")
        ] = None,
        cursor: Annotated[str | None, Query(max_length=1000, description="`nextCursor` of the previous page.")] = None,
    ) -> None:
        self.limit = limit_of(limit)
        self.cursor = cursor

    async def read(
        self, session: AsyncSession, query: sa.Select[Any], columns: Any
    ) -> tuple[Sequence[Any], str | None]:
        """Return the rows of this page, and the cursor of the next one. `columns` has `created_at` and `id`."""
        time, id_ = columns.created_at, columns.id
        query = query.order_by(time.desc(), id_.desc()).limit(self.limit + 1)
        if self.cursor:
            after, last = decode(self.cursor)
            query = query.where(sa.tuple_(time, id_) < sa.tuple_(sa.literal(after), sa.literal(last)))
        return self.cut((await session.execute(query)).all())

    def cut(self, rows: Sequence[Any]) -> tuple[Sequence[Any], str | None]:
        """Return the rows to show, and the cursor of the next page. Rows have `created_at` and `id`."""
        if len(rows) <= self.limit:
            return rows, None
        last = rows[self.limit - 1]
        return rows[: self.limit], encode(last.created_at, last.id)


def where_given(query: sa.Select[Any], *filters: tuple[Any, Any]) -> sa.Select[Any]:
    """Return the query with the filters (a column and its value) whose value is given."""
    return query.where(*(column == value for column, value in filters if value is not None))


def encode_parts(*parts: str) -> str:
    """Return an opaque cursor."""
    return base64.urlsafe_b64encode(orjson.dumps(parts)).decode().rstrip("=")


def decode_parts(cursor: str, count: int) -> list[str]:
    """Return the parts of a cursor; BadRequest (400) where it is invalid."""
    try:
        parts = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error) as error:
        raise BadRequest("The cursor is not valid for this list. Start again without one.") from error
    texts = isinstance(parts, list) and all(isinstance(p, str) and "\0" not in p for p in parts)
    if not texts or len(parts) != count:
        raise BadRequest("The cursor is not valid for this list. Start again without one.")
    return list(parts)


def encode(time: datetime, last: UUID) -> str:
    """Return the opaque cursor of a list that is ordered by time."""
    return encode_parts(time.isoformat(), str(last))


def decode(cursor: str) -> tuple[datetime, UUID]:
    """Return the time and id of a cursor; BadRequest (400) where it is invalid."""
    time, last = decode_parts(cursor, 2)
    try:
        parsed = datetime.fromisoformat(time)
        if parsed.tzinfo is None:
            raise ValueError("naive")
        return parsed, UUID(last)
    except ValueError as error:
        raise BadRequest("The cursor is not valid for this list. Start again without one.") from error
