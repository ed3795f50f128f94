"""Drafts of forms: of one person in one organization."""

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from backend.core import db
from backend.drafts.schemas import MOST
from backend.engine import retention
from backend.users.schemas import Role
from tests.conftest import Actor, World
from tests.support.firm import Firm, refused

FIRST, SECOND = '{"step": 1, "taker": "30"}', '{"step": 3, "rules": {"level": 2, "countries": ["CUB"]}}'


async def save(actor: Actor, firm: Firm, content: str, kind: str = "market") -> Any:
    """Save a person's draft."""
    return await actor.call("PUT", f"{firm.base}/drafts/{kind}", json={"content": content})


async def visible(actor: Actor, firm: Firm) -> list[Any]:
    """Return the drafts that the database shows to a person's transaction, without any condition of ours."""
    async with db.transaction(firm.id) as session:
        await db.see_oneself(session, actor.user_id)
        return list(await session.scalars(sa.text("select content from form_drafts")))


async def test_saved_draft_replaces_the_previous_one_of_its_kind_until_it_is_deleted(world: World) -> None:
    firm = await Firm.found(world)
    await firm.refused("GET", "/drafts/market", 404)
    made = await save(firm.admin, firm, FIRST)
    await save(firm.admin, firm, "Harbour House", "asset")
    again = await save(firm.admin, firm, SECOND)
    found = await firm.get("/drafts/market")
    assert found == again
    assert (found["content"], found["created_at"]) == (SECOND, made["created_at"])
    assert found["updated_at"] > made["updated_at"]
    for _ in range(2):
        await firm.admin.call("DELETE", f"{firm.base}/drafts/market")
    await firm.refused("GET", "/drafts/market", 404)
    assert (await firm.get("/drafts/asset"))["content"] == "Harbour House"


async def test_draft_is_seen_by_its_person_in_its_organization_only(world: World) -> None:
    firm, other = await Firm.found(world), await Firm.found(world, "Other")
    colleague = await world.person(firm.id, Role.VIEWER)
    await save(firm.admin, firm, FIRST)
    await refused(colleague, "GET", f"{firm.base}/drafts/market", 404)
    await save(colleague, firm, SECOND)
    await colleague.call("DELETE", f"{firm.base}/drafts/market")
    assert (await firm.get("/drafts/market"))["content"] == FIRST
    assert await visible(firm.admin, firm) == [FIRST]
    assert await visible(colleague, firm) == []
    assert await visible(firm.admin, other) == []
    await refused(other.admin, "GET", f"{firm.base}/drafts/market", 403)


async def test_draft_needs_a_person_who_is_no_client(world: World) -> None:
    firm = await Firm.found(world)
    client = await world.person(firm.id, Role.CLIENT)
    await refused(client, "GET", f"{firm.base}/drafts/market", 403)
    key = Actor(firm.admin.user_id, "", "", world.client)
    await refused(key, "PUT", f"{firm.base}/drafts/market", 403, json={"content": FIRST}, headers=firm.key)


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("market", {"content": "x" * (MOST + 1)}, 422),
        ("market", {"content": {}}, 422),
        ("market", {"content": "", "kind": "asset"}, 422),
        ("market", {"content": "\x07"}, 422),
        ("order", {"content": ""}, 404),
    ],
)
async def test_draft_that_is_too_large_or_malformed_is_refused_and_the_previous_one_stays(
    world: World, kind: str, body: Any, status: int
) -> None:
    firm = await Firm.found(world)
    await save(firm.admin, firm, FIRST)
    await firm.refused("PUT", f"/drafts/{kind}", status, json=body)
    assert (await firm.get("/drafts/market"))["content"] == FIRST


async def test_draft_of_30_days_is_not_shown_and_deleted_at_night(world: World) -> None:
    firm = await Firm.found(world)
    await save(firm.admin, firm, FIRST)
    await save(firm.admin, firm, SECOND, "asset")
    async with db.worker() as session:
        old = {"at": db.now() - timedelta(days=30, seconds=1), "person": firm.admin.user_id}
        await session.execute(
            sa.text("update form_drafts set updated_at = :at where user_id = :person and kind = 'market'"), old
        )
    await firm.refused("GET", "/drafts/market", 404)
    await retention.once()
    assert await visible(firm.admin, firm) == [SECOND]
