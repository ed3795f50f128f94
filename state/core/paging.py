"""Lists in keyset pages: forward with the API's cursor, back with the cursors already used; and their filters."""

import asyncio
from enum import StrEnum
from typing import Any, ClassVar

import reflex as rx

from backend.client import ApiProblem
from state.core.address import Addressed, Param
from state.core.api import Loads
from state.core.arguments import one_of
from state.core.events import Events


class Sorts(Addressed, mixin=True):
    """Mixin of a list whose columns sort. Declare `_sorts`, the API's sorts with its default first; pass `_order()` to
    the API."""

    sort: str = ""
    """The sort of the rows; empty if this list has none."""
    down: bool = True
    is_sorted: bool = False
    """Whether the rows are in another order than the list's usual one, newest first."""
    _sorts: ClassVar[tuple[str, ...]] = ()

    def _order(self) -> dict[str, Any]:
        """Return the API's parameters for the sort in the page's address, and show it."""
        if not self._sorts:
            return {}
        self.sort = one_of(self._query(f"{self._table}sort"), self._sorts, self._sorts[0])
        self.down = self._query(f"{self._table}order") != "asc"
        self.is_sorted = self.sort != self._sorts[0] or not self.down
        return {"sort": self.sort, "order": "desc" if self.down else "asc"}


class Listed(Loads, mixin=True):
    """Mixin of a list. Declare `rows` with the type of a row."""

    rows: list[Any] = []


class Pages(Sorts, Listed, mixin=True):
    """Mixin of a list in keyset pages. Implement `_fetch`.

    It provides the handlers `load`, `reload`, `older`, `newer` and `sort_again`; call `_restart()` after a filter
    change.
    """

    has_newer: bool = False
    has_older: bool = False
    busy: bool = False
    _cursor: str = ""
    _next: str = ""
    _before: list[str] = []

    async def _fetch(self, cursor: str) -> str | None:
        """Load the page at `cursor` (empty: the first) into `rows`; return the API's `nextCursor`."""
        raise NotImplementedError

    async def _page(self) -> None:
        try:
            self._next = await self._fetch(self._cursor) or ""
            self._loaded()
        except ApiProblem as problem:
            self._failed(problem)
        self.has_older, self.has_newer, self.busy = bool(self._next), bool(self._before), False

    async def _restart(self) -> None:
        self._cursor, self._before = "", []
        await self._page()

    @rx.event
    async def load(self) -> None:
        """Read the first page of the view in the URL."""
        self._read_url()
        await self._restart()

    @rx.event(supersedes=True)
    async def sort_again(self) -> None:
        """Read the first page in the order that the page's address has now."""
        await self._restart()

    @rx.event
    async def older(self) -> Events:
        """Go to the next page."""
        if self._next:
            self.busy = True
            yield
            self._before, self._cursor = [*self._before, self._cursor], self._next
            await self._page()

    @rx.event
    async def newer(self) -> Events:
        """Go back a page."""
        if self._before:
            self.busy = True
            yield
            *self._before, self._cursor = self._before
            await self._page()

    @rx.event
    async def reload(self) -> None:
        """Load the same page again."""
        await self._page()


class ByStatus(Pages, mixin=True):
    """Mixin of a list with a filter by status. Declare `_statuses`; it provides the handler `filter_status`."""

    status: str = ""
    _statuses: ClassVar[type[StrEnum]]
    _in_url: ClassVar[dict[str, Param]] = {"status": Param("status", lambda state, text: one_of(text, state._statuses))}

    @rx.event(supersedes=True)
    async def filter_status(self, status: str) -> None:
        """Show one status, or all."""
        self.status = one_of(status, self._statuses)
        await self._restart()


class CountedByStatus(ByStatus, mixin=True):
    """Mixin of a list whose filters by status show how many entries each has. Implement `_number`."""

    counts: dict[str, str] = {}
    """By status; the key of all statuses is empty. Empty if they could not be read."""

    async def _number(self, status: str) -> int | None:
        """Return the number of entries that the other filters leave of a status; of all if it is empty."""
        raise NotImplementedError

    async def _count(self) -> None:
        names = ["", *(str(status) for status in self._statuses)]
        try:
            found = await asyncio.gather(*(self._number(name) for name in names))
        except ApiProblem:  # the list says why, and its filters work without numbers
            self.counts = {}
            return
        self.counts = {name: f"{number:,}" for name, number in zip(names, found, strict=True) if number is not None}

    async def _restart(self) -> None:
        await asyncio.gather(super()._restart(), self._count())
