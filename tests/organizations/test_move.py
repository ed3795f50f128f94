"""Moving an organization, and invariants of concurrent moves."""

import asyncio
from collections.abc import Awaitable
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from backend.client import ApiProblem
from backend.core import db, locks
from backend.core.db import new_id
from backend.core.locks import Purpose
from backend.models import IssuerRow, IssuerWalletRow, MemberRow, OrganizationRow, RequestRow, RequestStepRow, WalletRow
from backend.organizations import hierarchy
from backend.organizations.rules import MAX_DEPTH
from backend.users.schemas import Role
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


async def test_move_takes_descendants_along(world: World) -> None:
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


async def test_move_dry_run_lists_every_change_and_changes_nothing(world: World) -> None:
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


async def test_move_below_itself_or_an_unknown_parent_is_rejected(world: World) -> None:
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


async def test_move_requires_the_admin_role_in_both_parents(world: World) -> None:
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


async def test_move_deeper_than_64_levels_is_rejected(world: World) -> None:
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


@pytest.mark.long
async def test_concurrent_moves_never_create_a_cycle(world: World) -> None:
    top = await world.organization("Top")
    person = await world.person(top)
    for round_ in range(10):
        a, b = await world.organization(f"A{round_}", top), await world.organization(f"B{round_}", top)
        answers = await asyncio.gather(status_of(move(person, top, a, b)), status_of(move(person, top, b, a)))
        assert sorted(answers) == [200, 400]


async def test_move_waits_for_another_in_its_tree_and_checks_again(world: World) -> None:
    """The other move holds the lock; this one has passed its first checks by then, and must not rely on them."""
    top = await world.organization("Top")
    a, b = await world.organization("A", top), await world.organization("B", top)
    person = await world.person(top)
    async with db.worker() as session:
        await hierarchy.lock(session, top)
        waiting = asyncio.create_task(status_of(move(person, top, a, b)))
        async with asyncio.timeout(60):
            while not await _has_waiter(top):
                assert not waiting.done()
        await session.execute(sa.update(OrganizationRow).where(OrganizationRow.id == b).values(parent_id=a))
    assert await waiting == 400
    assert await parent_of(a) == top


async def _has_waiter(root: UUID) -> bool:
    async with db.worker() as session:
        key = sa.text("""
            select exists (select from pg_locks where locktype = 'advisory' and not granted
              and ((classid::bigint << 32) | objid::bigint) = :number)""")
        return bool(await session.scalar(key, {"number": locks.number(Purpose.HIERARCHY, root)}))


@pytest.mark.long
async def test_concurrent_moves_of_many_organizations_leave_a_tree(world: World) -> None:
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


async def test_move_is_written_to_chains_that_know_a_descendant(world: World) -> None:
    top = await world.organization("Top")
    left, right = await world.organization("Left", top), await world.organization("Right", top)
    unit = await world.organization("Unit", left)
    leaf = await world.organization("Leaf", unit)
    person = await world.person(top)
    await issuer(leaf)
    plan = await move(person, left, unit, right, dry_run="true")
    assert plan["steps"][1] == "Write the new parent on 1 chain"
    await move(person, left, unit, right)
    async with db.worker() as session:
        found = await session.execute(sa.select(RequestRow).where(RequestRow.subject_id == unit))
        request = found.scalar_one()
        steps = await session.execute(sa.select(RequestStepRow.name).where(RequestStepRow.request_id == request.id))
        assert (request.organization_id, request.kind, request.title) == (
            unit,
            "organization.lineage",
            "Write the new parent of Unit on chain",
        )
        assert list(steps.scalars()) == ["lineage"]
    before = await move(person, right, unit, right)
    assert before["parent_id"] == str(right)
    listed = await person.call("GET", f"/orgs/{unit}/requests")
    assert len(listed["requests"]) == 1


async def issuer(organization: UUID) -> None:
    """Make an organization known on a chain."""
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


async def test_move_of_an_organization_unknown_on_chain_creates_no_request(world: World) -> None:
    top = await world.organization("Top")
    left, right = await world.organization("Left", top), await world.organization("Right", top)
    unit = await world.organization("Unit", left)
    person = await world.person(top)
    await move(person, left, unit, right)
    assert (await person.call("GET", f"/orgs/{unit}/requests"))["requests"] == []
