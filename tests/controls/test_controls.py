"""Controls on real chains: effects, refusals, plans, kills at any moment, and permissions."""

from functools import partial
from typing import Any

import pytest

from backend.chain.abi.calls import Call
from backend.chain.bindings import token
from backend.controls import service, workflow
from backend.core.fields import MAX_UINT256
from backend.users.schemas import Role
from tests.conftest import World
from tests.controls.issuer import WHY, Issuer, changed, issuer
from tests.support.crash import killed, run, sent, unqueued
from tests.support.firm import BASE, SEPOLIA, Firm, refused
from tests.support.issuance import UNIT


@pytest.mark.long
async def test_mint_and_burn_change_the_supply(world: World) -> None:
    firm = await issuer(world)
    treasury, investor, stranger = (
        await firm.treasury(),
        await firm.trader(),
        await firm.post("/wallets", {"label": "S"}),
    )
    problem = await firm.no("mint", 409, to_address=stranger["address"], amount=str(UNIT))
    assert [r["code"] for r in problem.rules] == [9]
    assert problem.rules[0]["resolution"]["path"].endswith("/attestations")

    plan = await firm.plan("mint", to_address=investor["address"], amount=str(5 * UNIT))
    assert changed(plan) == {
        ("supply", None): (str(1_000 * UNIT), str(1_005 * UNIT)),
        ("balance", investor["address"]): ("0", str(5 * UNIT)),
    }
    assert [s["title"] for s in plan["steps"]] == [f"Mint 5 {firm.of['symbol']} to Marta Lindqvist"]
    assert await firm.held(investor["address"]) == 0

    request = await firm.do("mint", to_address=investor["address"], amount=str(5 * UNIT))
    assert request["title"] == f"Mint 5 {firm.of['symbol']} to Marta Lindqvist"
    assert (request["reason"], request["approval_id"]) == (WHY, None)
    assert (request["kind"], request["subject"]) == ("token.mint", {"type": "asset", "id": firm.of["id"]})
    assert WHY in request["steps"][0]["detail"]
    assert await firm.held(investor["address"]) == 5 * UNIT
    await firm.do("mint", to_address=treasury["address"], amount="1", reason=None)
    asset = await firm.get(f"/assets/{firm.of['id']}")
    assert asset["total_supply"] == str(1_005 * UNIT + 1)

    plan = await firm.plan("burn", address=investor["address"], amount=str(2 * UNIT))
    assert [s["title"] for s in plan["steps"]] == [
        f"Take 2 {firm.of['symbol']} from Marta Lindqvist", f"Burn 2 {firm.of['symbol']} of Marta Lindqvist"
    ]  # fmt: skip
    await firm.do("burn", address=investor["address"], amount=str(2 * UNIT))
    await firm.do("burn", address=treasury["address"], amount=str(10 * UNIT))
    assert await firm.held(investor["address"]) == 3 * UNIT
    assert await firm.held(treasury["address"]) == 990 * UNIT + 1
    listed = (await firm.get("/assets"))["assets"][0]
    assert listed["total_supply"] == str(993 * UNIT + 1)
    problem = await firm.no("burn", 409, address=investor["address"], amount=str(4 * UNIT))
    assert [r["code"] for r in problem.rules] == [4]
    assert (await firm.no("mint", 409, to_address=treasury["address"], amount=str(2**200))).detail


@pytest.mark.long
async def test_pause_blocks_transfers_until_unpause(world: World) -> None:
    firm = await issuer(world)
    treasury, investor = await firm.treasury(), await firm.trader()
    assert (await firm.get(f"/assets/{firm.of['id']}"))["deployments"][0]["paused"] is False
    assert (await firm.no("unpause", 409)).detail == "The token is not paused."
    plan = await firm.plan("pause", chain_eid=None)
    assert changed(plan) == {("state", None): ("active", "paused")}
    request = await firm.do("pause", chain_eid=None)
    assert request["steps"][0]["detail"] == f"The token is paused. Reason: {WHY}"
    assert (await firm.get(f"/assets/{firm.of['id']}"))["deployments"][0]["paused"] is True
    assert (await firm.no("pause", 409)).detail == "The token is already paused."

    body = {
        "asset_id": firm.of["id"], "chain_eid": SEPOLIA, "from_wallet_id": treasury["id"],
        "to_address": investor["address"], "amount": "1",
    }  # fmt: skip
    (rule,) = (await firm.refused("POST", "/transfers", 409, json=body)).rules
    assert (rule["code"], rule["resolution"]["method"]) == (1, "POST")
    assert rule["resolution"]["path"] == f"{firm.base}{firm.control('unpause')}"
    for name, more in (("mint", {"to_address": treasury["address"]}), ("burn", {"address": treasury["address"]})):
        problem = await firm.no(name, 409, amount="1", **more)
        assert [r["code"] for r in problem.rules] == [1]

    await firm.do("unpause")
    await firm.succeed((await firm.post("/transfers", body))["requestId"])
    assert await firm.held(investor["address"]) == 1


