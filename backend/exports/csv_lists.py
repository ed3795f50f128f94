"""Every list as CSV: the same path with `.csv`, the same scope, filters and records, all pages in one stream.

A list is a GET whose response is a model with one list of records, or a page of records beside lists of sums. Its CSV
sibling calls the list's own operation page by page, so that both have the same content. The first page is read in the
request's transaction, and errors are the list's. Each later page has a short transaction of its own, so that a slow
reader holds no connection, and only one page is in memory.
"""

import csv
import io
import re
import types
import unicodedata
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from inspect import Parameter, signature
from typing import Annotated, Any, Union, get_args, get_origin

import orjson
from fastapi import APIRouter, Depends, Response
from fastapi.responses import StreamingResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel

from backend.auth.guard import GuardedRoute, Needs, from_replica
from backend.auth.principal import Context
from backend.core.fields import Record
from backend.lists.pages import PAGING, Page, Parameters

ROWS = 500
"""Records per page."""
SIGNS = "".join(
    sorted(c for c in map(chr, range(0x20, 0x10000)) if unicodedata.normalize("NFKC", c) in ("=", "+", "-", "@"))
)
"""First characters of a formula, including the full-width and small forms that some spreadsheets treat the same."""
FORMULA = re.compile(rf"(^|[;|\t\r\n])(?=(?:[^\S\t\r\n]|\")*[{re.escape(SIGNS)}\u2212])")
"""Where a spreadsheet could start a formula: at the start of a text, and after characters that it may treat as cell
separators.

Commas need no handling: a text with one is quoted.
"""
MEDIA_TYPE = "text/csv"
RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Every record, newest first as in the list: RFC 4180 in UTF-8, with a header line.",
        "content": {MEDIA_TYPE: {}},
    }
}
Operation = Callable[..., Awaitable[Any]]


@dataclass(frozen=True)
class Listing:
    """A list's operation: the field with its records, and their columns."""

    operation: Operation
    answer: type[BaseModel]
    plural: str
    columns: tuple[tuple[str, ...], ...]
    parameters: tuple[Parameter, ...]
    page: str

    def rows(self, answer: BaseModel) -> Iterator[list[str]]:
        """Yield the records of a response as cells."""
        for record in getattr(answer, self.plural):
            plain = record.model_dump(mode="json", by_alias=True)
            yield [cell(_at(plain, path)) for path in self.columns]

    async def read(self, given: dict[str, Any], cursor: str | None) -> BaseModel:
        """Return one page from the list's own operation."""
        if self.page:
            given = given | {self.page: replace(given[self.page], cursor=cursor, limit=ROWS)}
        answer = await self.operation(**given)
        return self.answer.model_validate_json(bytes(answer.body)) if isinstance(answer, Response) else answer


def siblings(router: APIRouter) -> APIRouter:
    """Return a router with the `.csv` of every list of a router, except those that it defines itself, and those of the
    console alone."""
    made = APIRouter(route_class=GuardedRoute)
    routes = [route for route in router.routes if isinstance(route, APIRoute) and "GET" in (route.methods or ())]
    own = {route.path for route in routes}
    for route in routes:
        if f"{route.path}.csv" not in own and not _is_of_console(route) and (listing := listing_of(route)):
            made.add_api_route(
                f"{route.path}.csv",
                _download(listing, route),
                methods=["GET"],
                tags=route.tags,
                dependencies=route.dependencies,
                responses={**route.responses, **RESPONSES},
                response_class=StreamingResponse,
            )
    return made


def _is_of_console(route: APIRoute) -> bool:
    """Return whether only a browser session may call a route: an investor's pages are not exports."""
    needs: Needs | None = getattr(route.endpoint, "__needs__", None)
    return needs is not None and needs.browser


