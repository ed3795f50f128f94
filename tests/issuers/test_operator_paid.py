"""Every operator-paid transaction of a tenant is counted before it is signed."""

from datetime import timedelta
from uuid import UUID

import pytest
import sqlalchemy as sa
from limits import RateLimitItemPerDay
from sqlmodel import col

from backend.auth import operator_paid
from backend.auth.scopes import Scope
from backend.core import db
from backend.core.errors import TooManyRequests
from backend.issuers import lineage
from backend.limits import rate_limits
from backend.models import MemberRow, OrganizationRow, RequestRow, TransactionRow
from backend.organizations.rules import MAX_DEPTH
from backend.requests.runs import Run
from backend.requests.schemas import RequestStatus
from backend.users.schemas import Role
from tests.conftest import Actor, World
from tests.issuers.test_issuer import key_of, parent_on, place
from tests.support.firm import HYPEREVM, SEPOLIA
from tests.support.issuance import Issuance, asset_body

DEPTH = 3
"""Organizations above the one that deploys."""


async def deep(world: World) -> Issuance:
    """An organization below others, none of which are on a chain."""
    above = await world.organization("Top")
    for number in range(1, DEPTH):
        above = await world.organization(f"Level {number}", above)
    firm = await Issuance.found(world, "Deep", above)
    assert isinstance(firm, Issuance)
    for eid in (SEPOLIA, HYPEREVM):
        await firm.enable(eid)
    await firm.post("/wallets", {"label": "Treasury"})
    return firm


def allow(monkeypatch: pytest.MonkeyPatch, transactions: int) -> None:
    """Let the operator pay for a number of transactions of an organization per day."""
    monkeypatch.setattr(rate_limits, "OPERATOR_PAID_TRANSACTIONS", RateLimitItemPerDay(transactions))


async def asked(organization: UUID) -> list[str]:
    """Return the kinds of an organization's requests."""
    async with db.worker() as session:
        query = sa.select(col(RequestRow.kind)).where(col(RequestRow.organization_id) == organization)
        return list((await session.scalars(query)).all())


async def paid(organization: UUID) -> int:
    """Return how many transactions were made for an organization's place on chains."""
    async with db.worker() as session:
        mine = sa.select(sa.func.count()).where(
            col(TransactionRow.organization_id) == organization, col(TransactionRow.label) == "set parent"
        )
        return int(await session.scalar(mine) or 0)


async def founded(person: Actor, name: str) -> UUID:
    """Found a root as a person and return its id."""
    return UUID((await person.call("POST", "/orgs", json={"name": name}))["id"])


async def unit_of(person: Actor, parent: UUID) -> UUID:
    """Create an organization below another one and return its id."""
    return UUID((await person.call("POST", f"/orgs/{parent}/sub-orgs", json={"name": "Unit"}))["id"])


async def new_root(world: World) -> UUID:
    """Return a new root whose founder has an origin of their own."""
    await world.operator()
    return await founded(await world.person(await world.organization("Employer")), "Root")


