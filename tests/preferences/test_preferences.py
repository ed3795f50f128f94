"""A person's preferences: changed by the person only, and seen by the person only."""

import asyncio
from datetime import timedelta

import sqlalchemy as sa

from backend.core import db
from backend.core.db import now
from tests.conftest import World
from tests.support.firm import Firm, refused

HIDDEN = "getting-started:5f0b6c1e-0000-4000-8000-000000000000"


async def test_preferences_of_a_new_person_are_the_defaults(world: World) -> None:
    firm = await Firm.found(world)
    found = await firm.admin.call("GET", "/auth/preferences")
    assert found == {"time_zone": "UTC", "digest": "off", "hidden": [], "seen": []}


async def test_preferences_change_one_at_a_time_and_are_private(world: World) -> None:
    firm = await Firm.found(world)
    other = await world.person(firm.id)
    await firm.admin.call("PATCH", "/auth/preferences", json={"time_zone": "Asia/Tokyo"})
    await firm.admin.call("PATCH", "/auth/preferences", json={"hide": [HIDDEN, "other"]})
    found = await firm.admin.call("PATCH", "/auth/preferences", json={"show": ["other"]})
    assert found == {"time_zone": "Asia/Tokyo", "digest": "off", "hidden": [HIDDEN], "seen": []}
    assert await firm.admin.call("GET", "/auth/preferences") == found
    assert (await other.call("GET", "/auth/preferences"))["time_zone"] == "UTC"


async def test_concurrent_changes_of_preferences_are_all_kept(world: World) -> None:
    firm = await Firm.found(world)
    cards = [f"card-{letter}" for letter in "abcdef"]
    await asyncio.gather(*(firm.admin.call("PATCH", "/auth/preferences", json={"hide": [card]}) for card in cards))
    assert sorted((await firm.admin.call("GET", "/auth/preferences"))["hidden"]) == cards


async def test_seen_time_moves_forward_and_never_beyond_now(world: World) -> None:
    firm = await Firm.found(world)
    before = now()

    async def see(at: str) -> str:
        body = {"seen": {"organization_id": str(firm.id), "at": at}}
        return str((await firm.admin.call("PATCH", "/auth/preferences", json=body))["seen"][0]["at"])

    assert await see("0784-07-28T08:51:32Z") == "0784-07-28T08:51:32.000000Z"
    first = await see((before + timedelta(days=1)).isoformat())
    assert first < (now() + timedelta(seconds=5)).isoformat()
    assert await see("2020-01-01T00:00:00Z") == first


async def test_unusable_preferences_are_refused_and_change_nothing(world: World) -> None:
    firm = await Firm.found(world)
    for body in ({"time_zone": "Mars/Olympus"}, {"hide": ["No Card"]}, {"hide": ["a"] * 101}):
        await refused(firm.admin, "PATCH", "/auth/preferences", 422, json=body)
    await refused(firm.admin, "PATCH", "/auth/preferences", 422, json={})
    assert (await firm.admin.call("GET", "/auth/preferences"))["hidden"] == []


async def test_database_shows_preferences_to_their_person_only(world: World) -> None:
    firm = await Firm.found(world)
    other = await world.person(firm.id)
    await firm.admin.call("PATCH", "/auth/preferences", json={"time_zone": "Asia/Tokyo"})
    async with db.transaction(firm.id) as session:
        await db.see_oneself(session, other.user_id)
        assert await session.scalar(sa.text("select count(*) from preferences")) == 0
