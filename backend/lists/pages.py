"""What a list offers: its pages, sorts with an index, filters by time, the text search `q`, an estimated count.

A vertical declares one `Listing` per list. Its route takes the query parameters with `Depends(LIST.page)`, and its
query is read with `page.read`. The CSV export of the list takes the same parameters without those of paging.
"""

from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from inspect import Parameter, Signature
from typing import Annotated, Any, TypeVar
from uuid import UUID

import sqlalchemy as sa
from fastapi import Query, Request, Response
from pydantic import Field, TypeAdapter, ValidationError
from sqlalchemy.ext.asyncio import AsyncSession

from backend.core.content_rules import PLAIN
from backend.core.errors import BadRequest, Invalid
from backend.core.fields import Moment, Search, timestamp
from backend.core.pagination import DEFAULT_LIMIT, NOT_VALID, Limit, decode_parts, encode_parts, limit_of, read_as
from backend.core.problems.findings import findings
from backend.lists import estimates, json_records
from backend.lists.schemas import Paging, RecordPage, SortOrder

R = TypeVar("R")
BETWEEN = chr(31)
"""Separates searched values, so that no match spans two of them. No search text contains it."""
CODE_LENGTH = 4
"""Characters from which `q` also matches the beginning of an ID, address or hash, as in the search."""
PAGING = ("limit", "cursor", "count")
VIEW = ("q", "created_after", "created_before", "updated_after", "sort", "order")
KEY = "sort_key"
WORDS = TypeAdapter(Search)
TIME = TypeAdapter(Moment)


class Listing:
    """A list: its sorts (the first is the default), and the columns that `q` searches.

    Each sort has an index that starts with the columns by which the list is selected and ends with `tie`. Without sorts
    the list has a fixed order. `names` match anywhere, `codes` from their beginning. `created` and `updated` have an
    index too. A list without pages is short, and has neither `limit` nor `cursor`. A list with a fixed order has no
    parameters of sorting. With `has_bare_cursor`, the cursor of the default order is the plain time of the last row,
    which no other row has.
    """

    def __init__(
        self,
        sorts: Mapping[str, Any] | None = None,
        *,
        tie: Any = None,
        created: Any = None,
        updated: Any = None,
        names: Sequence[Any] = (),
        codes: Sequence[Any] = (),
        has_pages: bool = True,
        is_fixed: bool = False,
        has_bare_cursor: bool = False,
    ) -> None:
        self.sorts, self.tie, self.names, self.codes = dict(sorts or {}), tie, names, codes
        self.times = {"created": created, "updated": updated}
        self.is_fixed, self.has_bare_cursor = is_fixed or not self.sorts, has_bare_cursor
        self.page, self.export = Parameters(self, _PAGING if has_pages else ()), Parameters(self, ())

    @property
    def default(self) -> str:
        """Return the default sort; empty where the list reads itself in its own order."""
        return next(iter(self.sorts), "")

    @classmethod
    def of(
        cls, columns: Any, *sorts: str, names: Sequence[Any] = (), codes: Sequence[Any] = (), **others: Any
    ) -> "Listing":
        """Return the list of a table's rows: `sorts` are columns, `others` expressions by the name of their sort."""
        return cls(
            {name: columns[name] for name in sorts} | others,
            tie=columns.id,
            created=columns.created_at if "created_at" in sorts else None,
            updated=columns.updated_at if "updated_at" in sorts else None,
            names=names,
            codes=(columns.id, *codes),
        )

    def whole(self, cursor: str | None, limit: int) -> "Page":
        """Return a page in the default order, without filters."""
        return Page(self, limit=limit, cursor=cursor, sort=self.default)


