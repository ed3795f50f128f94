"""Pages by key: newest first, an opaque cursor of the last row's time and id."""

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

from backend.errors import BadRequest

DEFAULT_LIMIT = 50
MAX_LIMIT = 100


Limit = Annotated[str, Field(max_length=20, json_schema_extra={"pattern": "^0*[1-9][0-9]*$"})]


def limit_of(text: str | None) -> int:
    """A limit as people send it: default 50, more than 100 means 100; 0, negative or not a number is a 400."""
    if text is None:
        return DEFAULT_LIMIT
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise BadRequest("limit is a whole number from 1.")
    return min(int(text), MAX_LIMIT)


class Page:
    """The page a list was asked for (`?limit=&cursor=`)."""

    def __init__(
        self,
        limit: Annotated[Limit | None, Query(description="Default 50; above 100 means 100.")] = None,
        cursor: Annotated[str | None, Query(max_length=1000, description="`nextCursor` of the page before.")] = None,
    ) -> None:
        self.limit = limit_of(limit)
        self.cursor = cursor

    def apply(self, query: sa.Select[Any], created_at: Any, id_: Any) -> sa.Select[Any]:
        """The query for this page, one row more than it shows."""
        query = query.order_by(created_at.desc(), id_.desc()).limit(self.limit + 1)
        if not self.cursor:
            return query
        time, last = decode(self.cursor)
        return query.where(sa.tuple_(created_at, id_) < sa.tuple_(sa.literal(time), sa.literal(last)))

    def cut(self, rows: Sequence[Any]) -> tuple[Sequence[Any], str | None]:
        """The rows to show, and the cursor of the next page (rows have `created_at` and `id`)."""
        if len(rows) <= self.limit:
            return rows, None
        last = rows[self.limit - 1]
        return rows[: self.limit], encode(last.created_at, last.id)


def encode_parts(*parts: str) -> str:
    """An opaque cursor of a list that is ordered by something else than time."""
    return base64.urlsafe_b64encode(orjson.dumps(parts)).decode().rstrip("=")


def decode_parts(cursor: str, count: int) -> list[str]:
    """What such a cursor stands for; 400 where it is not one of ours."""
    try:
        parts = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error) as error:
        raise BadRequest("The cursor is not one of this list.") from error
    texts = isinstance(parts, list) and all(isinstance(p, str) and "\0" not in p for p in parts)
    if not texts or len(parts) != count:
        raise BadRequest("The cursor is not one of this list.")
    return list(parts)


def encode(time: datetime, last: UUID) -> str:
    """An opaque cursor."""
    return base64.urlsafe_b64encode(f"{time.isoformat()}|{last}".encode()).decode().rstrip("=")


def decode(cursor: str) -> tuple[datetime, UUID]:
    """What a cursor stands for; 400 where it is not one of ours."""
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        time, _, last = text.partition("|")
        parsed = datetime.fromisoformat(time)
        if parsed.tzinfo is None:
            raise ValueError("naive")
        return parsed, UUID(last)
    except (ValueError, binascii.Error) as error:
        raise BadRequest("The cursor is not one of this list.") from error
