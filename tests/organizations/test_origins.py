"""New roots of one origin count together: accounts cost nothing, and each of them can found roots."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from eth_account import Account
from limits import RateLimitItemPerDay
from sqlmodel import col

from backend.auth import operator_paid
from backend.client import ApiProblem
from backend.core import db
from backend.core.errors import TooManyRequests
from backend.core.settings import settings
from backend.limits import rate_limits
from backend.models import OrganizationRow, UserRow
from tests.approvals.test_appointments import signed_in
from tests.conftest import Actor, World
from tests.invitations.test_invitations import accept, invited
from tests.members.test_consent import linked

OLD = timedelta(days=30)


async def puppet(world: World, admin: Actor, organization: UUID) -> Actor:
    """Add a new key pair to an organization, and return the account that signs in with it."""
    account = Account.create()
    await admin.call("POST", f"/orgs/{organization}/members", json={"wallet_address": account.address})
    return await signed_in(world, account)


async def found(person: Actor) -> UUID:
    """Found a root."""
    return UUID((await person.call("POST", "/orgs", json={"name": "Root"}))["id"])


async def refusal(person: Actor, method: str, path: str, **options: Any) -> ApiProblem:
    with pytest.raises(ApiProblem) as refused:
        await person.call(method, path, **options)
    return refused.value


async def tenant(world: World) -> tuple[Actor, UUID]:
    """Return the admin of a tenant's root that is not the operator's organization."""
    await world.operator()
    root = await world.organization("Tenant")
    return await world.person(root), root


async def age(root: UUID) -> None:
    """Make a root 30 days older."""
    async with db.worker() as session:
        (await session.get_one(OrganizationRow, root)).created_at -= OLD


async def origin(root: UUID) -> UUID | None:
    async with db.worker() as session:
        return (await session.get_one(OrganizationRow, root)).origin_id


async def test_accounts_of_one_origin_found_ten_roots_a_day_together(world: World, limits: None) -> None:
    admin, root = await tenant(world)
    first, second = [await puppet(world, admin, root) for _ in range(2)]
    for _ in range(8):
        await found(first)
    third = await puppet(world, first, await found(first))
    fourth = await puppet(world, third, await found(third))
    for person in (first, second, third, fourth):
        refused = await refusal(person, "POST", "/orgs", json={"name": "Root"})
        assert refused.status == 429
        assert "found at most 10 organizations a day together" in refused.detail
    await found(await puppet(world, *await tenant(world)))


async def test_account_made_by_an_invitation_has_the_origin_of_the_inviting_root(world: World) -> None:
    admin, root = await tenant(world)
    unit = await world.organization("Unit", root)
    email = f"s{db.new_id().hex}@example.com"
    _, token = await invited(world, admin, unit, email, "viewer")
    await accept(world, token)
    async with db.worker() as session:
        query = sa.select(col(UserRow.origin_id)).where(col(UserRow.email) == email)
        assert await session.scalar(query) == root


async def test_origin_of_a_new_root_passes_to_accounts_and_roots_until_it_is_30_days_old(world: World) -> None:
    admin, root = await tenant(world)
    first = await puppet(world, admin, root)
    made = await found(first)
    second = await puppet(world, first, made)
    assert [await origin(made), await origin(await found(second))] == [root, root]
    await age(made)
    late = await puppet(world, first, made)
    assert [await origin(await found(late)), await origin(await found(second))] == [made, root]


async def test_account_keeps_its_origin_when_another_organization_adds_its_person(world: World) -> None:
    admin, root = await tenant(world)
    person, (other, elsewhere) = await puppet(world, admin, root), await tenant(world)
    for body in ({"user_id": str(person.user_id)}, {"wallet_address": await linked(world, admin)}):
        await other.call("POST", f"/orgs/{elsewhere}/members", json=body)
    assert [await origin(await found(person)), await origin(await found(admin))] == [root, admin.user_id]


async def test_person_counts_for_the_organization_that_they_join_first(world: World) -> None:
    tenants = [await tenant(world), await tenant(world)]
    (_, hostile), (_, root) = tenants
    account = Account.create()
    for admin, organization in tenants:
        await admin.call("POST", f"/orgs/{organization}/members", json={"wallet_address": account.address})
    person = await signed_in(world, account)
    offers = (await person.call("GET", "/memberships/pending"))["memberships"]
    ids = {offer["organization_id"]: offer["id"] for offer in offers}
    origins = []
    for organization in (root, hostile):
        await person.call("POST", f"/memberships/{ids[str(organization)]}/accept")
        async with db.worker() as session:
            origins.append(await session.scalar(sa.select(UserRow.origin_id).where(col(UserRow.id) == person.user_id)))
    assert origins == [root, root]


async def test_root_founded_by_an_operators_admin_has_no_origin(world: World) -> None:
    operator = await world.person(await world.operator())
    made = await found(operator)
    assert await origin(made) is None
    tenants = await puppet(world, await world.person(made), made)
    assert await origin(await found(tenants)) == made


async def test_new_roots_of_one_origin_leave_an_address_to_others(world: World, limits: None) -> None:
    admin, root = await tenant(world)
    guest = f"s{db.new_id().hex}@example.com"
    roots = [(person, await found(person)) for person in [await puppet(world, admin, root) for _ in range(3)]]
    for person, own in (*roots, *roots[:2]):
        await briefly(person, own, guest)
    path, body = f"/orgs/{roots[2][1]}/invitations", {"email": guest, "role": "viewer"}
    refused = await refusal(roots[2][0], "POST", path, json=body)
    assert refused.status == 429
    assert "invite one address at most 5 times a day together" in refused.detail
    for person, own in ((admin, root), await tenant(world)):
        await briefly(person, own, guest)
    await age(roots[2][1])
    await briefly(*roots[2], guest)


async def briefly(person: Actor, organization: UUID, email: str) -> None:
    """Invite an address and revoke the invitation."""
    path = f"/orgs/{organization}/invitations"
    made = await person.call("POST", path, json={"email": email, "role": "viewer"})
    await person.call("DELETE", f"{path}/{made['id']}")


async def test_new_roots_of_one_origin_send_the_invitations_of_one_root(
    world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "INVITATIONS_BELOW", RateLimitItemPerDay(2))
    admin, root = await tenant(world)
    people = [await puppet(world, admin, root) for _ in range(3)]
    roots = [await found(person) for person in people]
    for person, own in zip(people[:2], roots[:2], strict=True):
        await briefly(person, own, f"s{db.new_id().hex}@example.com")
    body = {"email": f"s{db.new_id().hex}@example.com", "role": "viewer"}
    assert (await refusal(people[2], "POST", f"/orgs/{roots[2]}/invitations", json=body)).status == 429
    await briefly(admin, root, body["email"])


async def test_new_roots_of_one_origin_spend_a_quarter_of_the_operators_budget(world: World, limits: None) -> None:
    admin, root = await tenant(world)
    roots = [await found(await puppet(world, admin, root)) for _ in range(4)]
    quarter = rate_limits.OPERATOR_PAID_TRANSACTIONS_OF_NEW.amount // 4
    other = await found(await puppet(world, *await tenant(world)))
    async with db.worker() as session:
        await operator_paid.count(session, roots[0], quarter // 2)
        await operator_paid.count(session, roots[1], quarter // 2)
        for own in roots:
            with pytest.raises(TooManyRequests):
                await operator_paid.count(session, own, 1)
        for own in (root, other):
            await operator_paid.count(session, own, quarter // 2)


async def test_only_operators_admins_found_organizations_where_the_operator_says_so(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin, root = await tenant(world)
    monkeypatch.setattr(settings(), "founders", "operator")
    for person in (admin, await puppet(world, admin, root)):
        for query in ({}, {"dry_run": "true"}):
            refused = await refusal(person, "POST", "/orgs", json={"name": "Root"}, params=query)
            assert refused.status == 403
            assert "The operator of this installation founds organizations" in refused.detail
    await admin.call("POST", f"/orgs/{root}/sub-orgs", json={"name": "Unit"})
    await found(await world.person(await world.operator()))
