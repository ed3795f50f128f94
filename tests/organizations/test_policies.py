"""Policies of an organization decide who can sign in and act there: a key alone changes none of them."""

from typing import Any
from uuid import UUID

import httpx
import pytest

from backend.auth.scopes import Scope
from tests.approvals.second_person import asking
from tests.conftest import World
from tests.factors.steps import problem_of, set_up
from tests.oauth.application import register
from tests.oauth.conftest import http  # noqa: F401  (a fixture)
from tests.organizations.test_move_protections import protect

POLICIES: list[dict[str, Any]] = [
    {"require_second_factor": True},
    {"approvals": ["token.mint"]},
    {"approver_wait_hours": 168},
    {"network": "mainnet"},
    {"member_requirements": {"kyc_required": True}},
]
LIFTED: list[dict[str, Any]] = [{"require_second_factor": False}, {"approvals": []}, {"approver_wait_hours": 0}]


async def credentials(world: World, http: httpx.AsyncClient, acme: UUID) -> list[dict[str, Any]]:  # noqa: F811
    """A key and an application's token, both with orgs:write and of the same admin."""
    person = await world.person(acme)
    await set_up(person)
    key = await world.key(acme, Scope.ORGS_WRITE, created_by=person.user_id)
    application = await register(world, http, acme, scopes=["openid", "orgs:write"])
    token = (await application.sign_in(person, "openid orgs:write"))["access_token"]
    return [{"headers": key}, {"token": token}]


@pytest.mark.parametrize("policy", [*POLICIES, *LIFTED], ids=str)
async def test_policy_changed_by_a_key_or_an_application_is_refused(
    world: World,
    http: httpx.AsyncClient,  # noqa: F811
    policy: dict[str, Any],
) -> None:
    acme = await world.organization()
    senders = await credentials(world, http, acme)
    if policy in LIFTED:
        await protect(acme, require_second_factor=True, approvals=["token.mint"], approver_wait_hours=48)
    for credential in senders:
        for params in ({}, {"dry_run": "true"}):
            change = world.client.call("PATCH", f"/orgs/{acme}", json=policy, params=params, **credential)
            problem = await problem_of(change)
            assert (problem.status, "A person has to change it" in problem.detail) == (403, True)


async def test_key_changes_other_fields_beside_unchanged_policies(world: World) -> None:
    acme = await world.organization()
    key = await world.key(acme, Scope.ORGS_WRITE)
    await protect(acme, approvals=["token.mint", "token.pause"])
    body = {
        "name": "Acme Two",
        "require_second_factor": False,
        "approvals": ["token.pause", "token.mint"],
        "approver_wait_hours": 24,
        "network": "testnet",
        "member_requirements": {"kyc_required": False, "seats": 0},
    }
    assert (await world.client.call("PATCH", f"/orgs/{acme}", json=body, headers=key))["name"] == "Acme Two"


async def test_second_factor_requirement_requested_by_a_key_is_refused(world: World) -> None:
    firm, _ = await asking(world, "token.pause")
    await set_up(firm.admin)
    for before in (False, True):
        await protect(firm.id, require_second_factor=before)
        body = {"approvals": ["token.pause"], "require_second_factor": not before}
        problem = await problem_of(world.client.call("POST", f"{firm.base}/approvals", json=body, headers=firm.key))
        assert (problem.status, "A person has to change it" in problem.detail) == (403, True)
