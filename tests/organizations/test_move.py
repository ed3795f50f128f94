"""Moving an organization, and what must hold when many move at once."""

import asyncio
from collections.abc import Awaitable
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from backend import db
from backend.client import ApiProblem
from backend.db import new_id
from backend.members.schemas import Role
from backend.models import IssuerRow, IssuerWalletRow, MemberRow, OrganizationRow, RequestRow, RequestStepRow, WalletRow
from backend.organizations import hierarchy
from backend.organizations.rules import MAX_DEPTH
from tests.conftest import Actor, World


async def status_of(call: Awaitable[Any]) -> int:
    try:
        await call
    except ApiProblem as problem:
        return problem.status
    return 200


def move(actor: Actor, parent: UUID, moved: UUID, target: UUID, **params: Any) -> Awaitable[Any]:
    path = f"/orgs/{parent}/sub-orgs/{moved}/move"
    return actor.call("POST", path, json={"newParentId": str(target)}, params=params)


async def parent_of(organization: UUID) -> UUID | None:
    async with db.worker() as session:
        return await session.scalar(sa.select(OrganizationRow.parent_id).where(OrganizationRow.id == organization))


async def test_everything_below_comes_along(world: World) -> None:
    top = await world.organization("Top")
    left, right = await world.organization("Left", top), await world.organization("Right", top)
    unit = await world.organization("Unit", left)
    leaf = await world.organization("Leaf", unit)
    person = await world.person(top)
    moved = await move(person, left, unit, right)
    assert (moved["parent_id"], moved["hierarchy_path"], moved["depth"]) == (str(right), f"/{top}/{right}/{unit}", 2)
    below = await person.call("GET", f"/orgs/{leaf}")
    assert (below["hierarchy_path"], below["depth"]) == (f"/{top}/{right}/{unit}/{leaf}", 3)
    assert await status_of(move(person, left, unit, top)) == 404


async def test_a_dry_run_tells_everything_and_does_nothing(world: World) -> None:
    top = await world.organization("Top")
    left, right = await world.organization("Left", top), await world.organization("Right", top)
    deeper = await world.organization("Deeper", right)
    unit = await world.organization("Unit", left)
    await world.organization("Leaf", unit)
    person = await world.person(top)
    gone = await world.person(left, Role.COMPLIANCE_OFFICER, "gone@example.com")
    come = await world.person(right, Role.VIEWER, "come@example.com")
    await world.person(left, Role.CLIENT)
    plan = await move(person, left, unit, deeper, dry_run="true")
    assert plan["impact"]["descendants"] == 1
    assert [
        (n["path_before"], n["path_after"], n["depth_before"], n["depth_after"]) for n in plan["impact"]["nodes"]
    ] == [
        ("Top / Left / Unit", "Top / Right / Deeper / Unit", 2, 3),
        ("Top / Left / Unit / Leaf", "Top / Right / Deeper / Unit / Leaf", 3, 4),
    ]
    assert [(a["user_id"], a["role"], a["change"]) for a in plan["impact"]["access"]] == [
        (str(come.user_id), "viewer", "gained"),
        (str(gone.user_id), "compliance_officer", "lost"),
    ]
    assert plan["steps"] == ["Move Unit with 1 below it from Left to Deeper"]
    assert await parent_of(unit) == left


async def test_what_cannot_be_a_parent(world: World) -> None:
    top = await world.organization("Top")
    unit = await world.organization("Unit", top)
    leaf = await world.organization("Leaf", unit)
    person = await world.person(top)
    for params in ({}, {"dry_run": "true"}):
        assert await status_of(move(person, top, unit, unit, **params)) == 400
        assert await status_of(move(person, top, unit, leaf, **params)) == 400
        assert await status_of(move(person, top, unit, new_id(), **params)) == 403
        assert await status_of(move(person, top, leaf, top, **params)) == 404
        assert await status_of(move(person, top, new_id(), top, **params)) == 404
    assert await parent_of(unit) == top
    bad = person.call("POST", f"/orgs/{top}/sub-orgs/{unit}/move", json={"newParentId": "x"})
    assert await status_of(bad) == 422


