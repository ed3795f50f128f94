"""The prices of an asset across its markets: by the day or month of the block, in the currency of most trades."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from backend.core import db
from backend.insight.rules import periods_between, span_of
from backend.insight.schemas import PriceStep
from tests.conftest import World
from tests.support.daily_totals import UNIT, Story, account, write
from tests.support.firm import Firm

USD = 10**6
TODAY = date(2026, 11, 28)
EIDS = {"tUSD": 40245, "EURX": 40362}
DAY, MONTH = PriceStep.DAY, PriceStep.MONTH


async def further(story: Story, quote: str = "tUSD") -> Story:
    """Return the story of a further market of an asset."""
    found = Story(story.org, story.asset.symbol, quote=quote)
    found.asset, found.block = story.asset, 10_000 + len(quote)
    found.market.asset_id, found.market.chain_eid = story.asset.id, EIDS[quote]
    async with db.worker() as session:
        session.add(found.market)
    return found


async def test_prices_are_those_of_all_markets_in_one_currency(world: World) -> None:
    firm = await Firm.found(world)
    first = await Story(firm.id, "ONE").begin()
    second, other = await further(first), await further(first, "EURX")
    seller, buyer = account(), account()
    noon = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)

    async def trade(story: Story, days: int, hours: int, price: int, units: int) -> None:
        at = noon - timedelta(days=days) + timedelta(hours=hours)
        await write(*story.trade(at, seller, buyer, price * USD, units * UNIT))

    await trade(first, 400, 0, 90, 1)
    await trade(first, 40, 0, 95, 1)
    await trade(first, 9, 0, 100, 2)
    await trade(second, 9, 2, 99, 5)
    await trade(first, 9, 1, 104, 3)
    await trade(second, 2, 0, 101, 4)
    await trade(other, 1, 0, 7, 4)
    path = f"/assets/{first.asset.id}/prices"

    def day(days: int) -> str:
        return str((noon - timedelta(days=days)).date())

    async def read(**params: str) -> Any:
        return await firm.get(path, params=params)

    year = await read()
    assert (year["since"], year["until"], year["first_trade"]) == (day(365), day(0), day(400))
    assert (year["currency"], year["markets"], year["omitted_markets"]) == ({"symbol": "tUSD", "decimals": 6}, 3, 1)
    assert (year["price"], year["before"]) == (str(101 * USD), str(95 * USD))
    assert year["market_id"] == str(second.market.id)
    assert year["periods"][1:] == [
        {
            "first": day(9), "trades": 3, "high": str(104 * USD), "low": str(99 * USD), "close": str(99 * USD),
            "amount": str(10 * UNIT), "value": str((200 + 312 + 495) * USD),
        },
        {
            "first": day(2), "trades": 1, "high": str(101 * USD), "low": str(101 * USD), "close": str(101 * USD),
            "amount": str(4 * UNIT), "value": str(404 * USD),
        },
    ]  # fmt: skip
    whole = await read(step="month")
    assert whole["since"] == day(400)[:8] + "01"
    assert sum(one["trades"] for one in whole["periods"]) == 6
    assert all(one["first"].endswith("-01") for one in whole["periods"])
    assert whole["periods"][-1]["close"] == str(101 * USD)

    for params in ({"since": day(1), "until": day(2)}, {"since": day(400)}, {"since": "0001-01-01", "step": "month"}):
        await firm.refused("GET", path, 400, params=params)
    stranger = await Firm.found(world, "Stranger")
    await stranger.refused("GET", path, 404)


async def test_asset_without_a_market_has_no_prices(world: World) -> None:
    firm = await Firm.found(world)
    story = await Story(firm.id, "NEW").begin(is_traded=False)
    found = await firm.get(f"/assets/{story.asset.id}/prices", params={"step": "month"})
    assert (found["currency"], found["price"], found["before"], found["markets"]) == (None, None, None, 0)
    assert found["periods"] == []


@pytest.mark.parametrize(
    ("step", "since", "until", "first_trade", "span"),
    [
        (DAY, None, None, None, (date(2025, 11, 28), TODAY)),
        (DAY, date(2026, 5, 3), date(2026, 6, 1), None, (date(2026, 5, 3), date(2026, 6, 1))),
        (DAY, None, date(1, 1, 1), None, (date(1, 1, 1), date(1, 1, 1))),
        (MONTH, None, None, date(2025, 3, 14), (date(2025, 3, 1), TODAY)),
        (MONTH, None, None, None, (date(2026, 11, 1), TODAY)),
        (MONTH, date(2026, 2, 28), None, date(2025, 3, 14), (date(2026, 2, 1), TODAY)),
        (MONTH, None, None, date(1950, 1, 1), (date(1996, 6, 1), TODAY)),
    ],
)
def test_span_of_prices(step: PriceStep, since: date, until: date, first_trade: date, span: tuple[date, date]) -> None:
    assert span_of(step, since, until, first_trade, TODAY) == span
    assert periods_between(step, *span) <= 366