@dataclass(frozen=True)
class Page:
    """The requested page of a list. `limit` is the number of records, `q` is empty where it is not given."""

    listing: Listing
    limit: int = DEFAULT_LIMIT
    cursor: str | None = None
    wants_count: bool = False
    q: str = ""
    times: Mapping[str, datetime] = field(default_factory=dict)
    """Filters by their parameter, such as `created_after`."""
    sort: str = ""
    order: SortOrder = SortOrder.DESC
    mark: str = ""
    """The mark of the list's path, which its cursors have."""

    async def read(self, session: AsyncSession, query: sa.Select[Any]) -> tuple[Sequence[Any], Paging]:
        """Return the rows of this page, and the page's other fields. The query has the columns of the list."""
        query = self._filtered(query)
        count = await estimates.count(session, query) if self.wants_count else None
        rows = (await session.execute(self._sorted(query))).all()
        cursor = self._cursor(rows[self.limit - 1]) if len(rows) > self.limit else None
        return rows[: self.limit], Paging(nextCursor=cursor, estimatedCount=count)

    async def respond(self, session: AsyncSession, query: sa.Select[Any], answer: type[RecordPage]) -> Response:
        """Return this page as JSON. The query has the column of the records (see `backend.lists.json_records`) and the
        list's tie."""
        rows, paging = await self.read(session, query)
        records = [row.record for row in rows]
        return Response(json_records.body(answer, records, paging), media_type="application/json")

    def cut(self, rows: Sequence[Any]) -> tuple[Sequence[Any], str | None]:
        """Return the rows of a list that is always newest first, and the cursor of its next page."""
        if len(rows) <= self.limit:
            return rows, None
        last = rows[self.limit - 1]
        return rows[: self.limit], self.following(last.created_at.isoformat(), str(last.id))

    def following(self, *parts: str) -> str:
        """Return the cursor of the next page: this list, and the parts that place its last row."""
        return encode_parts(self.mark, *parts)

    def position(self, count: int) -> list[str]:
        """Return the parts of this page's cursor; 422 where another list made it, 400 where it is invalid."""
        cursor = str(self.cursor)
        parts = [] if _is_time(cursor) else decode_parts(cursor)
        if parts[:1] != [self.mark]:
            raise _refused("cursor", "belongs to another list. Start again without a cursor")
        if len(parts) != count + 1:
            raise BadRequest(NOT_VALID)
        return parts[1:]

    async def counted(self, session: AsyncSession, text: str, values: Mapping[str, Any]) -> int | None:
        """Return the number of rows of a query in SQL that returns at most `:most`, if the count is requested."""
        return await estimates.count_text(session, text, values) if self.wants_count else None

    def kept(self, records: Iterable[R]) -> list[R]:
        """Return the records of a short list with a text or number that contains `q`."""
        word = self.q.lower()
        return [r for r in records if not word or any(word in text.lower() for text in _texts(r))]

    def _filtered(self, query: sa.Select[Any]) -> sa.Select[Any]:
        for name, time in self.times.items():
            kind, _, side = name.partition("_")
            column = self.listing.times[kind]
            query = query.where(column > time if side == "after" else column < time)
        return query.where(self._matches()) if self.q else query

    def _matches(self) -> sa.ColumnElement[bool]:
        """Return whether a row has `q`. No wildcards: every character stands for itself."""
        word = sa.func.lower(sa.literal(self.q, sa.Text()))
        places = [sa.func.strpos(_joined(self.listing.names), word)]
        if len(self.q) >= CODE_LENGTH:
            places.append(sa.func.strpos(_joined(("", *self.listing.codes)), sa.literal(BETWEEN, sa.Text()) + word))
        return sa.or_(*(place > 0 for place in places))

    def _sorted(self, query: sa.Select[Any]) -> sa.Select[Any]:
        key, tie = self.listing.sorts[self.sort], self.listing.tie
        columns = [key] if key is tie or self._is_bare else [key, tie]
        if self.cursor:
            after = [sa.literal(v, c.type) for v, c in zip(self._after(columns), columns, strict=True)]
            place, given = sa.tuple_(*columns), sa.tuple_(*after)
            query = query.where(place < given if self.order is SortOrder.DESC else place > given)
        ordered = [c.desc() if self.order is SortOrder.DESC else c.asc() for c in columns]
        return query.add_columns(key.label(KEY)).order_by(*ordered).limit(self.limit + 1)

    @property
    def _is_bare(self) -> bool:
        default = self.sort == self.listing.default and self.order is SortOrder.DESC
        return self.listing.has_bare_cursor and default

    def _cursor(self, row: Any) -> str:
        key, last = row._mapping[KEY], row._mapping[self.listing.tie.name]
        value = timestamp(key) if isinstance(key, datetime) else str(key)
        return value if self._is_bare else self.following(self.sort, self.order, value, str(last))

    def _after(self, columns: Sequence[Any]) -> list[Any]:
        """Return the last values of the previous page; 422 where the cursor belongs to another list or sort."""
        cursor = str(self.cursor)
        is_time = self.listing.has_bare_cursor and _is_time(cursor)
        if is_time and self._is_bare:
            return [read_as(datetime, cursor)]
        sort, order, *values = (self.listing.default, SortOrder.DESC) if is_time else self.position(4)
        if (sort, order) != (self.sort, self.order):
            words = f"belongs to sort={sort} and order={order}. Send these, or start again without a cursor"
            raise _refused("cursor", words)
        return [read_as(_kind(c), v) for c, v in zip(columns, values, strict=False)]


class Parameters:
    """The query parameters of a list, as a dependency of FastAPI: reads them, and returns the page."""

    def __init__(self, listing: Listing, paging: Sequence[Parameter]) -> None:
        self.listing = listing
        times = [n for n in _TIMES if listing.times[n.partition("_")[0]] is not None]
        sorting = [] if listing.is_fixed else [_sort_parameter(listing.sorts), _ORDER]
        own = [*paging, _Q, *(_time_parameter(name) for name in times), *sorting]
        self.names = frozenset(p.name for p in own)
        request = Parameter("request", Parameter.KEYWORD_ONLY, annotation=Request)
        self.__signature__ = Signature([request, *own])

    async def __call__(
        self,
        request: Request,
        limit: str | None = None,
        cursor: str | None = None,
        count: str | None = None,
        q: str | None = None,
        sort: str | None = None,
        order: str | None = None,
        **times: str | None,
    ) -> Page:
        """Return the page; 422 where a parameter is invalid, or not one of this list."""
        for name in (*VIEW, "count", "search"):
            if name in request.query_params and name not in self.names:
                raise _refused(name, _OTHER.get(name, "is not supported by this list. Remove it"))
        return Page(
            self.listing,
            limit=limit_of(limit),
            cursor=cursor,
            wants_count=_one_of("count", count, ("estimated",)) is not None,
            q=_parsed(WORDS, "q", q) or "",
            times=_times(times),
            sort=_one_of("sort", sort, self.listing.sorts) or self.listing.default,
            order=SortOrder(_one_of("order", order, list(SortOrder)) or SortOrder.DESC),
            mark=mark_of(request.url.path),
        )


