"""The list of bridges: each bridge once, also with equal creation times."""

import asyncio
from uuid import UUID

import pytest

from backend.assets import records
from backend.bridges import service
from backend.core import db
from tests.conftest import World
from tests.support.firm import BASE, SEPOLIA, Firm
from tests.support.issuance import Issuance

pytestmark = pytest.mark.long


async def test_bridges_are_paged_by_creation_time_without_loss_or_duplicates(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, other = await firm.asset(), await firm.asset()

    async def insert(asset_id: str) -> None:
        async with db.transaction(firm.id) as session:
            row = await records.asset(session, firm.id, UUID(asset_id))
            await service.insert(session, row, SEPOLIA, BASE, 0, None)

    await asyncio.gather(*(insert(asset["id"]) for _ in range(12)), insert(other["id"]))
    everything = (await firm.get("/bridges"))["bridges"]
    times = [b["created_at"] for b in everything]
    assert len(set(times)) == 13
    assert times == sorted(times, reverse=True)
    seen, cursor = [], None
    while True:
        page = await firm.get("/bridges", params={"limit": "5", "cursor": cursor})
        seen += page["bridges"]
        cursor = page["nextCursor"]
        if cursor is None:
            break
        assert cursor == page["bridges"][-1]["created_at"]
    assert [b["id"] for b in seen] == [b["id"] for b in everything]
    assert len((await firm.get("/bridges", params={"assetId": other["id"]}))["bridges"]) == 1
    assert len((await firm.get("/bridges", params={"status": "pending", "limit": "1000"}))["bridges"]) == 13
    assert (await firm.get("/bridges", params={"status": "failed"})) == {"bridges": [], "nextCursor": None}
    for query in (
        {"limit": "0"},
        {"limit": "-1"},
        {"limit": "many"},
        {"cursor": "x"},
        {"status": "lost"},
        {"assetId": "x"},
    ):
        await firm.refused("GET", "/bridges", 400, params=query)
    stranger = await Firm.found(world, "Stranger")
    assert (await stranger.get("/bridges"))["bridges"] == []
    await stranger.refused("GET", f"/bridges/{everything[0]['id']}", 404)


async def test_bridges_created_at_the_same_time_are_listed_once_each(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    at = db.now()
    monkeypatch.setattr(service, "recorded_now", lambda: at)
    async with db.transaction(firm.id) as session:
        row = await records.asset(session, firm.id, UUID(asset["id"]))
        made = [str((await service.insert(session, row, SEPOLIA, BASE, 0, None)).id) for _ in range(60)]
    for limit in (1, 7, 60):
        seen, cursor = [], None
        while len(seen) <= len(made):
            page = await firm.get("/bridges", params={"limit": str(limit), "cursor": cursor})
            seen += [b["id"] for b in page["bridges"]]
            cursor = page["nextCursor"]
            if cursor is None:
                break
            assert cursor == page["bridges"][-1]["created_at"]
        assert seen == made[::-1]
