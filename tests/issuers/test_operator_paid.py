"""Every transaction that the operator pays for a tenant is counted, before it is signed."""

from uuid import UUID

import pytest
import sqlalchemy as sa
from limits import RateLimitItemPerDay
from sqlmodel import col

from backend import db
from backend.auth import operator_paid, rate_limit
from backend.auth.scopes import Scope
from backend.errors import TooManyRequests
from backend.issuers import lineage
from backend.models import OrganizationRow, RequestRow, TransactionRow
from backend.organizations.rules import MAX_DEPTH
from backend.requests.schemas import RequestStatus
from backend.workflows import Run
from tests.conftest import World
from tests.firm import HYPEREVM, SEPOLIA
from tests.issuance import Issuance, asset_body
from tests.issuers.test_issuer import key_of, parent_on, place

DEPTH = 3
"""Organizations above the one that deploys."""


async def deep(world: World) -> Issuance:
    """An organization below others, of which no chain knows anything."""
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
    """Let the operator pay for some transactions of an organization a day."""
    monkeypatch.setattr(rate_limit, "OPERATOR_PAID_TRANSACTIONS", RateLimitItemPerDay(transactions))


async def asked(organization: UUID) -> list[str]:
    """The kinds of an organization's requests."""
    async with db.worker() as session:
        query = sa.select(col(RequestRow.kind)).where(col(RequestRow.organization_id) == organization)
        return list((await session.scalars(query)).all())


async def paid(organization: UUID) -> int:
    """How many transactions were made for an organization's place on chains."""
    async with db.worker() as session:
        mine = sa.select(sa.func.count()).where(
            col(TransactionRow.organization_id) == organization, col(TransactionRow.label) == "set parent"
        )
        return int(await session.scalar(mine) or 0)


async def test_asset_below_more_organizations_than_the_limit_is_refused(
    world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await deep(world)
    allow(monkeypatch, DEPTH - 1)
    await firm.refused("POST", "/assets", 429, json=asset_body(SEPOLIA))
    assert await asked(firm.id) == []
    assert await paid(firm.id) == 0


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


async def test_transactions_that_a_request_under_way_has_counted_are_not_counted_again(
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


async def test_hierarchy_that_grew_after_acceptance_is_counted_before_it_is_signed(
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


async def test_new_hierarchies_share_what_the_operator_pays_a_day(
    world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limit, "OPERATOR_PAID_TRANSACTIONS_OF_NEW", RateLimitItemPerDay(5))
    first, second = await world.organization("First"), await world.organization("Second")
    async with db.worker() as session:
        await operator_paid.count(session, first, 3)
        with pytest.raises(TooManyRequests):
            await operator_paid.count(session, second, 3)
        await operator_paid.count(session, second, 2)


async def test_hierarchy_that_is_not_new_shares_with_nobody(
    world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limit, "OPERATOR_PAID_TRANSACTIONS_OF_NEW", RateLimitItemPerDay(1))
    month_ago = int((db.now() - operator_paid.NEW).timestamp() * 1_000)
    old = UUID(int=(month_ago << 80) | (db.new_id().int & ((1 << 80) - 1)))
    async with db.worker() as session:
        session.add(OrganizationRow(id=old, name="Old"))
    unit = await world.organization("Unit", old)
    async with db.worker() as session:
        await operator_paid.count(session, old, 7)
        await operator_paid.count(session, unit, 7)


async def test_retry_counts_what_it_signs(world: World, limits: None, monkeypatch: pytest.MonkeyPatch) -> None:
    firm = await deep(world)
    allow(monkeypatch, DEPTH - 1)
    run = Run(firm.id, db.new_id(), firm.id, lineage.noted({SEPOLIA: DEPTH}), 2)
    with pytest.raises(TooManyRequests):
        await lineage.write(run, SEPOLIA, firm.id)
    assert await paid(firm.id) == 0


async def test_move_counts_the_place_of_every_organization_above(
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


def test_limits_let_the_deepest_organization_deploy() -> None:
    assert rate_limit.OPERATOR_PAID_TRANSACTIONS.amount >= 3 * MAX_DEPTH
    assert rate_limit.OPERATOR_PAID_TRANSACTIONS_IN_ALL.amount >= rate_limit.OPERATOR_PAID_TRANSACTIONS.amount
