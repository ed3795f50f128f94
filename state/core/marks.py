"""Marked rows of a list, for actions on several of them."""

from typing import Any

import reflex as rx

from state.core.paging import Pages


class Marks(Pages, mixin=True):
    """Mixin of a list whose rows can be marked: by checkboxes, with Space or X, and with Shift and J or K.

    Rows of other pages are never marked: what an action changes is visible. `chosen` is the row of the keyboard. It
    provides the handlers `mark`, `mark_chosen`, `mark_next` and `mark_all`.
    """

    rows: list[Any] = []  # each has an `id`; subclasses declare their type
    chosen: str = ""
    marked: list[str] = []

    async def _page(self) -> None:
        await super()._page()
        shown = {row.id for row in self.rows}
        if any(row_id not in shown for row_id in self.marked):
            self.marked = [row_id for row_id in self.marked if row_id in shown]

    def _marked_rows(self) -> list[Any]:
        return [row for row in self.rows if row.id in self.marked]

    @rx.event
    def mark(self, row_id: str, on: bool) -> None:
        """Mark a row, or remove its mark."""
        self._mark({str(row_id)[:100]}, bool(on))

    @rx.event
    def mark_all(self, on: bool) -> None:
        """Mark every row of this page, or none."""
        self._mark({row.id for row in self.rows}, bool(on))

    @rx.event
    def mark_chosen(self) -> None:
        """Change the mark of the chosen row: Space and X. The first row is chosen if none is."""
        self.chosen = self.chosen or next((row.id for row in self.rows), "")
        self._mark({self.chosen}, self.chosen not in self.marked)

    @rx.event
    def mark_next(self, by: int) -> None:
        """Mark the chosen row and the next or previous one, and choose that one: Shift with J and K."""
        if not self.rows or by not in (1, -1):
            return
        at = next((i for i, row in enumerate(self.rows) if row.id == self.chosen), None)
        to = 0 if at is None else max(0, min(len(self.rows) - 1, at + by))
        both = {self.chosen, self.rows[to].id}
        self.chosen = self.rows[to].id
        self._mark(both, on=True)

    def _mark(self, ids: set[str], on: bool) -> None:
        """Change the marks of rows on this page, in the order of the page."""
        wanted = (set(self.marked) | ids) if on else (set(self.marked) - ids)
        self.marked = [row.id for row in self.rows if row.id in wanted]
