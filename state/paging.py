"""Keyset pages: forward by the API's cursor, back by the cursors already used."""

from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.api import Loads


class Pages(Loads, mixin=True):
    """Mixin of a state with a keyset table. Implement `_fetch` and keep the rows in a var of your own.

    The handlers `older`, `newer`, `reload` come with it; call `_restart()` after a filter changed.
    """

    has_newer: bool = False
    has_older: bool = False
    busy: bool = False
    _cursor: str = ""
    _next: str = ""
    _before: list[str] = []

    async def _fetch(self, cursor: str) -> str | None:
        """Load the page at `cursor` (empty: the first) into the state's rows; return the API's `nextCursor`."""
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
    async def older(self) -> Any:
        """Go to the next page."""
        if self._next:
            self.busy = True
            yield
            self._before, self._cursor = [*self._before, self._cursor], self._next
            await self._page()

    @rx.event
    async def newer(self) -> Any:
        """Go back a page."""
        if self._before:
            self.busy = True
            yield
            *self._before, self._cursor = self._before
            await self._page()

    @rx.event
    async def reload(self) -> Any:
        """Load the same page again."""
        await self._page()
