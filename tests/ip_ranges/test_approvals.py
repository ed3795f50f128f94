"""Requests that wait for a second person: the approver's address counts, not the requester's."""

from typing import Any

import pytest

from tests.approvals.second_person import WHY, asking, path_of, waiting
from tests.conftest import World
from tests.factors.steps import problem_of
from tests.ip_ranges.steps import HOME, OFFICE, at, restrict


@pytest.mark.long
async def test_approval_checks_only_the_address_of_the_approver(world: World, api: Any) -> None:
    firm, second = await asking(world, "token.pause")
    asset = await firm.asset()
    approval = await waiting(firm, await firm.post(f"/assets/{asset['id']}/pause", {"reason": WHY}))
    await restrict(firm.id, OFFICE, "127.0.0.1")
    path = path_of(firm, approval)
    assert (await problem_of(at(api, HOME, second).call("POST", f"{path}/approve"))).rule == "ip_address"
    await restrict(firm.id, OFFICE)
    seen = await at(api, OFFICE, second).call("GET", path)
    assert (seen["can_decide"], seen["obstacle"]) == (True, None)
    await at(api, OFFICE, second).call("POST", f"{path}/approve")
    await restrict(firm.id)
    assert (await firm.settle(approval["request_id"]))["status"] == "succeeded"
