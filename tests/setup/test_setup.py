"""The steps from an empty organization to its first market."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.setup import service as setup
from backend.setup.schemas import SetupStep
from tests.conftest import World
from tests.support.firm import SEPOLIA, Firm, refused
from tests.support.issuance import Issuance

COUNTS = st.fixed_dictionaries({step.value: st.tuples(st.integers(-1, 3), st.integers(0, 3)) for step in SetupStep})


@given(COUNTS)
def test_undone_step_is_blocked_by_exactly_the_undone_steps_it_needs(counts: dict[str, tuple[int, int]]) -> None:
    found = {status.step: status for status in setup.steps(counts)}
    assert list(found) == list(SetupStep)
    for step, status in found.items():
        assert status.is_done == (counts[step][0] > 0)
        undone = [need for need in setup.NEEDS[step] if counts[need][0] <= 0]
        assert status.blocked_by == ([] if status.is_done else undone)
        assert status.count >= 0


def test_steps_come_after_everything_they_need() -> None:
    order = list(setup.NEEDS)
    assert order == list(SetupStep)
    for step, needs in setup.NEEDS.items():
        assert all(order.index(need) < order.index(step) for need in needs), step


async def test_setup_follows_what_an_organization_does(world: World) -> None:
    firm = await Issuance.found(world)
    assert await undone(firm) == [step.value for step in SetupStep]
    steps = {step["step"]: step for step in (await firm.get("/setup"))["steps"]}
    assert steps["market"]["blocked_by"] == ["asset"]
    assert steps["issuer"]["blocked_by"] == ["chain", "treasury"]
    await firm.post("/invitations", {"email": "first@example.com", "role": "viewer"})
    party = {"organization_id": str(firm.id), "name": "Alder", "kind": "person", "country": "SWE"}
    await firm.admin.call("POST", "/identity/parties", json=party)
    steps = {step["step"]: step for step in (await firm.get("/setup"))["steps"]}
    assert (steps["party"]["is_done"], steps["party"]["in_progress"]) == (False, 1)
    assert steps["invitation"] == {
        "step": "invitation",
        "is_done": True,
        "count": 1,
        "in_progress": 0,
        "blocked_by": [],
    }
    below = await firm.post("/sub-orgs", {"name": "Below"})
    theirs = await firm.admin.call("GET", f"/orgs/{below['id']}/setup")
    assert {step["step"] for step in theirs["steps"] if step["is_done"]} == set(), "the team above is another team"


@pytest.mark.long
async def test_setup_is_complete_after_the_first_market(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    assert {"chain", "treasury", "issuer"}.isdisjoint(await undone(firm))
    asset = await firm.asset()
    await firm.trader()
    await firm.market(asset)
    await firm.post("/invitations", {"email": "first@example.com", "role": "viewer"})
    assert await firm.get("/setup") | {"steps": []} == {"steps": [], "is_complete": True}


async def test_setup_of_another_tenant_is_refused(world: World) -> None:
    firm, stranger = await Firm.found(world), await Firm.found(world)
    await refused(stranger.admin, "GET", f"{firm.base}/setup", 403)


async def undone(firm: Any) -> list[str]:
    return [step["step"] for step in (await firm.get("/setup"))["steps"] if not step["is_done"]]
