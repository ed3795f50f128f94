"""Inherited IP ranges and second factors: who can move an organization away from them."""

from typing import Any
from uuid import UUID

import pytest

from backend.client import ApiProblem
from backend.core import db
from backend.members.schemas import Role
from backend.models import MemberRow, OrganizationRow
from tests.conftest import World
from tests.factors.steps import problem_of, set_up
from tests.organizations.test_move import move, parent_of, status_of


async def test_move_that_lifts_inherited_protections_requires_the_right_to_lift_them(world: World) -> None:
    group = await world.organization("Group")
    left, right = await world.organization("Left", group), await world.organization("Right", group)
    moved = await world.organization("Moved", left)
    admin = await world.person(group)
    await world.person(group)
    path, body = f"/orgs/{left}/sub-orgs/{moved}/move", {"newParentId": str(right)}
    await protect(left, allowed_ip_ranges=["127.0.0.1"], approvals=["token.pause"])
    with pytest.raises(ApiProblem) as refused:
        await admin.call("POST", path, json=body)
    assert refused.value.status == 409
    assert f"POST /v1/orgs/{left}/approvals" in str(refused.value.detail)
    assert await parent_of(moved) == left
    await protect(left, approvals=[])
    assert (await admin.call("POST", path, json=body))["parent_id"] == str(right)


async def test_move_that_lifts_protections_from_above_requires_the_admin_role_there(world: World) -> None:
    group = await world.organization("Group")
    middle, right = await world.organization("Middle", group), await world.organization("Right", group)
    left = await world.organization("Left", middle)
    moved = await world.organization("Moved", left)
    admin = await world.person(left)
    await join(right, admin.user_id)
    await protect(middle, allowed_ip_ranges=["127.0.0.1"])
    path, body = f"/orgs/{left}/sub-orgs/{moved}/move", {"newParentId": str(right)}
    with pytest.raises(ApiProblem) as refused:
        await admin.call("POST", path, json=body)
    assert refused.value.status == 403
    assert "Middle" in str(refused.value.detail)
    assert await parent_of(moved) == left
    await protect(right, allowed_ip_ranges=["127.0.0.1"])  # which the caller could take away after the move
    assert await status_of(admin.call("POST", path, json=body)) == 403
    await join(middle, admin.user_id)
    assert (await admin.call("POST", path, json=body))["parent_id"] == str(right)


@pytest.mark.parametrize(("ranges", "status"), [(["127.0.0.1"], 200), (["127.0.0.0/24"], 409)])
async def test_move_lifts_ranges_when_the_new_parent_allows_more(world: World, ranges: list[str], status: int) -> None:
    group = await world.organization("Group")
    left, right = await world.organization("Left", group), await world.organization("Right", group)
    moved = await world.organization("Moved", left)
    admin = await world.person(group)
    await world.person(group)
    await protect(left, allowed_ip_ranges=["127.0.0.0/25"], approvals=["token.pause"])
    await protect(group, allowed_ip_ranges=ranges, approvals=["token.pause"])
    assert await status_of(move(admin, left, moved, right)) == status


async def test_unprotected_organization_is_moved_to_another_hierarchy_by_an_admin_of_both_parents(world: World) -> None:
    """The admin has no role in the root above the old parent."""
    left = await world.organization("Left", await world.organization("Group"))
    right = await world.organization("Right", await world.organization("Other group"))
    moved = await world.organization("Moved", left)
    admin = await world.person(left)
    await join(right, admin.user_id)
    for params in ({"dry_run": "true"}, {}):
        assert await status_of(move(admin, left, moved, right, **params)) == 200
    assert await parent_of(moved) == right


PROTECTIONS = ({"allowed_ip_ranges": ["127.0.0.1"]}, {"require_second_factor": True})


@pytest.mark.parametrize("protection", PROTECTIONS, ids=["ranges", "factor"])
async def test_move_to_an_equal_protection_needs_a_second_person(world: World, protection: dict[str, Any]) -> None:
    group = await world.organization("Group")
    left, right = await world.organization("Left", group), await world.organization("Right", group)
    moved = await world.organization("Moved", left)
    admin = await world.person(group)
    await world.person(group)
    await set_up(admin)
    await protect(left, approvals=["token.pause"], **protection)
    await protect(right, **protection)
    for params in ({}, {"dry_run": "true"}):
        problem = await problem_of(move(admin, left, moved, right, **params))
        assert problem.status == 409
        assert f"POST /v1/orgs/{left}/approvals" in problem.detail
    assert await parent_of(moved) == left
    await protect(right, approvals=["token.pause"])  # and the caller chooses who the second person is there
    assert await status_of(move(admin, left, moved, right)) == 409


async def test_move_under_the_same_second_factor_succeeds_when_approvals_guard_it(world: World) -> None:
    group = await world.organization("Group")
    left, right = await world.organization("Left", group), await world.organization("Right", group)
    moved = await world.organization("Moved", left)
    admin = await world.person(group)
    await world.person(group)
    await set_up(admin)
    await protect(left, approvals=["token.pause"], require_second_factor=True)
    await protect(group, require_second_factor=True)
    assert await status_of(move(admin, left, moved, right)) == 409
    await protect(group, approvals=["token.pause"])
    assert await status_of(move(admin, left, moved, right)) == 200


async def test_protection_in_another_hierarchy_does_not_cover_a_move(world: World) -> None:
    """Its founder chooses the second person there."""
    left, own = await world.organization("Left"), await world.organization("Own")
    moved = await world.organization("Moved", left)
    admin = await world.person(left)
    await world.person(left)
    await join(own, admin.user_id)
    await world.person(own)
    for organization in (left, own):
        await protect(organization, allowed_ip_ranges=["127.0.0.1"], approvals=["token.pause"])
    assert await status_of(move(admin, left, moved, own)) == 409
    await protect(left, approvals=[])
    assert await status_of(move(admin, left, moved, own)) == 200


async def join(organization: UUID, person: UUID) -> None:
    """Make a person an admin."""
    async with db.worker() as session:
        session.add(MemberRow(organization_id=organization, user_id=person, role=Role.ADMIN))


async def protect(organization: UUID, **values: Any) -> None:
    """Set protections of an organization."""
    async with db.worker() as session:
        row = await session.get_one(OrganizationRow, organization)
        for name, value in values.items():
            setattr(row, name, value)