def listing_of(route: APIRoute) -> Listing | None:
    """Return what a route lists; None where its response is not a list.

    Of two addresses of one list, only the one without a slash counts.
    """
    answer = route.response_model
    if not isinstance(answer, type) or not issubclass(answer, BaseModel) or route.path.endswith("/"):
        return None
    lists = {name: record for name, field in answer.model_fields.items() if (record := _listed(field.annotation))}
    others = set(answer.model_fields) - lists.keys() - {"nextCursor", "estimatedCount"}
    if "nextCursor" in answer.model_fields and len(lists) > 1:  # beside the page are sums, such as those per chain
        lists = {name: record for name, record in lists.items() if issubclass(record, Record)}
    elif others and not route.name.startswith("list_"):
        return None
    if len(lists) != 1:
        return None
    plural, record = next(iter(lists.items()))
    parameters = tuple(signature(route.endpoint).parameters.values())
    page = next((p.name for p in parameters if _kind(p.annotation) is Page), "")
    return Listing(route.endpoint, answer, plural, tuple(columns(record)), parameters, page)


def _download(listing: Listing, route: APIRoute) -> Operation:
    """Return the operation of a sibling: the list's parameters without those of paging."""

    async def download(**given: Any) -> StreamingResponse:
        first = await listing.read(given, None)
        headers = {"Content-Disposition": f'attachment; filename="{listing.plural}.csv"', "Cache-Control": "no-store"}
        return StreamingResponse(_lines(listing, given, first), headers=headers, media_type=MEDIA_TYPE)

    kept = [_without_paging(p) for p in listing.parameters if p.name not in PAGING]
    download.__signature__ = signature(download).replace(parameters=kept)  # type: ignore[attr-defined]
    download.__name__ = f"{route.name}_csv"
    download.__doc__ = (
        f"Export `{route.path.rpartition('/v1')[2]}` as CSV: every record that matches its filters, in one stream."
    )
    from_replica(download)
    download.__needs__ = route.endpoint.__needs__  # type: ignore[attr-defined]
    return download


def _without_paging(parameter: Parameter) -> Parameter:
    """Return a list's page as the export takes it: the same filters and order."""
    if _kind(parameter.annotation) is not Page:
        return parameter
    given = next(part.dependency for part in parameter.annotation.__metadata__)
    assert isinstance(given, Parameters)
    return parameter.replace(annotation=Annotated[Page, Depends(given.listing.export)])


async def _lines(listing: Listing, given: dict[str, Any], first: BaseModel) -> AsyncIterator[str]:
    context: Context = given["context"]
    yield written([[".".join(path) for path in listing.columns], *listing.rows(first)])
    cursor = getattr(first, "nextCursor", None)
    while cursor:
        async with context.in_later_read() as later:
            answer = await listing.read(given | {"context": later}, cursor)
        yield written(listing.rows(answer))
        cursor = getattr(answer, "nextCursor", None)


def columns(record: type[BaseModel], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths to a record's plain values, such as `user.email` for a nested one."""
    for name, field in record.model_fields.items():
        path = (*above, field.serialization_alias or field.alias or name)
        inner = _kind(field.annotation)
        if isinstance(inner, type) and issubclass(inner, BaseModel) and len(path) < 4:
            yield from columns(inner, path)
        else:
            yield path


def written(rows: Any) -> str:
    """Return rows in RFC 4180 form: commas, CRLF, quotes where needed."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def cell(value: Any) -> str:
    """Return a value as one cell that no spreadsheet treats as a formula.

    Lists are joined with semicolons; nested objects in them are JSON.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Sequence) and not isinstance(value, str):
        plain = all(isinstance(v, str | int) for v in value)
        value = "; ".join(str(v) for v in value) if plain else orjson.dumps(value).decode()
    elif isinstance(value, dict):
        value = orjson.dumps(value).decode()
    return safe(value) if isinstance(value, str) else str(value)


def safe(text: str) -> str:
    """Return a text that no spreadsheet executes, for any separator: an apostrophe precedes each formula."""
    marked = FORMULA.sub(r"\1'", text)
    return f"'{marked}" if marked.startswith(("\t", "\r")) else marked


def _at(record: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        record = record.get(name) if isinstance(record, dict) else None
    return record


def _listed(annotation: Any) -> type[BaseModel] | None:
    """Return the model of a list's items."""
    inner = get_args(annotation)[0] if get_origin(annotation) is list else None
    return inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None


def _kind(annotation: Any) -> Any:
    """Return a type without `Annotated` and `None` around it."""
    if get_origin(annotation) is Annotated:
        return _kind(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        kinds = [a for a in get_args(annotation) if a is not type(None)]
        return _kind(kinds[0]) if len(kinds) == 1 else None
    return annotation
