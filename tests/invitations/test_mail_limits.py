"""Daily limits on invitations of organizations, hierarchies and people."""

from typing import Any
from uuid import UUID

import pytest
from limits import RateLimitItemPerDay

from backend.client import ApiProblem
from backend.core.db import new_id
from backend.limits import rate_limits
from tests.conftest import Actor, World

pytestmark = pytest.mark.usefixtures("limits")


async def invite(admin: Actor, org: UUID, email: str = "") -> Any:
    body = {"email": email or f"s{new_id().hex}@example.com", "role": "viewer"}
    return await admin.call("POST", f"/orgs/{org}/invitations", json=body)


async def invite_briefly(admin: Actor, org: UUID, email: str) -> None:
    """Invite an address and revoke the invitation."""
    made = await invite(admin, org, email)
    await admin.call("DELETE", f"/orgs/{org}/invitations/{made['id']}")


async def refusal(admin: Actor, org: UUID, email: str = "") -> str:
    with pytest.raises(ApiProblem) as refused:
        await invite(admin, org, email)
    assert refused.value.status == 429
    assert refused.value.retry_after
    assert f"Retry in {int(refused.value.retry_after)} s, at 20" in refused.value.detail
    return str(refused.value.detail)


async def test_invitations_below_one_root_are_limited_per_day(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "INVITATIONS_BELOW", RateLimitItemPerDay(3))
    root = await world.organization()
    units = [await world.organization(f"Unit {number}", root) for number in range(2)]
    for org in (root, *units):
        await invite(await world.person(org), org)
    assert "A root organization and those below it send at most 3 invitations a day together." in await refusal(
        await world.person(units[0]), units[0]
    )
    other = await world.organization()
    await invite(await world.person(other), other)


async def test_invitations_of_a_person_with_many_roots_are_limited_per_day(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "INVITATIONS_OF_PERSON", RateLimitItemPerDay(3))
    person = await world.person(await world.organization())
    roots = [UUID((await person.call("POST", "/orgs", json={"name": f"Root {n}"}))["id"]) for n in range(4)]
    for root in roots[:3]:
        await invite(person, root)
    assert "A person sends at most 3 invitations a day." in await refusal(person, roots[3])
    await invite(await world.person(roots[3]), roots[3])


async def test_invitation_via_api_key_counts_for_the_keys_creator(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "INVITATIONS_OF_PERSON", RateLimitItemPerDay(1))
    acme = await world.organization()
    admin = await world.person(acme)
    body = {"email": f"s{new_id().hex}@example.com", "role": "viewer"}
    key = await world.key(acme, created_by=admin.user_id)
    await world.client.call("POST", f"/orgs/{acme}/invitations", json=body, headers=key)
    assert "A person sends" in await refusal(admin, acme)


async def test_invitation_refused_by_one_limit_counts_for_no_other(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "INVITATIONS_BELOW", RateLimitItemPerDay(2))
    monkeypatch.setattr(rate_limits, "INVITATIONS_TO_ADDRESS", RateLimitItemPerDay(1))
    acme, guest = await world.organization(), f"s{new_id().hex}@example.com"
    admin = await world.person(acme)
    made = await invite(admin, acme, guest)
    await admin.call("DELETE", f"/orgs/{acme}/invitations/{made['id']}")
    for _ in range(2):
        assert "An organization invites one address at most 1 times a day." in await refusal(admin, acme, guest)
    await invite(admin, acme)


async def test_invitations_of_a_person_leave_an_address_to_others(world: World) -> None:
    guest, person = f"s{new_id().hex}@example.com", await world.person(await world.organization())
    roots = [UUID((await person.call("POST", "/orgs", json={"name": f"Root {n}"}))["id"]) for n in range(7)]
    for root in roots[:5]:
        await invite_briefly(person, root, guest)
    for root in roots[5:]:
        assert "A person invites one address at most 5 times a day." in await refusal(person, root, guest)
    key = await world.key(roots[5], created_by=person.user_id)
    body = {"email": guest, "role": "viewer"}
    with pytest.raises(ApiProblem, match="A person invites one address"):
        await world.client.call("POST", f"/orgs/{roots[5]}/invitations", json=body, headers=key)
    acme = await world.organization()
    await invite(await world.person(acme), acme, guest)


async def test_invitations_below_one_root_leave_an_address_to_others(world: World) -> None:
    guest, root = f"s{new_id().hex}@example.com", await world.organization()
    units = [await world.organization(f"Unit {number}", root) for number in range(6)]
    for unit in units[:5]:
        await invite_briefly(await world.person(unit), unit, guest)
    assert "A root organization and those below it invite one address at most 5 times a day together." in await refusal(
        await world.person(units[5]), units[5], guest
    )
    other = await world.organization()
    await invite(await world.person(other), other, guest)


async def test_invitations_to_one_address_are_limited_over_all_tenants(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "INVITATIONS_TO_ADDRESS_IN_ALL", RateLimitItemPerDay(2))
    guest = f"s{new_id().hex}@example.com"
    tenants = [await world.organization() for _ in range(3)]
    for tenant in tenants[:2]:
        await invite(await world.person(tenant), tenant, guest)
    assert "An address gets at most 2 invitations a day." in await refusal(
        await world.person(tenants[2]), tenants[2], guest
    )


async def test_invitation_limit_of_an_organization_is_named(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "INVITATIONS_OF_ORGANIZATION", RateLimitItemPerDay(1))
    acme = await world.organization()
    admin = await world.person(acme)
    await invite(admin, acme)
    assert "An organization sends at most 1 invitations a day." in await refusal(admin, acme)


def test_invitation_limits_leave_capacity_to_others() -> None:
    assert 2 * rate_limits.INVITATIONS_OF_PERSON.amount <= rate_limits.INVITATIONS_BELOW.amount
    assert 4 * rate_limits.INVITATIONS_OF_ORGANIZATION.amount <= rate_limits.INVITATIONS_BELOW.amount
    for one in (rate_limits.INVITATIONS_TO_ADDRESS_BY_PERSON, rate_limits.INVITATIONS_TO_ADDRESS_BELOW):
        assert 4 * one.amount <= rate_limits.INVITATIONS_TO_ADDRESS_IN_ALL.amount