async def test_the_admin_role_is_needed_in_both_parents(world: World) -> None:
    mine, other = await world.organization("Mine"), await world.organization("Other")
    unit = await world.organization("Unit", mine)
    person = await world.person(mine)
    assert await status_of(move(person, mine, unit, other)) == 403
    async with db.worker() as session:
        session.add(MemberRow(organization_id=other, user_id=person.user_id, role=Role.COMPLIANCE_OFFICER))
    assert await status_of(move(person, mine, unit, other)) == 403
    officer = await world.person(mine, Role.COMPLIANCE_OFFICER)
    assert await status_of(move(officer, mine, unit, mine)) == 403
    assert await parent_of(unit) == mine


async def test_a_key_moves_only_what_its_creator_could(world: World) -> None:
    top = await world.organization("Top")
    left, right = await world.organization("Left", top), await world.organization("Right", top)
    unit = await world.organization("Unit", left)
    admin, local = await world.person(top), await world.person(left)
    path, body = f"/orgs/{left}/sub-orgs/{unit}/move", {"newParentId": str(right)}
    for creator in (None, local.user_id):
        key = await world.key(left, created_by=creator)
        assert await status_of(world.client.call("POST", path, json=body, headers=key)) == 403
    key = await world.key(left, created_by=admin.user_id)
    assert (await world.client.call("POST", path, json=body, headers=key))["parent_id"] == str(right)


async def test_nothing_becomes_deeper_than_64(world: World) -> None:
    top = await world.organization("Top")
    chain = [top]
    for depth in range(1, MAX_DEPTH + 1):
        chain.append(await world.organization(f"D{depth}", chain[-1]))
    unit = await world.organization("Unit", top)
    await world.organization("Leaf", unit)
    person = await world.person(top)
    assert await status_of(move(person, top, unit, chain[MAX_DEPTH - 1])) == 400
    assert (await move(person, top, unit, chain[MAX_DEPTH - 2]))["depth"] == MAX_DEPTH - 1
    assert await status_of(person.call("POST", f"/orgs/{chain[-1]}/sub-orgs", json={"name": "Too deep"})) == 400


async def test_two_moves_at_once_never_close_a_cycle(world: World) -> None:
    top = await world.organization("Top")
    person = await world.person(top)
    for round_ in range(10):
        a, b = await world.organization(f"A{round_}", top), await world.organization(f"B{round_}", top)
        answers = await asyncio.gather(status_of(move(person, top, a, b)), status_of(move(person, top, b, a)))
        assert sorted(answers) == [200, 400]


async def test_a_move_waits_for_another_of_its_tree_and_looks_again(world: World) -> None:
    """The other move holds the lock; this one has passed its first checks by then, and must not trust them."""
    top = await world.organization("Top")
    a, b = await world.organization("A", top), await world.organization("B", top)
    person = await world.person(top)
    async with db.worker() as session:
        await hierarchy.lock(session, top)
        waiting = asyncio.create_task(status_of(move(person, top, a, b)))
        async with asyncio.timeout(60):
            while not await _somebody_waits(top):
                assert not waiting.done()
        await session.execute(sa.update(OrganizationRow).where(OrganizationRow.id == b).values(parent_id=a))
    assert await waiting == 400
    assert await parent_of(a) == top


async def _somebody_waits(root: UUID) -> bool:
    async with db.worker() as session:
        key = sa.text("""
            select exists (select from pg_locks where locktype = 'advisory' and not granted
              and ((classid::bigint << 32) | objid::bigint) = hashtextextended(:name, 0))""")
        return bool(await session.scalar(key, {"name": f"hierarchy {root}"}))


async def test_many_moves_at_once_leave_a_tree(world: World) -> None:
    top = await world.organization("Top")
    nodes = [await world.organization(f"N{i}", top) for i in range(8)]
    person = await world.person(top)
    for shift in (1, 3, 5):
        parents = [await parent_of(n) for n in nodes]
        calls = [
            move(person, p, n, nodes[(i + shift) % 8]) for i, (n, p) in enumerate(zip(nodes, parents, strict=True)) if p
        ]
        assert set(await asyncio.gather(*map(status_of, calls))) <= {200, 400, 404}
    for node in nodes:
        found = await person.call("GET", f"/orgs/{node}")
        assert found["hierarchy_path"].startswith(f"/{top}/")