@pytest.mark.long
async def test_pause_applies_on_every_chain(world: World) -> None:
    firm = await Issuer.ready(world, SEPOLIA, BASE)
    assert isinstance(firm, Issuer)
    await firm.ready_asset()
    bridge = await firm.post(f"/assets/{firm.of['id']}/bridge", {"destination_chain_eid": BASE})
    await firm.succeed(bridge["requestId"])
    await firm.do("pause", chain_eid=BASE)
    request = await firm.do("pause", chain_eid=None)
    assert [s["chain_eid"] for s in request["steps"]] == [SEPOLIA]
    places = (await firm.get(f"/assets/{firm.of['id']}"))["deployments"]
    assert [p["paused"] for p in places] == [True, True]
    request = await firm.do("unpause", chain_eid=None)
    assert {s["chain_eid"] for s in request["steps"]} == {SEPOLIA, BASE}
    places = (await firm.get(f"/assets/{firm.of['id']}"))["deployments"]
    assert [p["paused"] for p in places] == [False, False]


async def test_freeze_covers_a_part_or_the_whole_account(world: World) -> None:
    firm = await issuer(world)
    investor, other = await firm.trader(), await firm.trader()
    await firm.give_tokens(investor, 10 * UNIT)
    address = investor["address"]
    await firm.do("freeze", address=address, amount=str(4 * UNIT))
    await firm.do("freeze", address=address, amount=str(2 * UNIT))
    assert await firm.frozen(address) == 6 * UNIT
    holders = {h["address"]: h["frozen"] for h in (await firm.get(f"/assets/{firm.of['id']}/holders"))["holders"]}
    assert holders == {(await firm.treasury())["address"]: "0", address: str(6 * UNIT)}
    body = {
        "asset_id": firm.of["id"], "chain_eid": SEPOLIA, "from_wallet_id": investor["id"],
        "to_address": other["address"], "amount": str(5 * UNIT),
    }  # fmt: skip
    (rule,) = (await firm.refused("POST", "/transfers", 409, json=body)).rules
    assert rule["code"] == 5
    assert rule["resolution"]["path"].endswith("/unfreeze")
    assert (
        "Less of this account is frozen"
        in (await firm.no("unfreeze", 409, address=address, amount=str(7 * UNIT))).detail
    )
    await firm.do("unfreeze", address=address, amount=str(UNIT))
    await firm.succeed((await firm.post("/transfers", body))["requestId"])

    request = await firm.do("freeze", address=address)
    assert "whole account" in request["steps"][0]["detail"]
    assert await firm.frozen(address) == MAX_UINT256
    row = next(h for h in (await firm.get(f"/assets/{firm.of['id']}/holders"))["holders"] if h["address"] == address)
    assert (row["frozen"], row["wholly_frozen"], row["available"]) == (row["balance"], True, "0")
    assert (await firm.no("freeze", 409, address=address, amount="1")).detail == "The whole account is already frozen."
    await firm.do("unfreeze", address=address, amount=str(2 * UNIT))
    assert await firm.frozen(address) == 3 * UNIT
    row = next(h for h in (await firm.get(f"/assets/{firm.of['id']}/holders"))["holders"] if h["address"] == address)
    assert (row["frozen"], row["wholly_frozen"], row["available"]) == (str(3 * UNIT), False, str(2 * UNIT))
    await firm.do("unfreeze", address=address)
    assert await firm.frozen(address) == 0
    assert (await firm.no("unfreeze", 409, address=address)).detail == "Nothing of this account is frozen."


