"""Drafts: the quota on stored recipients, and their deletion by people and by the nightly retention."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from limits import RateLimitItemPerDay
from sqlmodel import col

from backend.client import ApiProblem
from backend.core import db
from backend.core.settings import settings
from backend.distributions import retention, states
from backend.distributions.models import DistributionRow, RecipientRow, TreePartRow
from backend.limits import rate_limits
from backend.models import OrganizationRow
from tests.conftest import World
from tests.support.firm import SEPOLIA
from tests.support.issuance import Issuance

MONTH = timedelta(days=30)


async def issuance(world: World) -> tuple[Issuance, Any]:
    """Return a firm below another organization, and its active asset."""
    firm = await Issuance.found(world, parent=await world.organization("Top"))
    assert isinstance(firm, Issuance)
    await firm.enable(SEPOLIA)
    await firm.post("/wallets", {"label": "Treasury"})
    return firm, await firm.asset()


def list_of(recipients: int) -> dict[str, Any]:
    people = [{"address": f"0x{number:040x}", "amount": "1"} for number in range(1, recipients + 1)]
    return {"name": "Dividend", "chain_eid": SEPOLIA, "recipients": people}


def path_of(asset: Any, made: Any = None) -> str:
    return f"/assets/{asset['id']}/distributions" + (f"/{made['id']}" if made else "")


async def tried(firm: Issuance, asset: Any, recipients: int) -> int:
    """Return the status of a creation."""
    try:
        await firm.post(path_of(asset), list_of(recipients))
    except ApiProblem as problem:
        return problem.status
    return 201


async def stored(made: Any) -> list[int]:
    """Return how many recipients and parts of the tree of a distribution are stored."""
    async with db.worker() as session:
        return [
            await session.scalar(
                sa.select(sa.func.count()).select_from(rows).where(col(rows.distribution_id) == UUID(made["id"]))
            )
            or 0
            for rows in (RecipientRow, TreePartRow)
        ]


async def holds(organization: UUID, asset: Any, recipients: int) -> None:
    """Note a distribution with stored recipients of another organization."""
    async with db.worker() as session:
        values = {"total_recipients": recipients, "has_recipients": True, "total_amount": recipients}
        asset_id = UUID(asset["id"])
        session.add(
            DistributionRow(organization_id=organization, asset_id=asset_id, name="X", chain_eid=SEPOLIA, **values)
        )


async def age(made: Any, days: timedelta) -> None:
    """Make a distribution older."""
    async with db.worker() as session:
        (await session.get_one(DistributionRow, UUID(made["id"]))).created_at = db.now() - days


async def test_recipients_above_the_quota_are_refused_until_a_draft_is_deleted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm, asset = await issuance(world)
    monkeypatch.setattr(settings(), "distribution_recipients", 5)
    made = await firm.post(path_of(asset), list_of(3))
    for path in (path_of(asset), path_of(asset) + "?dry_run=true"):
        problem = await firm.refused("POST", path, 409, json=list_of(3))
        assert "SIGNUM_DISTRIBUTION_RECIPIENTS" in problem.detail
    assert await tried(firm, asset, 2) == 201
    await firm.delete(path_of(asset, made))
    assert [await tried(firm, asset, 3), await tried(firm, asset, 1)] == [201, 409]
    unlisted = {"name": "Off book", "chain_eid": SEPOLIA, "total_amount": "5"}
    assert (await firm.post(path_of(asset), unlisted))["has_recipients"] is False


async def test_concurrent_lists_of_recipients_stay_within_the_quota(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm, asset = await issuance(world)
    monkeypatch.setattr(settings(), "distribution_recipients", 5)
    made = await asyncio.gather(*(tried(firm, asset, 2) for _ in range(4)))
    assert sorted(made) == [201, 201, 409, 409]


async def test_recipients_of_the_whole_hierarchy_count_for_the_quota(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm, asset = await issuance(world)
    async with db.worker() as session:
        top = (await session.get_one(OrganizationRow, firm.id)).parent_id
    monkeypatch.setattr(settings(), "distribution_recipients", 5)
    await holds(await world.organization("Stranger"), asset, 5)
    assert await tried(firm, asset, 1) == 201
    await holds(await world.organization("Sibling", top), asset, 3)
    assert [await tried(firm, asset, 2), await tried(firm, asset, 1)] == [409, 201]


async def test_recipients_of_a_founders_other_hierarchies_leave_the_quota_alone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm, asset = await issuance(world)
    other = UUID((await firm.admin.call("POST", "/orgs", json={"name": "Other"}))["id"])
    unit = UUID((await firm.admin.call("POST", f"/orgs/{other}/sub-orgs", json={"name": "Unit"}))["id"])
    async with db.worker() as session:
        top = (await session.get_one(OrganizationRow, firm.id)).parent_id
        (await session.get_one(OrganizationRow, top)).origin_id = firm.admin.user_id
    monkeypatch.setattr(settings(), "distribution_recipients", 5)
    await holds(unit, asset, 5)
    assert [await tried(firm, asset, 5), await tried(firm, asset, 1)] == [201, 409]


async def test_deleted_recipients_count_for_the_daily_limit(
    world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm, asset = await issuance(world)
    monkeypatch.setattr(rate_limits, "RECIPIENTS_BELOW", RateLimitItemPerDay(5))
    await firm.delete(path_of(asset, await firm.post(path_of(asset), list_of(3))))
    assert (await firm.post(path_of(asset) + "?dry_run=true", list_of(2)))["impact"]["total_recipients"] == "2"
    assert [await tried(firm, asset, 3), await tried(firm, asset, 2), await tried(firm, asset, 1)] == [429, 201, 429]


@pytest.mark.long
async def test_recipients_of_new_hierarchies_of_one_origin_share_the_daily_limit(
    world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, asset = await issuance(world)
    second, other = await issuance(world)
    origin = await world.organization("Origin")
    async with db.worker() as session:
        for firm in (first, second):
            top = (await session.get_one(OrganizationRow, firm.id)).parent_id
            (await session.get_one(OrganizationRow, top)).origin_id = origin
    monkeypatch.setattr(rate_limits, "RECIPIENTS_BELOW", RateLimitItemPerDay(5))
    assert await tried(first, asset, 3) == 201
    assert [await tried(second, other, 3), await tried(second, other, 2)] == [429, 201]


async def test_deleted_draft_leaves_no_recipients_and_no_tree(world: World) -> None:
    firm, asset = await issuance(world)
    made, other = [await firm.post(path_of(asset), list_of(3)) for _ in range(2)]
    assert await stored(made) == [3, 1]
    plan = await firm.delete(path_of(asset, made) + "?dry_run=true")
    assert plan["impact"] == {
        "asset_id": asset["id"],
        "total_amount": "3",
        "total_recipients": "3",
        "merkle_root": made["merkle_root"],
    }
    assert await firm.get(path_of(asset, made)) == made
    assert not await firm.delete(path_of(asset, made))
    assert [await stored(made), await stored(other)] == [[0, 0], [3, 1]]
    for method in ("GET", "DELETE"):
        await firm.refused(method, path_of(asset, made), 404)
    entry = (await firm.get("/audit", params={"action": "distribution.deleted"}))["audit"][0]
    assert (entry["subject"]["id"], entry["before"]["name"]) == (made["id"], "Dividend")


async def test_distribution_with_a_request_is_not_deleted(world: World) -> None:
    firm, asset = await issuance(world)
    await firm.patch("", {"approvals": ["distribution.cancel"]})
    await world.person(firm.id)
    made = await firm.post(path_of(asset), list_of(1))
    await firm.post(path_of(asset, made) + "/cancel")
    assert (await firm.get(path_of(asset, made)))["status"] == "draft"
    for path in (path_of(asset, made), path_of(asset, made) + "?dry_run=true"):
        assert "Cancel" in (await firm.refused("DELETE", path, 409)).detail
    await age(made, 2 * MONTH)
    await retention.once()
    assert (await firm.get(path_of(asset, made)))["status"] == "draft"


async def test_cancelled_distribution_is_not_deleted(world: World) -> None:
    firm, asset = await issuance(world)
    made = await firm.post(path_of(asset), list_of(1))
    await firm.succeed((await firm.post(path_of(asset, made) + "/cancel"))["requestId"])
    assert "Only a draft" in (await firm.refused("DELETE", path_of(asset, made), 409)).detail


async def test_draft_older_than_thirty_days_is_deleted_at_night(world: World) -> None:
    firm, asset = await issuance(world)
    old, new, cancelled = [await firm.post(path_of(asset), list_of(2)) for _ in range(3)]
    await firm.succeed((await firm.post(path_of(asset, cancelled) + "/cancel"))["requestId"])
    for made, age_of in ((old, MONTH), (new, MONTH - timedelta(minutes=1)), (cancelled, 2 * MONTH)):
        await age(made, age_of)
    assert await retention.once() >= 1
    kept = (await firm.get(path_of(asset)))["distributions"]
    assert {one["id"] for one in kept} == {new["id"], cancelled["id"]}
    assert [await stored(old), await stored(new)] == [[0, 0], [2, 1]]
    entry = (await firm.get("/audit", params={"action": "distribution.deleted"}))["audit"][0]
    assert (entry["subject"]["id"], entry["credential"]) == (old["id"], "system")


@pytest.mark.long
async def test_draft_that_cannot_be_deleted_does_not_keep_the_others(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm, asset = await issuance(world)
    drafts = [await firm.post(path_of(asset), list_of(1)) for _ in range(3)]
    for made in drafts:
        await age(made, MONTH)
    delete, stuck = states.delete, drafts[0]["id"]

    async def fails_for_one(session: db.Write, row: DistributionRow) -> None:
        await delete(session, row)
        if str(row.id) == stuck:
            await session.execute(sa.text("select 1 / 0"))

    monkeypatch.setattr(states, "delete", fails_for_one)
    assert await retention.once() >= 2
    kept = (await firm.get(path_of(asset)))["distributions"]
    assert [one["id"] for one in kept] == [stuck]
    monkeypatch.setattr(states, "delete", delete)
    assert await retention.once() == 1