async def test_the_chain_follows_where_a_descendant_is_known_there(world: World) -> None:
    top = await world.organization("Top")
    left, right = await world.organization("Left", top), await world.organization("Right", top)
    unit = await world.organization("Unit", left)
    leaf = await world.organization("Leaf", unit)
    person = await world.person(top)
    await _issuer(leaf)
    plan = await move(person, left, unit, right, dry_run="true")
    assert plan["steps"][1] == "Write the new place on 1 chain"
    await move(person, left, unit, right)
    async with db.worker() as session:
        found = await session.execute(sa.select(RequestRow).where(RequestRow.subject_id == unit))
        request = found.scalar_one()
        steps = await session.execute(sa.select(RequestStepRow.name).where(RequestStepRow.request_id == request.id))
        assert (request.organization_id, request.kind, request.title) == (
            unit,
            "organization.lineage",
            "Write the new place of Unit on chain",
        )
        assert list(steps.scalars()) == ["lineage"]
    before = await move(person, right, unit, right)
    assert before["parent_id"] == str(right)
    listed = await person.call("GET", f"/orgs/{unit}/requests")
    assert len(listed["requests"]) == 1


async def _issuer(organization: UUID) -> None:
    async with db.worker() as session:
        wallet = WalletRow(organization_id=organization, label="w", address=f"0x{new_id().hex}00000000")
        session.add(wallet)
        await session.flush()
        issuer = IssuerRow(organization_id=organization, name="i", max_kyc_level=3, wallet_id=wallet.id)
        session.add(issuer)
        await session.flush()
        session.add(
            IssuerWalletRow(organization_id=organization, issuer_id=issuer.id, chain_eid=40161, address=wallet.address)
        )


async def test_an_organization_that_no_chain_knows_makes_no_request(world: World) -> None:
    top = await world.organization("Top")
    left, right = await world.organization("Left", top), await world.organization("Right", top)
    unit = await world.organization("Unit", left)
    person = await world.person(top)
    await move(person, left, unit, right)
    assert (await person.call("GET", f"/orgs/{unit}/requests"))["requests"] == []


async def test_move_that_lifts_inherited_protections_is_refused_to_a_key(world: World) -> None:
    group = await world.organization("Group")
    left, right = await world.organization("Left", group), await world.organization("Right", group)
    moved = await world.organization("Moved", left)
    admin = await world.person(group)
    key = await world.key(left, created_by=admin.user_id)
    path, body = f"/orgs/{left}/sub-orgs/{moved}/move", {"newParentId": str(right)}
    for protection in ({"allowed_ip_ranges": ["127.0.0.1"]}, {"require_second_factor": True}):
        await protect(left, **protection)
        assert await status_of(world.client.call("POST", path, json=body, headers=key)) == 403
        assert await parent_of(moved) == left
        await protect(left, allowed_ip_ranges=[], require_second_factor=False)
    await protect(group, allowed_ip_ranges=["127.0.0.1"])  # it holds in both places
    assert await status_of(world.client.call("POST", path, json=body, headers=key)) == 200


async def test_move_that_lifts_inherited_protections_needs_who_could_lift_them(world: World) -> None:
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


async def test_move_that_lifts_protections_from_above_needs_the_admin_role_there(world: World) -> None:
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
    await join(middle, admin.user_id)
    assert (await admin.call("POST", path, json=body))["parent_id"] == str(right)


@pytest.mark.parametrize(("ranges", "status"), [(["127.0.0.1"], 200), (["127.0.0.0/24"], 409)])
async def test_move_lifts_ranges_only_where_the_new_place_allows_more(
    world: World, ranges: list[str], status: int
) -> None:
    group = await world.organization("Group")
    left, right = await world.organization("Left", group), await world.organization("Right", group)
    moved = await world.organization("Moved", left)
    admin = await world.person(group)
    await world.person(group)
    await protect(left, allowed_ip_ranges=["127.0.0.0/25"], approvals=["token.pause"])
    await protect(right, allowed_ip_ranges=ranges)
    path, body = f"/orgs/{left}/sub-orgs/{moved}/move", {"newParentId": str(right)}
    assert await status_of(admin.call("POST", path, json=body)) == status


async def join(organization: UUID, person: UUID) -> None:
    """Make somebody an admin."""
    async with db.worker() as session:
        session.add(MemberRow(organization_id=organization, user_id=person, role=Role.ADMIN))


async def protect(organization: UUID, **values: Any) -> None:
    """Set protections of an organization."""
    async with db.worker() as session:
        row = await session.get_one(OrganizationRow, organization)
        for name, value in values.items():
            setattr(row, name, value)
