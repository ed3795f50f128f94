"""Bridges: carried, refused, delivered late, retried; and their list."""

import asyncio
from typing import Any

import pytest

from backend.bridges import delivery
from backend.bridges.workflow import send
from backend.core.errors import Conflict
from tests.bridges.delivery import bridged, supplies
from tests.conftest import World
from tests.support.crash import killed, sent, unqueued
from tests.support.firm import BASE, SEPOLIA
from tests.support.issuance import UNIT, Issuance, steps_of


async def test_bridge_moves_supply_to_a_new_chain_and_back(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset(required_kyc_level=2)
    accepted = await bridged(firm, asset, BASE, 300 * UNIT)
    request = await firm.succeed(accepted["requestId"])
    steps = steps_of(request)
    assert list(steps) == ["bridge_pending", "bridge_submitting", "bridge_confirmed"]
    bridge = await firm.get(f"/bridges/{accepted['bridgeId']}")
    assert (bridge["status"], bridge["amount"], bridge["failure"]) == ("confirmed", str(300 * UNIT), None)
    assert (bridge["asset_symbol"], bridge["request_id"]) == (asset["symbol"], request["id"])
    assert bridge["guid"]
    assert bridge["source_tx_hash"] == steps["bridge_submitting"]["tx_hash"]
    assert bridge["destination_tx_hash"] == steps["bridge_confirmed"]["tx_hash"]
    assert bridge["finality"] == "final"
    asset = await firm.get(f"/assets/{asset['id']}")
    assert supplies(asset) == {SEPOLIA: str(700 * UNIT), BASE: str(300 * UNIT)}
    assert asset["total_supply"] == str(1_000 * UNIT)
    holders = (await firm.get(f"/assets/{asset['id']}/holders"))["holders"]
    assert [(h["chain_eid"], h["balance"]) for h in holders] == [(SEPOLIA, str(700 * UNIT)), (BASE, str(300 * UNIT))]

    back = await bridged(firm, asset, SEPOLIA, 100 * UNIT, source_chain_eid=BASE)
    await firm.succeed(back["requestId"])
    assert supplies(await firm.get(f"/assets/{asset['id']}")) == {SEPOLIA: str(800 * UNIT), BASE: str(200 * UNIT)}


@pytest.mark.long
async def test_bridge_with_a_refused_delivery_fails_and_confirms_on_retry_after_attestation(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    wallet = await firm.post("/wallets", {"label": "Investor"})
    party = await firm.verified(wallet["address"])
    await firm.attest(party, SEPOLIA)
    accepted = await bridged(firm, asset, BASE, 50 * UNIT, to_address=wallet["address"])
    request = await firm.fail(accepted["requestId"])
    assert request["problem"]["detail"] == "The receiver has no valid attestation."
    assert request["can_retry"]
    bridge = await firm.get(f"/bridges/{accepted['bridgeId']}")
    assert (bridge["status"], bridge["failure"]) == ("failed", "The receiver has no valid attestation.")
    assert bridge["checked_at"]
    assert [s["status"] for s in request["steps"]] == ["succeeded", "succeeded", "failed"]
    asset = await firm.get(f"/assets/{asset['id']}")
    assert [d["status"] for d in asset["deployments"]] == ["active", "failed"]

    await firm.attest(party, BASE)
    before = await sent(firm.id)
    assert (await firm.retry(accepted["requestId"]))["status"] == "succeeded"
    bridge = await firm.get(f"/bridges/{accepted['bridgeId']}")
    assert (bridge["status"], bridge["failure"]) == ("confirmed", None)
    assert await sent(firm.id) == before
    asset = await firm.get(f"/assets/{asset['id']}")
    assert supplies(asset) == {SEPOLIA: str(950 * UNIT), BASE: str(50 * UNIT)}


@pytest.mark.long
async def test_bridge_killed_at_any_moment_sends_one_packet(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    before = await sent(firm.id)
    with unqueued():
        accepted = await bridged(firm, asset, BASE, 10 * UNIT)
    kills = 0
    while await killed(send, firm.id, accepted["requestId"], kills % 2 + 1):
        kills += 1
    request = await firm.get(f"/requests/{accepted['requestId']}")
    assert request["status"] == "succeeded", request
    assert kills > 8
    made = await sent(firm.id)
    for label in before:
        made.remove(label)
    assert made == sorted([f"deploy {asset['symbol']}", "set peer", "set peer", f"bridge {asset['symbol']}"])
    assert supplies(await firm.get(f"/assets/{asset['id']}")) == {SEPOLIA: str(990 * UNIT), BASE: str(10 * UNIT)}


@pytest.mark.long
async def test_bridge_with_bad_input_is_rejected_at_its_field_and_writes_nothing(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    path = f"/assets/{asset['id']}/bridge"
    good = {"destination_chain_eid": BASE}
    for change, status, field in (
        ({"destination_chain_eid": 49_999}, 400, "destination_chain_eid"),
        ({"destination_chain_eid": 1.5}, 422, "destination_chain_eid"),
        ({"destination_chain_eid": SEPOLIA, "source_chain_eid": SEPOLIA}, 400, "destination_chain_eid"),
        ({"source_chain_eid": BASE}, 400, "source_chain_eid"),
        ({"amount": "1"}, 400, "amount"),
        ({"amount": str(2**256)}, 422, "amount"),
        ({"to_address": "0x12"}, 422, "to_address"),
        ({"memo": "x"}, 422, "memo"),
    ):
        problem = await firm.refused("POST", path, status, json=good | change)
        assert field in problem.by_field(), change
    problem = await firm.refused("POST", path, 409, json=good | {"amount": str(2_000 * UNIT)})
    held, wanted = (f"{amount} {asset['symbol']}" for amount in ("1,000", "2,000"))
    assert f"holds {held} on the source chain; the amount is {wanted}." in problem.detail
    await firm.refused("POST", path, 409, json={"destination_chain_eid": SEPOLIA})
    assert (await firm.get("/bridges"))["bridges"] == []


@pytest.mark.long
async def test_bridge_stops_when_one_of_two_chains_fails(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    ended: list[str] = []

    async def peer(_run: Any, _step: Any, row: Any, _other: Any) -> None:
        if row.chain_eid == SEPOLIA:
            raise Conflict("The token says no.")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("the other")
            raise

    with monkeypatch.context() as broken:
        broken.setattr(delivery, "_peer", peer)
        accepted = await bridged(firm, asset, BASE, 10 * UNIT)
        request = await firm.fail(accepted["requestId"])
    assert request["problem"]["detail"] == "The token says no."
    assert ended == ["the other"]


async def test_plan_says_what_leaves_and_arrives_and_a_changed_plan_is_refused(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset, treasury = await firm.asset(), await firm.treasury()
    path, body = f"/assets/{asset['id']}/bridge", {"destination_chain_eid": BASE, "amount": str(5 * UNIT)}
    names = [(await firm.chain(eid))["display_name"] for eid in (SEPOLIA, BASE)]
    plan = await firm.post(path, body, params={"dry_run": "true"})
    impact = plan["impact"]
    assert [impact["source_chain_name"], impact["destination_chain_name"]] == names
    assert impact["sender_address"] == impact["receiver_address"] == treasury["address"]
    assert (impact["sender_name"], impact["receiver_name"]) == (treasury["label"], treasury["label"])
    assert (impact["fee"], impact["deploys_token"]) == ("0", True)
    assert impact["verification"] == "The operator verifies and delivers packets between embedded chains."
    assert plan["steps"][0] == f"Deploy the token of {asset['symbol']} on {names[1]}"
    rules_only = await firm.post(path, body | {"amount": "0"}, params={"dry_run": "true"})
    assert rules_only["impact"]["receiver_address"] is None

    confirmed = body | {"expected_plan": impact["fingerprint"], "max_fee": impact["fee"]}
    other = await firm.refused("POST", path, 409, json=confirmed | {"amount": str(6 * UNIT)})
    assert "has changed since you read it" in other.detail
    accepted = await firm.post(path, confirmed)
    request = await firm.succeed(accepted["requestId"])
    assert [step["title"] for step in request["steps"]] == [
        f"Prepare the token on {names[1]}",
        f"Send the packet from {names[0]}",
        f"Deliver the packet on {names[1]}",
    ]
    for params in ({}, {"dry_run": "true"}):  # the token is there now, so the plan is another one
        problem = await firm.refused("POST", path, 409, json=confirmed, params=params)
        assert "has changed since you read it" in problem.detail
