"""Daily totals equal those of all events, in any order of the events."""

import random
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from backend.assets.indexed_events import Transfers
from backend.chain.indexer import reread
from backend.core import db
from backend.markets.indexed_events import Orders
from tests.conftest import World
from tests.markets.test_trades import traded
from tests.support.daily_totals import UNIT, Story, account, differences, remove, write, year_of_events
from tests.support.firm import SEPOLIA
from tests.support.issuance import Issuance

START = datetime(2025, 12, 1, 23, 30, tzinfo=UTC)
ZERO = f"0x{'0' * 40}"


@pytest.mark.parametrize("seed", range(3))
async def test_totals_equal_those_of_all_events_in_any_order(world: World, seed: int) -> None:
    dice = random.Random(seed)
    org = await world.organization()
    story = await Story(org, "DAYS").begin()
    events = year_of_events(story, dice, START, 60)
    pieces = dice.sample(events, len(events))
    for first in range(0, len(pieces), 9):
        await write(*[event for piece in pieces[first : first + 9] for event in piece])
    assert await differences(org) == {}
    for piece in dice.sample(events, 25):
        await remove(piece)
    assert await differences(org) == {}


async def test_treasury_that_keeps_holding_is_not_added_up_again(world: World) -> None:
    org = await world.organization()
    story = await Story(org, "KEEP").begin()
    treasury, holder = account(), account()
    await write(story.transfer(START, ZERO, treasury, 9 * UNIT))
    place = sa.text(f"select ctid::text from holder_changes where organization_id = '{org}' and address = :who")

    async def stored() -> str | None:
        async with db.worker() as session:
            return (await session.execute(place, {"who": treasury})).scalar()

    first = await stored()
    await write(story.transfer(START + timedelta(days=3), treasury, holder, 4 * UNIT))
    assert await differences(org) == {}
    assert (await stored(), first is None) == (first, False)
    await write(story.transfer(START + timedelta(days=5), treasury, holder, 5 * UNIT))
    assert await differences(org) == {}, "it stopped holding"


async def test_day_ends_at_midnight_utc_and_seller_holds_what_is_on_sale(world: World) -> None:
    org = await world.organization()
    story = await Story(org, "NOON").begin()
    treasury, seller, buyer = account(), account(), account()
    venue = str(story.market.market_address)
    midnight = datetime(2026, 3, 2, tzinfo=UTC)
    before, after = midnight - timedelta(seconds=1), midnight
    await write(
        story.transfer(before, ZERO, treasury, 9 * UNIT),
        story.transfer(before, treasury, seller, 4 * UNIT),
        story.transfer(after, seller, venue, 4 * UNIT),
    )
    ours = f"where organization_id = '{org}'"
    async with db.worker() as session:
        rows = (
            await session.execute(sa.text(f"select day::text, mints, transfers from asset_days {ours} order by day"))
        ).all()
        held = set(await session.scalars(sa.text(f"select address from holder_changes {ours} and change = 1")))
    assert rows == [("2026-03-01", 1, 1)], "a deposit in a market is no transfer"
    assert {treasury, seller} <= held
    assert venue not in held
    await write(*story.trade(after + timedelta(days=1), seller, buyer, 100 * 10**6, 4 * UNIT)[:-1])
    assert await differences(org) == {}


@pytest.mark.long
async def test_rewound_and_corrected_chain_leaves_the_totals_of_its_events(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    market, _ = await traded(firm)
    assert await differences(firm.id) == {}
    async with db.worker() as session:
        await Transfers().rewind(session, SEPOLIA, market["height"])
        await Orders().rewind(session, SEPOLIA, market["height"])
    assert await differences(firm.id) == {}
    token = (await firm.get(f"/assets/{market['asset_id']}"))["deployments"][0]["token_address"]
    for address in (token, market["market_address"]):
        await reread.reread(SEPOLIA, address)
    assert await differences(firm.id) == {}
    async with db.worker() as session:
        days = await session.scalar(
            sa.text("select sum(trades) from market_days where market_id = :id"), {"id": market["id"]}
        )
        await session.execute(
            sa.text("update trades set price = price + 1, maker_chain_id = 7 where market_id = :id"),
            {"id": market["id"]},
        )
    assert days == 2
    await reread.reread(SEPOLIA, market["market_address"])
    assert await differences(firm.id) == {}
