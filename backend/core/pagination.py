"""Keyset pagination: the page size, and opaque cursors, such as of the last row's sort value and id."""

import base64
import binascii
from datetime import datetime
from typing import Annotated, Any

import orjson
import sqlalchemy as sa
from pydantic import Field

from backend.core.errors import BadRequest

DEFAULT_LIMIT = 50
MAX_LIMIT = 100
LONGEST_NUMBER = 18
"""Digits of a number that the database surely stores."""
NOT_VALID = "The cursor is not valid for this list. Start again without one."


Limit = Annotated[str, Field(max_length=20, json_schema_extra={"pattern": "^0*[1-9][0-9]*$"})]


def limit_of(text: str | None) -> int:
    """Return the page size: default 50, at most 100; BadRequest (400) where it is 0, negative or not a number."""
    if text is None:
        return DEFAULT_LIMIT
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise BadRequest("limit must be a whole number of at least 1.")
    return min(int(text), MAX_LIMIT)


def where_given(query: sa.Select[Any], *filters: tuple[Any, Any]) -> sa.Select[Any]:
    """Return the query with the filters (a column and its value) whose value is given."""
    return query.where(*(column == value for column, value in filters if value is not None))


def encode_parts(*parts: str) -> str:
    """Return an opaque cursor."""
    return base64.urlsafe_b64encode(orjson.dumps(parts)).decode().rstrip("=")


def decode_parts(cursor: str) -> list[str]:
    """Return the parts of a cursor, at least one; BadRequest (400) where it is invalid."""
    try:
        parts = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error) as error:
        raise BadRequest(NOT_VALID) from error
    texts = isinstance(parts, list) and all(isinstance(p, str) and "\0" not in p for p in parts)
    if not texts or not parts:
        raise BadRequest(NOT_VALID)
    return list(parts)


def read_as(kind: type[Any], text: str) -> Any:
    """Return a part of a cursor as a time, an ID, a whole number or a text; BadRequest (400) where it is invalid."""
    try:
        if kind is datetime:
            return _aware(text)
        if kind is int and len(text) > LONGEST_NUMBER:
            raise ValueError("larger than the database stores")
        return kind(text)
    except ValueError as error:
        raise BadRequest(NOT_VALID) from error


def _aware(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError("naive")
    return time
