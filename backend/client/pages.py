"""A list: its first page when awaited, all its records when iterated."""

from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

P = TypeVar("P", bound=BaseModel)
R = TypeVar("R")


class Pages(Generic[P, R]):
    """`page = await client.list_assets(org)`, or `async for asset in client.list_assets(org)`.

    Iteration requests the next page when the current one is used up; `pages()` yields the pages themselves.
    """

    def __init__(self, fetch: Callable[[str | None], Awaitable[P]], cursor: str | None, items: str) -> None:
        self._fetch, self._cursor, self._items = fetch, cursor, items

    def __await__(self) -> Generator[Any, None, P]:
        """Return the page."""
        return self._fetch(self._cursor).__await__()

    async def __aiter__(self) -> AsyncIterator[R]:
        """Yield all records."""
        async for page in self.pages():
            for record in getattr(page, self._items):
                yield record

    async def pages(self) -> AsyncIterator[P]:
        """Yield page by page, from the given cursor."""
        cursor = self._cursor
        while True:
            page = await self._fetch(cursor)
            yield page
            cursor = getattr(page, "nextCursor", None)
            if cursor is None:
                return
