"""Saved views: of one person in one organization."""

import asyncio
from typing import Any

import pytest
import sqlalchemy as sa

from backend.core import db
from backend.saved_views.service import MOST
from backend.users.schemas import Role
from tests.conftest import Actor, World
from tests.support.firm import Firm, refused

VIEW = {"page": "attestations", "name": "Soon to renew", "query": "show=expiring&sort=created_at&order=asc"}


async def names(actor: Actor, firm: Firm, **filters: Any) -> list[str]:
    """Return the names of a person's views."""
    listed = await actor.call("GET", f"{firm.base}/saved-views", params=filters)
    return [view["name"] for view in listed["saved_views"]]


async def test_view_is_listed_for_its_person_and_page_until_it_is_deleted(world: World) -> None:
    firm, other = await Firm.found(world), await Firm.found(world, "Other")
    colleague = await world.person(firm.id, Role.VIEWER)
    made = await firm.post("/saved-views", VIEW)
    await firm.post("/saved-views", VIEW | {"page": "requests", "query": "status=failed"})
    assert {name: made[name] for name in VIEW} == VIEW
    assert await names(firm.admin, firm, page="attestations") == [VIEW["name"]]
    assert await names(firm.admin, firm, q="renew") == [VIEW["name"]] * 2
    assert await names(colleague, firm) == []
    await refused(colleague, "DELETE", f"{firm.base}/saved-views/{made['id']}", 404)
    async with db.transaction(firm.id, other.id) as session:
        await db.see_oneself(session, colleague.user_id)
        assert await session.scalar(sa.text("select count(*) from saved_views")) == 0
    await firm.admin.call("DELETE", f"{firm.base}/saved-views/{made['id']}")
    await firm.refused("DELETE", f"/saved-views/{made['id']}", 404)
    assert await names(firm.admin, firm, page="attestations") == []


async def test_view_of_a_taken_name_is_refused_once_saved_by_two_tabs(world: World) -> None:
    firm = await Firm.found(world)
    found = await asyncio.gather(*[firm.post("/saved-views", VIEW) for _ in range(2)], return_exceptions=True)
    assert [getattr(one, "status", 201) for one in found].count(409) == 1
    assert await names(firm.admin, firm) == [VIEW["name"]]


async def test_view_beyond_the_quota_of_a_person_is_refused(world: World) -> None:
    firm = await Firm.found(world)
    for number in range(MOST):
        await firm.post("/saved-views", VIEW | {"name": f"View {number}"})
    await firm.refused("POST", "/saved-views", 409, json=VIEW)
    colleague = await world.person(firm.id, Role.MEMBER)
    await colleague.call("POST", f"{firm.base}/saved-views", json=VIEW)


@pytest.mark.parametrize(
    "wrong",
    [
        {"query": "javascript:alert(1)"},
        {"query": "next=//evil.example"},
        {"query": "a" * 2_001},
        {"page": "../assets"},
        {"name": ""},
        {"other": 1},
    ],
)
async def test_malformed_view_is_refused(world: World, wrong: dict[str, Any]) -> None:
    firm = await Firm.found(world)
    await firm.refused("POST", "/saved-views", 422, json=VIEW | wrong)
