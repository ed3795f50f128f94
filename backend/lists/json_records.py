"""Records of a list that PostgreSQL writes as JSON, in the form that their schemas give them.

It saves a Python object for each value of each row. A schema with a type that has no form here is refused at import:
such a list is read with `Page.read`.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin
from uuid import UUID

import orjson
import sqlalchemy as sa
from pydantic import BaseModel, PlainSerializer
from pydantic.fields import FieldInfo
from sqlalchemy.dialects.postgresql import JSONB

from backend.core.columns import AmountType
from backend.core.content_rules import LONGEST_TEXT
from backend.core.fields import Record, timestamp

TIME = """to_char({} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
PLAIN = (UUID, bool, int, Enum)
"""Types that `row_to_json` writes as Pydantic does."""


def column(schema: type[BaseModel], table: sa.FromClause, **others: str) -> sa.ColumnElement[str]:
    """Return the column of a list's query with the record of a row."""
    return sa.literal_column(f"{record(schema, table, **others)}::text", sa.Text()).label("record")


def record(schema: type[BaseModel], table: sa.FromClause, **others: str) -> str:
    """Return SQL for a record: each field is the table's column of its name, or the expression of `others`, which is
    written as it is."""
    fields = {}
    for name, field in schema.model_fields.items():
        if name not in others:
            form = _stored if isinstance(table.c[name].type, JSONB) else _value
            sql = f"{table}.{name}"
            others[name] = f"{sql}::text" if isinstance(table.c[name].type, AmountType) else form(schema, field, sql)
        fields[name] = others[name]
    return _object(schema, fields)


def text(sql: str) -> str:
    """Return SQL for a text, shortened as every text of a record."""
    return f"case when char_length({sql}) > {LONGEST_TEXT} then left({sql}, {LONGEST_TEXT - 1}) || '…' else {sql} end"


def many(one: str, source: str) -> str:
    """Return SQL for the list of the records in a `from` clause, with its `where` and `order by`."""
    return f"array_to_json(array(select {one} {source}))"


def body(answer: type[BaseModel], records: Sequence[str], paging: Any) -> bytes:
    """Return a page of a list as JSON."""
    parts = [
        f'"{name}":' + (orjson.dumps(paging[name]).decode() if name in paging else f"[{','.join(records)}]")
        for name, field in answer.model_fields.items()
        if name not in paging or field.exclude_if is None or not field.exclude_if(paging[name])
    ]
    return f"{{{','.join(parts)}}}".encode()


def _object(schema: type[BaseModel], fields: dict[str, str]) -> str:
    names = {name: field.serialization_alias or name for name, field in schema.model_fields.items()}
    values = ", ".join(f'{sql} as "{names[name]}"' for name, sql in fields.items())
    return f"(select row_to_json(r) from (select {values}) r)"  # noqa: S608  (no text from outside is in it)


def _value(schema: type[BaseModel], field: FieldInfo, sql: str) -> str:
    """Return SQL for the value of a column that is not JSON."""
    kind, metadata = _without_null(field)
    if kind is datetime and any(isinstance(m, PlainSerializer) and m.func is timestamp for m in metadata):
        return TIME.format(sql)
    shortens = issubclass(schema, Record) and not field.metadata
    if kind is str:
        return text(sql) if shortens else sql
    if kind == list[str] and kind is field.annotation and shortens:
        return f"array(select {text('part')} from unnest({sql}) part)"  # noqa: S608  (no text from outside is in it)
    if _is_plain(kind) or (get_origin(kind) is list and _is_plain(*get_args(kind))):
        return sql
    raise TypeError(f"{schema.__name__} has a field whose JSON PostgreSQL does not write: {field}")


def _stored(schema: type[BaseModel], field: FieldInfo, sql: str) -> str:
    """Return SQL for a value of stored JSON, whose text has spaces, the order of the database and no defaults."""
    kind, _ = _without_null(field)
    has_null = kind is not field.annotation
    if isinstance(kind, type) and issubclass(kind, BaseModel) and not has_null:
        inner = {n: _stored(kind, f, _or_default(f, f"{sql}->'{n}'")) for n, f in kind.model_fields.items()}
        return _object(kind, inner)
    if get_origin(kind) is list and not has_null:
        element = FieldInfo.from_annotation(get_args(kind)[0])
        return many(_stored(schema, element, "e"), f"from jsonb_array_elements({sql}) e")
    if kind is str or _is_plain(kind):
        return sql
    raise TypeError(f"{schema.__name__} has a field whose JSON PostgreSQL does not write: {field}")


def _or_default(field: FieldInfo, sql: str) -> str:
    if field.is_required():
        return sql
    default = orjson.dumps(field.get_default(call_default_factory=True)).decode()
    return f"coalesce({sql}, '{default}'::jsonb)"


def _without_null(field: FieldInfo) -> tuple[Any, Sequence[Any]]:
    """Return the type of a field's values other than null, and its metadata."""
    kind, metadata = field.annotation, [*field.metadata]
    if get_origin(kind) in (Union, UnionType):
        kinds = [k for k in get_args(kind) if k is not type(None)]
        kind = kinds[0] if len(kinds) == 1 else Any
    if get_origin(kind) is Annotated:
        kind, *more = get_args(kind)
        metadata += more
    return kind, metadata


def _is_plain(kind: Any) -> bool:
    """Return whether a type is that of IDs, numbers, or members of an enum or of one of several."""
    kind = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    return all(isinstance(k, type) and issubclass(k, PLAIN) for k in kinds)