@pytest.mark.long
async def test_forced_transfer_takes_frozen_tokens_while_paused(world: World) -> None:
    firm = await issuer(world)
    investor, heir, stranger = (
        await firm.trader(), await firm.trader(), await firm.post("/wallets", {"label": "S"})
    )  # fmt: skip
    await firm.give_tokens(investor, 10 * UNIT)
    await firm.do("freeze", address=investor["address"])
    await firm.do("pause")
    body = {"from_address": investor["address"], "to_address": heir["address"], "amount": str(7 * UNIT)}
    problem = await firm.no("forced-transfer", 409, **body | {"to_address": stranger["address"]})
    assert [r["code"] for r in problem.rules] == [9]
    problem = await firm.no("forced-transfer", 409, **body | {"amount": str(11 * UNIT)})
    assert [r["code"] for r in problem.rules] == [4]
    plan = await firm.plan("forced-transfer", **body)
    assert changed(plan)["balance", heir["address"]] == ("0", str(7 * UNIT))
    assert {c["address_name"] for c in plan["impact"]["changes"]} == {"Marta Lindqvist"}
    request = await firm.do("forced-transfer", **body)
    assert WHY in request["steps"][0]["detail"]
    assert (await firm.held(investor["address"]), await firm.held(heir["address"])) == (3 * UNIT, 7 * UNIT)
    assert str(await firm.frozen(investor["address"])) == changed(plan)["frozen", investor["address"]][1]
    holders = {h["address"]: h["balance"] for h in (await firm.get(f"/assets/{firm.of['id']}/holders"))["holders"]}
    assert holders[heir["address"]] == str(7 * UNIT)

    assert (await firm.plan("forced-transfer", **body | {"amount": "1"}))["impact"]["warnings"] == []
    listed = (await firm.get("/attestations"))["attestations"]
    own = next(one for one in listed if one["wallet_address"] == investor["address"])
    revoked = await firm.post(f"/attestations/{own['id']}/revoke", {"reason": "Left the programme."})
    await firm.succeed(revoked["requestId"])
    warnings = (await firm.plan("forced-transfer", **body | {"amount": "1"}))["impact"]["warnings"]
    assert [words.partition(" was revoked on ")[0] for words in warnings] == [
        f"The attestation of Marta Lindqvist on {(await firm.chain(SEPOLIA))['display_name']}"
    ]


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "label"), [("burn", "tokens burned"), ("freeze", "account frozen"), ("unfreeze", "account unfrozen")]
)
async def test_control_killed_at_any_moment_is_executed_once(world: World, name: str, label: str) -> None:
    firm = await issuer(world)
    investor = await firm.trader()
    await firm.give_tokens(investor, 10 * UNIT)
    if name == "unfreeze":
        await firm.do("freeze", address=investor["address"], amount=str(3 * UNIT))
    body = {"chain_eid": SEPOLIA, "reason": WHY, "address": investor["address"], "amount": str(3 * UNIT)}
    with unqueued():
        accepted = await firm.post(firm.control(name), body)
    kills = 0
    while await killed(workflow.control, firm.id, accepted["requestId"], kills % 2 + 1):
        kills += 1
    assert kills >= 1
    await firm.get(f"/requests/{accepted['requestId']}")
    assert (await sent(firm.id)).count(label) == 1
    left = 7 if name == "burn" else 10
    assert await firm.held(investor["address"]) == left * UNIT
    assert await firm.frozen(investor["address"]) == (3 * UNIT if name == "freeze" else 0)


@pytest.mark.long
async def test_control_refused_after_a_concurrent_change_is_decoded_and_retried(world: World) -> None:
    firm = await issuer(world)
    treasury = await firm.treasury()
    with unqueued():
        body = {"chain_eid": SEPOLIA, "to_address": treasury["address"], "amount": str(UNIT), "reason": WHY}
        accepted = await firm.post(firm.control("mint"), body)
    await firm.owner_call(token.pause(firm.token_at))
    await run(workflow.control, None, firm.id, accepted["requestId"])
    request = await firm.get(f"/requests/{accepted['requestId']}")
    assert (request["status"], request["problem"]["detail"]) == ("failed", "The token is paused.")
    assert request["can_retry"]
    await firm.owner_call(token.unpause(firm.token_at))
    assert (await firm.retry(accepted["requestId"]))["status"] == "succeeded"
    assert await firm.held(treasury["address"]) == 1_001 * UNIT


