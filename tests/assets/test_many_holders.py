"""Balances follow the transfers, and a page of many holders is that of a cap table that reads every holder."""

import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.assets import holders
from backend.chain.models import TokenBalanceRow, TokenTransferRow
from backend.core import db
from backend.core.addresses import ZERO_ADDRESS
from backend.markets.schemas import OrderSide, OrderStatus
from backend.models import OrderRow
from tests.conftest import World
from tests.support.daily_totals import EID, UNIT, Story, account, remove, write, year_of_events
from tests.support.firm import BASE, Firm

START = datetime(2025, 1, 1, tzinfo=UTC)


async def kept(story: Story) -> dict[tuple[int, str], int]:
    async with db.worker() as session:
        rows = await session.scalars(sa.select(TokenBalanceRow).where(col(TokenBalanceRow.asset_id) == story.asset.id))
        return {(row.chain_eid, row.address): row.balance or 0 for row in rows if row.balance}


def added_up(events: list[Any]) -> dict[tuple[int, str], int]:
    sums = defaultdict[tuple[int, str], int](int)
    for one in events:
        if isinstance(one, TokenTransferRow):
            sums[one.chain_eid, one.from_address] -= one.amount or 0
            sums[one.chain_eid, one.to_address] += one.amount or 0
    return {place: amount for place, amount in sums.items() if amount}


async def test_balances_are_the_sums_of_transfers_that_come_change_and_go(world: World) -> None:
    story = await Story((await Firm.found(world)).id, "SUMS").begin()
    made = year_of_events(story, random.Random(16), START, 60)
    for some in made:
        await write(*some)
    events = [one for some in made for one in some]
    assert await kept(story) == added_up(events)

    changed = next(one for one in events if isinstance(one, TokenTransferRow) and one.from_address != ZERO_ADDRESS)
    async with db.worker() as session:
        row = await session.get_one(TokenTransferRow, changed.id)
        row.amount = changed.amount = (changed.amount or 0) + 5
        row.to_address = changed.to_address = account()
    assert await kept(story) == added_up(events)

    await remove([one for some in made[30:] for one in some])
    assert await kept(story) == added_up([one for some in made[:30] for one in some])


async def test_page_of_many_holders_is_that_of_a_whole_cap_table(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    firm = await Firm.found(world)
    treasury = (await firm.post("/wallets", {"label": "Treasury"}))["address"]
    story = await Story(firm.id, "MANY").begin()
    dice, people = random.Random(17), [account() for _ in range(12)]
    events: list[Any] = [
        story.transfer(START, ZERO_ADDRESS, treasury, 10_000 * UNIT),
        story.transfer(START, ZERO_ADDRESS, people[0], 300 * UNIT, BASE),
    ]
    for day, person in enumerate(people):  # some hold the same, so that the order needs the address
        amount = dice.choice([5, 5, 70, 333]) * UNIT
        events.append(story.transfer(START + timedelta(days=day), treasury, person, amount))
    venue = str(story.market.market_address)
    for number, seller in enumerate([people[1], people[2], people[2], treasury]):
        events.append(story.transfer(START + timedelta(days=20), seller, venue, 2 * UNIT))
        events.append(
            OrderRow(
                organization_id=firm.id, market_id=story.market.id, chain_order_id=100 + number, side=OrderSide.SELL,
                status=OrderStatus.OPEN, price=10**6, amount=2 * UNIT, filled=0, maker_address=seller,
            )
        )  # fmt: skip
    events.append(
        story.transfer(START + timedelta(days=21), people[3], venue, 7),
    )  # sent to it without an order
    await write(*events)

    async def walked() -> list[dict[str, Any]]:
        pages, query = [], {"limit": "4"}
        while True:
            pages.append(await firm.get(f"/assets/{story.asset.id}/holders", params=query))
            if pages[-1]["nextCursor"] is None:
                return pages
            query["cursor"] = pages[-1]["nextCursor"]

    whole = await walked()
    monkeypatch.setattr(holders, "MANY", 3)
    fast = await walked()
    assert len(whole) == 4
    assert sum(one["share_bps"] for page in whole for one in page["holders"]) == 10_000
    for one, other in zip(whole, fast, strict=True):
        exact = [holder.pop("share_bps") for holder in one["holders"]]
        rounded = [holder.pop("share_bps") for holder in other["holders"]]
        assert all(abs(a - b) <= 1 for a, b in zip(exact, rounded, strict=True))
        assert one == other
    assert (whole[0]["investors"], whole[0]["total_escrowed"]) == (12, str(8 * UNIT))
    assert {holder["chain_eid"] for page in whole for holder in page["holders"]} == {EID, BASE}
