"""Bridge paths: paused and limited by the issuer on both tokens, and what is refused then."""

from typing import Any

import pytest

from backend.bridges import paths
from backend.chain.bindings import token
from tests.approvals.second_person import approve, waiting
from tests.bridges.delivery import bridged
from tests.conftest import World
from tests.support.firm import BASE, SEPOLIA
from tests.support.issuance import UNIT, Issuance, steps_of

pytestmark = pytest.mark.long

ENDS = {"source_chain_eid": SEPOLIA, "destination_chain_eid": BASE}
WHY = {"reason": "A verifier was broken into."}


async def on_two_chains(world: World, amount: int = 100 * UNIT) -> tuple[Issuance, Any]:
    """A firm with an asset on two chains."""
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    await firm.succeed((await bridged(firm, asset, BASE, amount))["requestId"])
    return firm, await firm.get(f"/assets/{asset['id']}")


async def control(firm: Issuance, asset: Any, verb: str, **body: Any) -> Any:
    """Request a control of the path and wait for it to finish."""
    accepted = await firm.post(f"/assets/{asset['id']}/{verb}", ENDS | WHY | body)
    return await firm.succeed(accepted["requestId"])


async def paths_of(firm: Issuance, asset: Any) -> list[Any]:
    return list((await firm.get(f"/assets/{asset['id']}/paths"))["paths"])


async def test_paused_path_refuses_bridges_both_ways_until_it_is_resumed(world: World) -> None:
    firm, asset = await on_two_chains(world)
    path = f"/assets/{asset['id']}"
    plan = await firm.post(f"{path}/pause-path?dry_run=true", ENDS | WHY)
    assert [(c["chain_eid"], c["field"], c["before"], c["after"]) for c in plan["impact"]["changes"]] == [
        (SEPOLIA, "path", "open", "paused"),
        (BASE, "path", "open", "paused"),
    ]
    request = await control(firm, asset, "pause-path")
    assert request["title"] == f"Pause the bridge path of {asset['symbol']} on Sepolia Devnet and Base Sepolia Devnet"
    assert list(steps_of(request)) == [f"path_paused_{SEPOLIA}", f"path_paused_{BASE}"]
    assert all(WHY["reason"] in step["detail"] for step in request["steps"])
    assert [(p["chain_eid"], p["is_paused"]) for p in await paths_of(firm, asset)] == [(SEPOLIA, True), (BASE, True)]
    for source, destination in ((SEPOLIA, BASE), (BASE, SEPOLIA)):
        body = {"source_chain_eid": source, "destination_chain_eid": destination, "amount": str(UNIT)}
        for params in ({}, {"dry_run": "true"}):
            problem = await firm.refused("POST", f"{path}/bridge", 409, json=body, params=params)
            assert "is paused. Resume it to let packets pass." in problem.detail
            resolution = problem.body["resolution"]
            assert (resolution["method"], resolution["path"]) == ("POST", f"{firm.base}{path}/unpause-path")
    again = await firm.refused("POST", f"{path}/pause-path", 409, json=ENDS | WHY)
    assert again.detail == "The path is already paused."

    await control(firm, asset, "unpause-path")
    await firm.succeed((await bridged(firm, asset, BASE, UNIT))["requestId"])


async def test_packet_arriving_on_a_paused_path_waits_and_is_delivered_later(world: World) -> None:
    firm, asset = await on_two_chains(world)
    there = next(d for d in asset["deployments"] if d["chain_eid"] == BASE)
    # Only the destination, as if the pause came while the packet was in transit.
    await firm.owner_call(token.set_path_paused(there["token_address"], SEPOLIA, True), BASE)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "check_open", _nothing)
        accepted = await bridged(firm, asset, BASE, UNIT)
        request = await firm.fail(accepted["requestId"])
    words = f"The bridge path to and from the chain with endpoint ID {SEPOLIA} is paused."
    assert request["problem"]["detail"] == words
    plan = await firm.post(f"/assets/{asset['id']}/unpause-path?dry_run=true", ENDS | WHY)
    assert [c["chain_eid"] for c in plan["impact"]["changes"]] == [BASE]
    await control(firm, asset, "unpause-path")
    assert (await firm.retry(accepted["requestId"]))["status"] == "succeeded"


