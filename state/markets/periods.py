"""The period of a chart of prices."""

from typing import ClassVar

import reflex as rx

from state.core.address import Addressed, Param, choice
from state.core.api import Loads

USUAL = "365"


def in_url(*periods: str) -> dict[str, Param]:
    """Return how a page's URL has its period: one of these, usually a year."""
    return {"period": choice("period", periods, USUAL)}


class OfPeriod(Loads, Addressed, mixin=True):
    """Mixin of a chart over a period that ends today, and that the URL has.

    Declare `_periods` and `_in_url`, and implement `_read`. It provides the handlers `load` and `choose`.
    """

    period: str = USUAL
    _periods: ClassVar[tuple[str, ...]] = ()

    async def _read(self) -> None:
        """Read the prices of the period."""
        raise NotImplementedError

    @rx.event
    async def load(self) -> None:
        """Read the prices of the URL's period."""
        self._read_url()
        await self._read()

    @rx.event(supersedes=True)
    async def choose(self, period: str) -> None:
        """Show another period."""
        self.period = period if period in self._periods else USUAL
        await self._read()
