"""Sorts of lists, in the page's address: they survive a reload and can be sent to others."""

from typing import Any, ClassVar

from state.core.address import Addressed
from state.core.arguments import one_of


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
