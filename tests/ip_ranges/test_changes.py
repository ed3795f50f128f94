"""Changing an organization's allowed IP ranges needs a person, and a second one if actions need two."""

from typing import Any

import httpx
import pytest

from backend.auth.scopes import Scope
from backend.core.settings import settings
from tests.approvals.second_person import approve, waiting
from tests.conftest import World
from tests.factors.steps import problem_of
from tests.ip_ranges.steps import HOME, OFFICE, client_at, restrict, transport_at
from tests.oauth.application import register
from tests.support.firm import Firm

HERE = "127.0.0.1"
"""The address of the tests."""


async def guarded(world: World) -> tuple[Firm, Any]:
    """A firm where pausing a token needs a second person, and its second admin."""
    firm = await Firm.found(world)
    await firm.patch("", {"approvals": ["token.pause"]})
    return firm, await world.person(firm.id)


async def test_ranges_changed_by_a_key_or_an_application_are_refused(world: World, api: Any) -> None:
    acme = await world.organization()
    person = await world.person(acme)
    key = await world.key(acme, Scope.ORGS_WRITE, created_by=person.user_id)
    async with httpx.AsyncClient(transport=transport_at(api, OFFICE), base_url=settings().origin) as http:
        application = await register(world, http, acme, scopes=["openid", "orgs:write"])
        token = (await application.sign_in(person, "openid orgs:write"))["access_token"]
    office = client_at(api, OFFICE)
    for ranges in ([OFFICE], []):
        await restrict(acme, *([] if ranges else [OFFICE]))
        for credential in ({"headers": key}, {"token": token}):
            body = {"allowed_ip_ranges": ranges}
            for path, sent in (("", body), ("/approvals", body | {"approvals": []})):
                call = office.call("POST" if path else "PATCH", f"/orgs/{acme}{path}", json=sent, **credential)
                assert (await problem_of(call)).status == 403
    same = await office.call("PATCH", f"/orgs/{acme}", json={"allowed_ip_ranges": [OFFICE]}, headers=key)
    assert same["allowed_ip_ranges"] == [OFFICE], "nothing changes"


@pytest.mark.parametrize(
    ("before", "after"),
    [([], [HERE]), ([HERE], [HERE, "192.0.2.0/24"]), ([HERE], [])],
    ids=["narrowed", "widened", "cleared"],
)
async def test_ranges_under_an_approval_policy_change_only_with_a_second_person(
    world: World, before: list[str], after: list[str]
) -> None:
    firm, second = await guarded(world)
    await restrict(firm.id, *before)
    problem = await firm.refused("PATCH", "", 409, json={"allowed_ip_ranges": after})
    assert f"POST /v1/orgs/{firm.id}/approvals" in problem.detail
    body = {"approvals": ["token.pause"], "allowed_ip_ranges": after}
    plan = await firm.post("/approvals", body, params={"dry_run": "true"})
    assert plan["impact"]["allowed_ip_ranges"] == {"before": before, "after": after}
    approval = await waiting(firm, await firm.post("/approvals", body))
    assert (await firm.get(""))["allowed_ip_ranges"] == before
    seen = await second.call("GET", f"{firm.base}/approvals/{approval['id']}")
    assert seen["plan"]["impact"] == plan["impact"]
    assert (await approve(firm, second, approval))["status"] == "succeeded"
    answer = await firm.get("")
    assert (answer["allowed_ip_ranges"], answer["approvals"]) == (after, ["token.pause"])


async def test_ranges_above_an_organization_with_approvals_need_a_second_person(world: World) -> None:
    group = await Firm.found(world, "Group")
    await world.person(group.id)
    below = await Firm.found(world, "Below", group.id)
    await below.patch("", {"approvals": ["token.pause"]})
    await group.refused("PATCH", "", 409, json={"allowed_ip_ranges": [HERE]})


async def test_ranges_request_without_the_callers_address_is_refused(world: World) -> None:
    firm, _ = await guarded(world)
    body: dict[str, Any] = {"approvals": ["token.pause"], "allowed_ip_ranges": [HOME]}
    problem = await firm.refused("POST", "/approvals", 409, json=body)
    assert "you would lose access" in problem.detail
    await firm.refused("POST", "/approvals", 422, json=body | {"allowed_ip_ranges": [HERE, HERE]})
    await firm.refused("POST", "/approvals", 422, json=body | {"allowed_ip_ranges": None})
