"""The cap table of the current asset: its time, what it is compared with, and its holders."""

from datetime import date, datetime, timedelta, tzinfo
from typing import ClassVar
from urllib.parse import urlencode

import reflex as rx

from backend.cap_table.schemas import HoldingChange
from state.cap_table.views import CapTableView, HolderRow, holder_row, table_view
from state.chains.lookup import Chains
from state.core.address import Param, choice
from state.core.dates import day_of, end_of
from state.core.events import Events
from state.core.paging import Pages
from state.core.units import column_decimals

MONTH = timedelta(days=30)


class CapTableState(Pages, Chains, rx.State):
    """The tab. A day stands for its last moment in the user's time zone; without one, it is now."""

    rows: list[HolderRow] = []
    least: int = 0
    """Decimals that each amount shows."""
    table: CapTableView = CapTableView()
    day: str = ""
    """The day of the cap table; empty for now."""
    earlier: str = ""
    """The day with which it is compared; empty without a comparison."""
    change: str = ""
    """The change that listed holders have; empty for all."""
    _in_url: ClassVar[dict[str, Param]] = {
        "as_of": Param("day", lambda _, text: day_of(text), "change"),
        "with": Param("earlier", lambda _, text: day_of(text)),
        "change": choice("change", HoldingChange),
    }
    query: str = ""
    """The times as the API's query, for the PDF; empty for now without a comparison."""
    _today: date | None = None

    async def _fetch(self, cursor: str) -> str | None:
        if not self._chains:
            await self._read_chains()
        zone = await self._zone()
        times = self._times(zone)
        self.query = urlencode(times)
        table = await self._api.get_cap_table(
            self._org_id(),
            self._in_path("asset_id"),
            change=HoldingChange(self.change) if self.change and self.earlier else None,
            cursor=cursor or None,
            as_of=times.get("as_of"),
            compare_with=times.get("compare_with"),
        )
        if "as_of" not in times:
            self._today = table.as_of.astimezone(zone).date()
        names = {chain.chain_eid: chain.chain_name for chain in table.chains}
        names |= {eid: chain.name for eid, chain in self._chains.items()}
        self.table = table_view(table, self._today or datetime.now(zone).date(), names)
        self.least = column_decimals((holder.balance for holder in table.holders), table.decimals)
        self.rows = [
            holder_row(holder, n, table.symbol, table.decimals, names) for n, holder in enumerate(table.holders)
        ]
        return table.nextCursor

    def _times(self, zone: tzinfo) -> dict[str, str]:
        """Return the times of the days, as the API takes them."""
        times = {"as_of": end_of(self.day, zone), "compare_with": end_of(self.earlier, zone)}
        return {name: time for name, time in times.items() if time}

    @rx.event(supersedes=True)
    async def pick(self, day: str) -> Events:
        """Show the cap table of a day; the last one is now."""
        day = day_of(day)
        self.day = "" if day >= self.table.last_day else day
        if self.earlier and self.earlier >= (self.day or self.table.last_day):
            self.earlier = max(self._days_before(self.day or self.table.last_day), self.table.first_day)
        self.busy = True
        yield
        await self._restart()

    @rx.event(supersedes=True)
    async def compare(self, day: str) -> Events:
        """Compare with the holdings of an earlier day."""
        day = day_of(day)
        latest = self._days_before(self.day or self.table.last_day, timedelta(days=1))
        self.earlier = min(day, latest) if day else ""
        self.busy = True
        yield
        await self._restart()

    @rx.event(supersedes=True)
    async def compare_or_not(self, on: bool) -> Events:
        """Compare with a month before, or stop comparing."""
        month = max(self._days_before(self.day or self.table.last_day), self.table.first_day)
        self.earlier, self.change = (month if on else ""), ""
        self.busy = True
        yield
        await self._restart()

    @rx.event(supersedes=True)
    async def filter_change(self, change: str) -> None:
        """List only holders whose holding changed in a way, or all."""
        self.change = change if change in set(HoldingChange) else ""
        await self._restart()

    def _days_before(self, day: str, span: timedelta = MONTH) -> str:
        return (date.fromisoformat(day) - span).isoformat() if day else ""
