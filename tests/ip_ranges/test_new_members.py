"""Memberships and invitations are accepted only from addresses that the organization allows."""

from typing import Any

from tests.conftest import World
from tests.factors.steps import problem_of
from tests.invitations.test_invitations import PASSWORD, invited
from tests.ip_ranges.steps import HOME, OFFICE, at, client_at, restrict
from tests.members.test_consent import asked, linked


async def test_membership_is_accepted_only_from_an_allowed_address(world: World, api: Any) -> None:
    acme, other = await world.organization("Acme"), await world.organization("Other")
    admin, person = await world.person(acme), await world.person(other)
    body = {"wallet_address": await linked(world, person), "role": "viewer"}
    await admin.call("POST", f"/orgs/{acme}/members", json=body)
    [waiting] = await asked(person)
    await restrict(acme, OFFICE)
    path = f"/memberships/{waiting['id']}/accept"
    refused = await problem_of(at(api, HOME, person).call("POST", path))
    assert (refused.status, refused.rule) == (403, "ip_address")
    assert (await at(api, OFFICE, person).call("POST", path))["status"] == "active"


async def test_invitation_is_accepted_only_from_an_allowed_address(world: World, api: Any) -> None:
    acme = await world.organization("Acme")
    _, token = await invited(world, await world.person(acme), acme, "new@example.com")
    await restrict(acme, OFFICE)
    body = {"token": token, "display_name": "New Person", "password": PASSWORD}
    refused = await problem_of(client_at(api, HOME).call("POST", "/invitations/accept", json=body))
    assert (refused.status, refused.rule) == (403, "ip_address")
    joined = await client_at(api, OFFICE).call("POST", "/invitations/accept", json=body)
    assert joined["organization_id"] == str(acme)