async def _nothing(*_: Any) -> None:
    return None


async def test_limited_path_passes_its_amount_and_frees_it_over_the_window(world: World) -> None:
    firm, asset = await on_two_chains(world)
    path = f"/assets/{asset['id']}"
    request = await control(firm, asset, "limit-path", amount=str(50 * UNIT), window_seconds=3_600)
    assert f"Limit: 50 {asset['symbol']} in an hour." in request["steps"][0]["detail"]
    await firm.succeed((await bridged(firm, asset, BASE, 40 * UNIT))["requestId"])
    shown = await paths_of(firm, asset)
    assert [(p["limit"], p["window_seconds"]) for p in shown] == [(str(50 * UNIT), 3_600)] * 2
    assert all(10 * UNIT <= int(p["available"]) < 11 * UNIT for p in shown)
    body = {"destination_chain_eid": BASE, "amount": str(20 * UNIT)}
    problem = await firm.refused("POST", f"{path}/bridge", 409, json=body)
    assert "leaves room for" in problem.detail
    assert problem.body["resolution"]["path"].endswith("/limit-path")
    same = await firm.refused(
        "POST", f"{path}/limit-path", 409, json=ENDS | WHY | {"amount": str(50 * UNIT), "window_seconds": 3_600}
    )
    assert same.detail == "The path already has this limit."

    for unclear in ({}, {"amount": None}):
        problem = await firm.refused("POST", f"{path}/limit-path", 422, json=ENDS | WHY | unclear)
        assert list(problem.by_field()) == ["amount"]
    assert 'Send "0" to remove it' in problem.by_field()["amount"]
    assert [p["limit"] for p in await paths_of(firm, asset)] == [str(50 * UNIT)] * 2

    plan = await firm.post(f"{path}/limit-path?dry_run=true", ENDS | WHY | {"amount": "0"})
    assert [c["after"] for c in plan["impact"]["changes"]] == ["none", "none"]
    await control(firm, asset, "limit-path", amount="0")
    assert [(p["limit"], p["available"]) for p in await paths_of(firm, asset)] == [(None, None)] * 2
    await firm.succeed((await bridged(firm, asset, BASE, 20 * UNIT))["requestId"])


async def test_path_control_waits_for_a_second_person_when_the_policy_requires_it(world: World) -> None:
    firm, asset = await on_two_chains(world)
    await firm.patch("", {"approvals": ["token.pause_path"]})
    second = await world.person(firm.id)
    accepted = await firm.post(f"/assets/{asset['id']}/pause-path", ENDS | WHY)
    approval = await waiting(firm, accepted)
    assert not any(p["is_paused"] for p in await paths_of(firm, asset))
    assert (await approve(firm, second, approval))["status"] == "succeeded"
    assert all(p["is_paused"] for p in await paths_of(firm, asset))


async def test_path_control_errors_name_the_field(world: World) -> None:
    firm, asset = await on_two_chains(world)
    path = f"/assets/{asset['id']}/limit-path"
    for change, status, field in (
        ({"destination_chain_eid": SEPOLIA}, 400, "destination_chain_eid"),
        ({"amount": "1"}, 400, "amount"),
        ({"amount": str(2**64 * 10**12)}, 400, "amount"),
        ({"window_seconds": 59}, 422, "window_seconds"),
        ({"reason": ""}, 422, "reason"),
    ):
        problem = await firm.refused("POST", path, status, json=ENDS | WHY | {"amount": str(UNIT)} | change)
        assert field in problem.by_field(), change
    assert all(p["limit"] is None for p in await paths_of(firm, asset))
