"""The number of a list's entries in each status, shown on its filters."""

import asyncio

from backend.client import ApiProblem
from state.core.paging import ByStatus


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