@pytest.mark.long
async def test_control_with_bad_input_or_role_is_rejected(world: World) -> None:
    firm = await issuer(world)
    treasury = await firm.treasury()
    before = await sent(firm.id)
    good = {"chain_eid": SEPOLIA, "to_address": treasury["address"], "amount": "1", "reason": WHY}
    for change, status in (
        ({"amount": "0"}, 400),
        ({"amount": "-1"}, 422),
        ({"amount": 1}, 422),
        ({"chain_eid": BASE}, 400),
        ({"chain_eid": "x"}, 422),
        ({"to_address": "0x1"}, 422),
        ({"reason": "<b>"}, 422),
        ({"more": 1}, 422),
    ):
        await firm.no("mint", status, **good | change)
    address = treasury["address"]
    for name, body, status in (
        ("burn", {"address": address, "amount": "1", "reason": ""}, 422),
        ("pause", {"reason": "  "}, 422),
        ("freeze", {"address": address, "amount": "0"}, 400),
        ("forced-transfer", {"from_address": address, "to_address": address, "amount": "1"}, 400),
        ("recover", {"lost_address": address, "new_address": address}, 400),
    ):
        await firm.no(name, status, **body)
    elsewhere = await Firm.found(world, "Elsewhere")
    await elsewhere.refused("POST", firm.control("pause"), 404, json={"reason": WHY})
    path = f"{firm.base}{firm.control('pause')}"
    await refused(elsewhere.admin, "POST", path, 403, json={"reason": WHY})
    for role in (Role.VIEWER, Role.MEMBER):
        person = await world.person(firm.id, role)
        problem = await refused(person, "POST", path, 403, json={"reason": WHY})
        assert "assets:write" in problem.detail
    officer = await world.person(firm.id, Role.COMPLIANCE_OFFICER)
    assert (await officer.call("POST", f"{path}?dry_run=true", json={"reason": WHY}))["steps"]
    assert await sent(firm.id) == before


async def test_control_that_a_change_during_its_check_refuses_lists_the_failed_rule(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await issuer(world)
    treasury, investor = await firm.treasury(), await firm.trader()
    await firm.give_tokens(investor, 10 * UNIT)
    simulate = service.rehearse

    async def after(call: Call, intent: Any) -> None:
        monkeypatch.setattr(service, "rehearse", simulate)
        await firm.owner_call(call)
        await simulate(intent)

    monkeypatch.setattr(service, "rehearse", partial(after, token.pause(firm.token_at)))
    problem = await firm.no("mint", 409, to_address=investor["address"], amount="1")
    assert [r["code"] for r in problem.rules] == [1]
    assert problem.rules[0]["resolution"]["path"].endswith("/unpause")
    await firm.owner_call(token.unpause(firm.token_at))

    taken = token.forced_transfer(firm.token_at, investor["address"], treasury["address"], 10 * UNIT)
    monkeypatch.setattr(service, "rehearse", partial(after, taken))
    body = {"from_address": investor["address"], "to_address": treasury["address"], "amount": "1"}
    problem = await firm.no("forced-transfer", 409, **body)
    assert [r["code"] for r in problem.rules] == [4]

    monkeypatch.setattr(service, "rehearse", partial(after, token.pause(firm.token_at)))
    assert (await firm.no("pause", 409)).detail == "The token is already paused."


async def test_control_that_a_passing_change_during_its_check_refuses_is_accepted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await issuer(world)
    investor, simulate = await firm.trader(), service.rehearse

    async def during_a_pause(intent: Any) -> None:
        monkeypatch.setattr(service, "rehearse", simulate)
        await firm.owner_call(token.pause(firm.token_at))
        try:
            await simulate(intent)
        finally:
            await firm.owner_call(token.unpause(firm.token_at))

    monkeypatch.setattr(service, "rehearse", during_a_pause)
    await firm.do("mint", to_address=investor["address"], amount=str(UNIT))
    assert await firm.held(investor["address"]) == UNIT