async def test_asset_below_more_organizations_than_the_limit_is_refused(
    world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await deep(world)
    allow(monkeypatch, DEPTH - 1)
    await firm.refused("POST", "/assets", 429, json=asset_body(SEPOLIA))
    assert await asked(firm.id) == []
    assert await paid(firm.id) == 0


@pytest.mark.long
async def test_transactions_of_assets_registrations_and_bridges_count_together(
    world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await deep(world)
    allow(monkeypatch, DEPTH)
    asset = await firm.asset(SEPOLIA)
    assert await paid(firm.id) == DEPTH
    other = await firm.post("/assets", asset_body(SEPOLIA))
    await firm.succeed(other["requestId"])
    assert await paid(firm.id) == DEPTH, "the operator pays nothing for it"
    await firm.refused("POST", "/issuer/register", 429, json={"name": "Deep"}, headers=firm.key)
    body = {"destination_chain_eid": HYPEREVM, "amount": "0"}
    await firm.refused("POST", f"/assets/{asset['id']}/bridge", 429, json=body)
    market = await firm.market_body(HYPEREVM)
    await firm.refused("POST", f"/assets/{asset['id']}/markets", 429, json=market)
    assert await paid(firm.id) == DEPTH


@pytest.mark.long
async def test_transactions_counted_by_a_running_request_are_not_counted_again(
    world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await deep(world)
    allow(monkeypatch, DEPTH)
    under_way = RequestRow(
        organization_id=firm.id,
        kind="asset.deploy",
        title="Deploy",
        subject_type="asset",
        subject_id=firm.id,
        scope=Scope.ASSETS_WRITE,
        arguments=lineage.noted({SEPOLIA: DEPTH}),
    )
    async with db.worker() as session:
        await operator_paid.count(session, firm.id, DEPTH)
        session.add(under_way)
    await firm.post("/assets", asset_body(SEPOLIA) | {"symbol": "ONE"})
    async with db.worker() as session:
        (await session.get_one(RequestRow, under_way.id)).status = RequestStatus.FAILED
    await firm.refused("POST", "/assets", 429, json=asset_body(HYPEREVM) | {"symbol": "TWO"})


@pytest.mark.long
async def test_hierarchy_that_grew_after_acceptance_is_counted_before_signing(
    world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await deep(world)
    allow(monkeypatch, DEPTH)
    run = Run(firm.id, db.new_id(), firm.id, lineage.noted({SEPOLIA: DEPTH}), 1)
    async with db.worker() as session:
        await operator_paid.count(session, firm.id, DEPTH)
        root = await session.scalar(
            sa.text("select id from signum_path(:id) order by height desc limit 1"), {"id": firm.id}
        )
    await place(root, await world.organization("Above"))
    with pytest.raises(TooManyRequests):
        await lineage.write(run, SEPOLIA, firm.id)
    assert await paid(firm.id) == 0
    assert await parent_on(SEPOLIA, firm.id) == 0


async def test_new_hierarchies_share_a_daily_operator_budget(
    world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "OPERATOR_PAID_TRANSACTIONS_OF_NEW", RateLimitItemPerDay(5))
    first, second = await new_root(world), await new_root(world)
    async with db.worker() as session:
        await operator_paid.count(session, first, 3)
        with pytest.raises(TooManyRequests):
            await operator_paid.count(session, second, 3)
        await operator_paid.count(session, second, 2)


async def test_new_hierarchy_leaves_most_of_the_budget_to_others(
    world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "OPERATOR_PAID_TRANSACTIONS_OF_ORIGIN", RateLimitItemPerDay(2))
    first, second = await new_root(world), await new_root(world)
    unit = await world.organization("Unit", first)
    async with db.worker() as session:
        await operator_paid.count(session, first, 1)
        await operator_paid.count(session, unit, 1)
        for organization in (first, unit):
            with pytest.raises(TooManyRequests):
                await operator_paid.count(session, organization, 1)
        await operator_paid.count(session, second, 2)


async def test_established_hierarchy_is_outside_the_shared_budget(
    world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("OPERATOR_PAID_TRANSACTIONS_OF_NEW", "OPERATOR_PAID_TRANSACTIONS_OF_ORIGIN"):
        monkeypatch.setattr(rate_limits, limit, RateLimitItemPerDay(1))
    old = await new_root(world)
    async with db.worker() as session:
        (await session.get_one(OrganizationRow, old)).created_at -= timedelta(days=30)
    unit = await world.organization("Unit", old)
    async with db.worker() as session:
        await operator_paid.count(session, old, 7)
        await operator_paid.count(session, unit, 7)


async def test_founder_has_one_operator_budget_for_all_new_hierarchies(
    world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "OPERATOR_PAID_TRANSACTIONS_OF_ORIGIN", RateLimitItemPerDay(2))
    await world.operator()
    founder = await world.person(await world.organization("Employer"))
    first, second = await founded(founder, "First"), await founded(founder, "Second")
    unit, other = await unit_of(founder, second), await world.organization("Other")
    async with db.worker() as session:
        await operator_paid.count(session, first, 1)
        await operator_paid.count(session, unit, 1)
        for organization in (first, second, unit):
            with pytest.raises(TooManyRequests):
                await operator_paid.count(session, organization, 1)
        await operator_paid.count(session, other, 2)


async def test_moved_organization_counts_for_its_new_root_only(
    world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("OPERATOR_PAID_TRANSACTIONS_OF_ORIGIN", "OPERATOR_PAID_TRANSACTIONS_IN_ALL"):
        monkeypatch.setattr(rate_limits, limit, RateLimitItemPerDay(2))
    await world.operator()
    founder = await world.person(await world.organization("Employer"))
    top, target = await founded(founder, "First"), await world.organization("Target")
    async with db.worker() as session:
        session.add(MemberRow(organization_id=target, user_id=founder.user_id, role=Role.ADMIN))
    moved = await unit_of(founder, top)
    await founder.call("POST", f"/orgs/{top}/sub-orgs/{moved}/move", json={"newParentId": str(target)})
    below = await unit_of(founder, moved)
    async with db.worker() as session:
        await operator_paid.count(session, top, 2)
        for organization in (moved, below):
            await operator_paid.count(session, organization, 1)
        with pytest.raises(TooManyRequests):
            await operator_paid.count(session, target, 1)


async def test_key_of_a_founder_spends_the_founders_budget(
    world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "OPERATOR_PAID_TRANSACTIONS_OF_ORIGIN", RateLimitItemPerDay(2))
    await world.operator()
    founder = await world.person(await world.organization("Employer"))
    first, second = await founded(founder, "First"), await founded(founder, "Second")
    path, key = f"/orgs/{second}/sub-orgs", await world.key(second)
    unit = UUID((await world.client.call("POST", path, json={"name": "Unit"}, headers=key))["id"])
    async with db.worker() as session:
        await operator_paid.count(session, first, 2)
        with pytest.raises(TooManyRequests):
            await operator_paid.count(session, unit, 1)


async def test_retry_counts_its_transactions(world: World, limits: None, monkeypatch: pytest.MonkeyPatch) -> None:
    firm = await deep(world)
    allow(monkeypatch, DEPTH - 1)
    run = Run(firm.id, db.new_id(), firm.id, lineage.noted({SEPOLIA: DEPTH}), 2)
    with pytest.raises(TooManyRequests):
        await lineage.write(run, SEPOLIA, firm.id)
    assert await paid(firm.id) == 0


@pytest.mark.long
async def test_move_counts_every_organization_of_the_new_path(
    world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = await Issuance.found(world, "Root")
    target = top.id
    for number in range(DEPTH):
        target = await world.organization(f"Target {number}", target)
    unit = await Issuance.issuing(world, SEPOLIA, name="Unit", parent=top.id)
    allow(monkeypatch, DEPTH)
    await top.refused("POST", f"/sub-orgs/{unit.id}/move", 429, json={"newParentId": str(target)})
    assert await parent_on(SEPOLIA, unit.id) == key_of(top.id)


def test_limits_allow_the_deepest_organization_to_deploy() -> None:
    assert rate_limits.OPERATOR_PAID_TRANSACTIONS.amount >= 3 * MAX_DEPTH
    assert rate_limits.OPERATOR_PAID_TRANSACTIONS_OF_ORIGIN.amount >= rate_limits.OPERATOR_PAID_TRANSACTIONS.amount
    in_all = rate_limits.OPERATOR_PAID_TRANSACTIONS_OF_NEW.amount
    assert 4 * rate_limits.OPERATOR_PAID_TRANSACTIONS_OF_ORIGIN.amount <= in_all
    assert rate_limits.OPERATOR_PAID_TRANSACTIONS_IN_ALL.amount >= rate_limits.OPERATOR_PAID_TRANSACTIONS.amount
