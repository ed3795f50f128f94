"""The daily prices of a market: by the day of the block, equal to its trades, and refused for other tenants."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.conftest import World
from tests.support.daily_totals import UNIT, Story, account, write
from tests.support.firm import Firm

USD = 10**6


async def test_days_have_the_prices_and_volume_of_their_trades(world: World) -> None:
    firm = await Firm.found(world)
    story = await Story(firm.id, "ONE").begin()
    seller, buyer = account(), account()
    noon = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)
    for days, hours, price, units in ((400, 0, 90, 1), (9, 0, 100, 2), (9, 1, 104, 3), (9, 2, 99, 5), (2, 0, 101, 4)):
        at = noon - timedelta(days=days) + timedelta(hours=hours)
        await write(*story.trade(at, seller, buyer, price * USD, units * UNIT))
    path = f"/assets/{story.asset.id}/markets/{story.market.id}/daily-prices"

    def day(days: int) -> str:
        return str((noon - timedelta(days=days)).date())

    async def read(**params: str) -> Any:
        return await firm.get(path, params=params)

    year = await read()
    assert (year["since"], year["until"]) == (day(365), day(0))
    assert year["days"] == [
        {
            "day": day(9), "trades": 3, "open": str(100 * USD), "high": str(104 * USD), "low": str(99 * USD),
            "close": str(99 * USD), "amount": str(10 * UNIT), "value": str((200 + 312 + 495) * USD),
        },
        {
            "day": day(2), "trades": 1, "open": str(101 * USD), "high": str(101 * USD), "low": str(101 * USD),
            "close": str(101 * USD), "amount": str(4 * UNIT), "value": str(404 * USD),
        },
    ]  # fmt: skip
    assert [one["day"] for one in (await read(since=day(8)))["days"]] == [day(2)]
    assert [one["day"] for one in (await read(until=day(390)))["days"]] == [day(400)]
    assert (await read(since=day(2), until=day(2)))["days"] == year["days"][1:]

    for params in (
        {"since": day(1), "until": day(2)},
        {"since": day(400), "until": day(0)},
        {"since": "0001-01-01"},
        {"since": "9999-12-31"},
    ):
        await firm.refused("GET", path, 400, params=params)
    await firm.refused("GET", path, 400, params={"since": "yesterday"})
    assert (await read(until="0001-01-01"))["days"] == []
    stranger = await Firm.found(world, "Stranger")
    await stranger.refused("GET", path, 404)