def mark_of(path: str) -> str:
    """Return what names a list in its cursors: a short hash of its path, so also of the parent in it."""
    return urlsafe_b64encode(blake2b(path.lower().rstrip("/").encode(), digest_size=6).digest()).decode()


def _kind(column: Any) -> type[Any]:
    """Return the type of a column's values; SQLModel's text columns do not state one."""
    return next((kind for stored, kind in _KINDS if isinstance(column.type, stored)), str)


def _texts(record: object) -> list[str]:
    values = [v for v in vars(record).values() if isinstance(v, str | int) and not isinstance(v, bool)]
    return [str(value) for value in values]


def _is_time(cursor: str) -> bool:
    try:
        return datetime.fromisoformat(cursor).tzinfo is not None
    except ValueError:
        return False


def _joined(parts: Sequence[Any]) -> Any:
    values = [sa.literal(p, sa.Text()) if isinstance(p, str) else p for p in parts]
    return sa.func.lower(sa.func.concat_ws(sa.literal(BETWEEN, sa.Text()), *values, sa.literal("", sa.Text())))


def _refused(name: str, detail: str) -> Invalid:
    return Invalid([{"pointer": f"/{name}", "detail": detail}], f"The query parameter {name} {detail}.")


def _one_of(name: str, value: str | None, known: Iterable[str]) -> str | None:
    if value is not None and value not in known:
        raise _refused(name, f"must be {' or '.join(known)}")
    return value


def _parsed(kind: TypeAdapter[Any], name: str, value: str | None) -> Any:
    try:
        return None if value is None else kind.validate_python(value)
    except ValidationError as error:
        raise _refused(name, findings(error.errors())[0]["detail"].removesuffix(".")) from error


def _times(given: Mapping[str, str | None]) -> dict[str, datetime]:
    found = {name: _parsed(TIME, name, text) for name, text in given.items() if text is not None}
    after, before = found.get("created_after"), found.get("created_before")
    if after and before and after >= before:
        raise _refused("created_before", "must be later than created_after")
    return found


def _parameter(name: str, description: str, **schema: Any) -> Parameter:
    kind: Any = Annotated[str, Field(json_schema_extra=schema)]
    annotation = Annotated[kind | None, Query(description=description)]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _sort_parameter(sorts: Mapping[str, Any]) -> Parameter:
    return _parameter("sort", f"What the list is sorted by. Default {next(iter(sorts))}.", enum=list(sorts))


def _time_parameter(name: str) -> Parameter:
    return _parameter(name, _TIMES[name], format="date-time", maxLength=64)


_KINDS: tuple[tuple[Any, type[Any]], ...] = ((sa.DateTime, datetime), (sa.Uuid, UUID), (sa.Integer, int))
_TIMES = {
    "created_after": "Created after this time (RFC 3339 with a time zone).",
    "created_before": "Created before this time (RFC 3339 with a time zone).",
    "updated_after": "Changed after this time (RFC 3339 with a time zone).",
}
_OTHER = {
    "search": "is called q in every list. Send q",
    "sort": "is not supported: this list has a fixed order. Remove it",
    "order": "is not supported: this list has a fixed order. Remove it",
}
_Q = _parameter(
    "q",
    "Part of a name, symbol, title or email; from 4 characters also the beginning of an ID, address or hash.",
    maxLength=100,
    pattern=PLAIN["line"],
)
_ORDER = _parameter("order", "Ascending or descending. Default desc.", enum=[str(o) for o in SortOrder])
_LIMIT: Any = Annotated[
    Limit | None, Query(description="Entries per page. Default 50, at most 100; a larger number means 100.")
]
_CURSOR: Any = Annotated[
    str | None,
    Query(
        max_length=1000,
        description="`nextCursor` of the previous page. It is valid for the same path, `sort` and `order`.",
    ),
]
_PAGING = (
    Parameter("limit", Parameter.KEYWORD_ONLY, default=None, annotation=_LIMIT),
    Parameter("cursor", Parameter.KEYWORD_ONLY, default=None, annotation=_CURSOR),
    _parameter(
        "count",
        "`estimated` adds `estimatedCount`: the number of records that match. It is exact up to 10,000.",
        enum=["estimated"],
    ),
)
SHORT = Listing(has_pages=False)
"""A list that is always whole, in an order of its own."""
