"""The demo's year, event by event in order of time. Each event happens at its own time of the chains' clocks."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import partial

from backend.core.readiness import readiness
from backend.demo import cast, history, year_cast
from backend.demo.incidents import Incidents
from backend.demo.income import Income, payouts
from backend.demo.investors import SEEN, Investors
from backend.demo.issuance import UNIT, Issuance
from backend.demo.trading import Trading

BEGINS, ENDS = 10, 82
"""Percent of the demo that exist before and after the year."""


@dataclass(frozen=True)
class Scene:
    """Something that happened at a moment."""

    at: datetime
    tell: Callable[[], Awaitable[None]]


class Year:
    """Tells the year before `today`."""

    def __init__(self, issuance: Issuance, investors: Investors, trading: Trading, income: Income, today: date) -> None:
        self._own, self._investors, self._trading, self._income = issuance, investors, trading, income
        self._incidents = Incidents(issuance, investors)
        self._today = today

    async def tell(self) -> None:
        """Create everything; scenes of one moment happen together."""
        scenes = sorted(self._scenes(), key=lambda scene: scene.at)
        for moment in dict.fromkeys(scene.at for scene in scenes):
            done = max(0.0, 1 - (self._today - moment.date()).days / year_cast.BEGUN)
            readiness().at(f"{moment:%B %Y}", round(BEGINS + done * (ENDS - BEGINS)))
            await history.go_to(moment)
            await asyncio.gather(*(scene.tell() for scene in scenes if scene.at == moment))

    def _scenes(self) -> Iterator[Scene]:
        for symbol, days in year_cast.ISSUED.items():
            yield self._ago(days, "09:05", partial(self._issue, symbol, workday(self._today, days)))
        for days, name, amount in year_cast.SUBSCRIPTIONS:
            yield self._ago(days, "10:20", partial(self._subscribe, days, name, amount))
        for days, amount in year_cast.CLOSINGS.items():
            yield self._ago(days, "09:30", partial(self._mint, days, amount))
        yield self._ago(year_cast.OPENED, "09:00", self._trading.open)
        for days, hour, price, seller, buyers in year_cast.TRADES:
            yield self._ago(days, hour, partial(self._trade, days, price, seller, buyers))
        for (day, name), paid in zip(payouts(self._today, 3), year_cast.PAID, strict=True):
            yield Scene(moment(day, "12:00"), partial(self._income.quarter, name, *paid))
        yield from self._incidents_of_the_year()

    def _incidents_of_the_year(self) -> Iterator[Scene]:
        offshore, lost = (workday(self._today, days) for days in (year_cast.OFFSHORE, year_cast.LOST))
        yield Scene(moment(offshore, "15:10"), partial(self._incidents.offshore, offshore))
        yield self._ago(year_cast.RAISED, "16:05", self._incidents.raise_cap)
        yield self._ago(year_cast.LEFT, "10:45", self._incidents.leave)
        yield Scene(moment(lost, "13:30"), partial(self._incidents.recover_wallet, lost))
        yield self._ago(year_cast.FAILED, "09:50", self._incidents.fail_bridge)
        yield self._ago(year_cast.FAILED, "13:05", self._incidents.retry_bridge)

    def _ago(self, days: int, hour: str, tell: Callable[[], Awaitable[None]]) -> Scene:
        return Scene(moment(workday(self._today, days), hour), tell)

    async def _issue(self, symbol: str, day: date) -> None:
        first = next(one for one in cast.ASSETS if one["symbol"] == "NREF")
        rules = first["compliance_rules"] | {"max_tokens_per_holder": str(year_cast.FIRST_CAP * UNIT)}  # type: ignore[operator]
        begins = {"initial_supply": str(year_cast.FIRST_SUPPLY * UNIT), "compliance_rules": rules}
        await self._own.issue(day, only=symbol, **(begins if symbol == "NREF" else {}))
        await self._own.fund("Treasury")  # before the first income is paid

    async def _subscribe(self, days: int, name: str, amount: int) -> None:
        day = workday(self._today, days)
        if name == cast.PRIVATE:
            await self._investors.private(day)
        else:
            investor = next(one for one in (*cast.INVESTORS, *cast.LATER) if one[1] == name)
            await self._investors.verified(investor, day, SEEN if investor[0] == "person" else "")
        label = f"{name} custody"
        await asyncio.gather(
            self._own.transfer("Treasury", amount, label, key=f"subscription:{name}"), self._own.fund(label)
        )

    async def _mint(self, days: int, amount: int) -> None:
        body = {
            "chain_eid": cast.SEPOLIA,
            "to_address": self._own.wallets["Treasury"]["address"],
            "amount": str(amount * UNIT),
            "reason": "Further closing of the fund.",
        }
        path = f"{self._own.base}/assets/{self._own.assets['NREF']}/mint"
        await self._own.admin.post_and_wait(self._own.org, path, body, key=f"mint:{days}")

    async def _trade(self, days: int, price: int, seller: str, buyers: list[tuple[str, int]]) -> None:
        await self._trading.session(f"trade:{days}", *year_cast.session(price, seller, buyers))


def workday(today: date, days: int) -> date:
    """Return the day that is this many days ago, or the Friday before it."""
    day = today - timedelta(days=days)
    return day - timedelta(days=max(0, day.weekday() - 4))


def moment(day: date, hour: str) -> datetime:
    """Return an hour of a day, in UTC."""
    return datetime.combine(day, time.fromisoformat(hour), UTC)
