"""Transfers on real chains: refused with every rule, then attested and sent; killed at any moment; tenant isolation."""

from typing import Any

import pytest

from backend.assets import transaction_step
from backend.chain.bindings import token
from backend.chain.errors import ChainUnavailable
from backend.transfers import service, workflow
from backend.users.schemas import Role
from tests.approvals.second_person import approve, asking, deny, waiting
from tests.conftest import World
from tests.support.crash import killed, run, sent, unqueued
from tests.support.firm import BASE, SEPOLIA, Firm, refused
from tests.support.issuance import UNIT, Issuance, steps_of


def body_of(asset: Any, wallet: Any, to: str, amount: int = UNIT) -> dict[str, Any]:
    return {
        "asset_id": asset["id"], "chain_eid": SEPOLIA, "from_wallet_id": wallet["id"], "to_address": to,
        "amount": str(amount),
    }  # fmt: skip


def place_of(asset: Any) -> str:
    return str(asset["deployments"][0]["token_address"])


async def rules_of(firm: Firm, body: Any) -> list[dict[str, Any]]:
    problem = await firm.refused("POST", "/transfers", 409, json=body)
    assert problem.detail == " ".join(r["reason"] for r in problem.rules)
    return problem.rules


async def test_transfer_refused_before_attestation_is_sent_after_it(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(required_kyc_level=2)
    treasury, receiver = await firm.treasury(), await firm.post("/wallets", {"label": "Receiver"})
    body, before = body_of(asset, treasury, receiver["address"], 30 * UNIT), await sent(firm.id)

    (rule,) = await rules_of(firm, body)
    assert (rule["code"], rule["rule"], rule["passed"]) == (9, "attestation", False)
    assert rule["resolution"]["path"] == f"/orgs/{firm.id}/attestations"
    party = await firm.verified(receiver["address"], 1)
    await firm.attest(party)
    assert [r["code"] for r in await rules_of(firm, body)] == [11]
    assert (await firm.get("/transfers"))["transfers"] == []
    assert "transfer" not in await sent(firm.id)

    await firm.admin.call("POST", f"/identity/parties/{party['id']}/verify", json={"kyc_level": 2})
    await firm.attest(party)
    accepted = await firm.post("/transfers", body)
    assert (accepted["accepted"], accepted["status"]) == (True, "pending")
    request = await firm.succeed(accepted["requestId"])
    assert request["title"] == f"Transfer 30 {asset['symbol']} from {treasury['label']} to Marta Lindqvist"
    transfer = await firm.get(f"/transfers/{accepted['transferId']}")
    assert transfer["status"] == "confirmed"
    assert transfer["tx_hash"] == steps_of(request)["transfer_sent"]["tx_hash"]
    assert (transfer["amount"], transfer["failure"]) == (str(30 * UNIT), None)
    assert (transfer["from_label"], transfer["asset_symbol"]) == (treasury["label"], asset["symbol"])
    assert (transfer["from_name"], transfer["to_name"]) == (None, "Marta Lindqvist")
    assert transfer["to_name"] == "Marta Lindqvist"
    assert await token.balance_of(SEPOLIA, place_of(asset), receiver["address"]) == 30 * UNIT
    holders = {h["address"]: h["balance"] for h in (await firm.get(f"/assets/{asset['id']}/holders"))["holders"]}
    assert holders == {treasury["address"]: str(970 * UNIT), receiver["address"]: str(30 * UNIT)}
    assert [label for label in await sent(firm.id) if label not in before].count("transfer") == 1


async def test_transfer_that_a_freeze_during_its_check_refuses_lists_the_failed_rule(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, treasury, trader = await firm.asset(), await firm.treasury(), await firm.trader()
    body, simulate = body_of(asset, treasury, trader["address"]), service.rehearse

    async def after_a_freeze(intent: Any) -> None:
        await firm.owner_call(token.set_frozen(place_of(asset), treasury["address"], 1000 * UNIT))
        await simulate(intent)

    monkeypatch.setattr(service, "rehearse", after_a_freeze)
    (rule,) = await rules_of(firm, body)
    assert (rule["code"], rule["passed"]) == (5, False)
    assert rule["resolution"]["path"].endswith("/unfreeze")

    await firm.owner_call(token.set_frozen(place_of(asset), treasury["address"], 0))

    async def during_a_pause(intent: Any) -> None:
        await firm.owner_call(token.pause(place_of(asset)))
        try:
            await simulate(intent)
        finally:
            await firm.owner_call(token.unpause(place_of(asset)))

    monkeypatch.setattr(service, "rehearse", during_a_pause)
    problem = await firm.refused("POST", "/transfers", 409, json=body)
    assert (problem.detail, problem.rules) == ("The token is paused.", [])
    assert (await firm.get("/transfers"))["transfers"] == []


async def test_transfer_that_waits_for_a_second_person_says_so(world: World) -> None:
    firm, second = await asking(world, "transfer.send")
    asset, trader = await firm.asset(), await firm.trader()
    body = body_of(asset, await firm.treasury(), trader["address"])
    for decide, ending in ((approve, "confirmed"), (deny, "failed")):
        accepted = await firm.post("/transfers", body)
        assert accepted["status"] == "awaiting_approval"
        path, approval = f"/transfers/{accepted['transferId']}", await waiting(firm, accepted)
        one, listed = await firm.get(path), (await firm.get("/transfers"))["transfers"][0]
        assert one == listed
        assert (one["status"], one["awaits_approval"]) == ("pending", True)
        await decide(firm, second, approval)
        after = await firm.get(path)
        assert (after["status"], after["awaits_approval"]) == (ending, False)


@pytest.mark.long
async def test_transfer_killed_at_any_moment_is_sent_once(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, treasury = await firm.asset(), await firm.treasury()
    trader = await firm.trader()
    with unqueued():
        accepted = await firm.post("/transfers", body_of(asset, treasury, trader["address"]))
    kills = 0
    while await killed(workflow.send, firm.id, accepted["requestId"], kills % 2 + 1):
        kills += 1
    assert kills >= 1
    assert (await sent(firm.id)).count("transfer") == 1
    assert (await firm.get(f"/transfers/{accepted['transferId']}"))["status"] == "confirmed"
    assert await token.balance_of(SEPOLIA, place_of(asset), trader["address"]) == UNIT


@pytest.mark.long
async def test_transfer_that_fails_after_a_pause_is_sent_by_a_retry(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, treasury = await firm.asset(), await firm.treasury()
    trader = await firm.trader()
    with unqueued():
        accepted = await firm.post("/transfers", body_of(asset, treasury, trader["address"]))
    await firm.owner_call(token.pause(place_of(asset)))
    await run(workflow.send, workflow.send_failed, firm.id, accepted["requestId"])
    failed = await firm.get(f"/transfers/{accepted['transferId']}")
    assert (failed["status"], failed["failure"], failed["tx_hash"]) == ("failed", "The token is paused.", None)
    request = await firm.get(f"/requests/{accepted['requestId']}")
    assert (request["status"], request["can_retry"]) == ("failed", True)
    assert request["problem"]["revert"]["code"] == 1

    await firm.owner_call(token.unpause(place_of(asset)))
    assert (await firm.retry(accepted["requestId"]))["status"] == "succeeded"
    after = await firm.get(f"/transfers/{accepted['transferId']}")
    assert (after["status"], after["failure"]) == ("confirmed", None)


@pytest.mark.long
async def test_transfer_on_a_chain_that_is_down_fails_with_the_reason(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, treasury = await firm.asset(), await firm.treasury()
    trader = await firm.trader()
    with unqueued():
        accepted = await firm.post("/transfers", body_of(asset, treasury, trader["address"]))

    async def down(*_: Any, **__: Any) -> None:
        raise ChainUnavailable("The node of Sepolia does not answer.")

    with monkeypatch.context() as patch:
        patch.setattr(transaction_step, "execute", down)
        await run(workflow.send, workflow.send_failed, firm.id, accepted["requestId"])
    failed = await firm.get(f"/transfers/{accepted['transferId']}")
    assert (failed["status"], failed["failure"]) == ("failed", "The node of Sepolia does not answer.")
    await firm.retry(accepted["requestId"])
    assert (await firm.get(f"/transfers/{accepted['transferId']}"))["status"] == "confirmed"


@pytest.mark.long
async def test_mined_transfer_is_confirmed_while_the_tables_lag(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, treasury = await firm.asset(), await firm.treasury()
    trader = await firm.trader()
    with unqueued():
        accepted = await firm.post("/transfers", body_of(asset, treasury, trader["address"]))

    async def down(*_: Any) -> None:
        raise ChainUnavailable("The node of Sepolia does not answer.")

    with monkeypatch.context() as patch:
        patch.setattr(workflow.indexer, "catch_up", down)
        await run(workflow.send, workflow.send_failed, firm.id, accepted["requestId"])
    assert (await firm.get(f"/requests/{accepted['requestId']}"))["status"] == "failed"
    assert (await firm.get(f"/transfers/{accepted['transferId']}"))["status"] == "confirmed"
    assert (await firm.retry(accepted["requestId"]))["status"] == "succeeded"
    assert (await sent(firm.id)).count("transfer") == 1


@pytest.mark.long
async def test_transfer_with_bad_input_writes_nothing(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, treasury = await firm.asset(), await firm.treasury()
    trader, other = await firm.trader(), await Firm.found(world, "Elsewhere")
    foreign = await other.post("/wallets", {"label": "Foreign"})
    linked = await firm.post("/wallets", {"label": "Ledger", "address": "0x52908400098527886E0F7030069857D2E4169EE7"})
    body = body_of(asset, treasury, trader["address"])
    for change, status in (
        ({"from_wallet_id": foreign["id"]}, 404),
        ({"from_wallet_id": linked["id"]}, 409),
        ({"from_wallet_id": "me"}, 422),
        ({"asset_id": foreign["id"]}, 404),
        ({"chain_eid": BASE}, 400),
        ({"chain_eid": 1.5}, 422),
        ({"amount": "0"}, 400),
        ({"amount": "-1"}, 422),
        ({"amount": 1}, 422),
        ({"amount": str(2**256)}, 422),
        ({"amount": str(2**256 - 1)}, 409),
        ({"to_address": "0x1"}, 422),
        ({"to_address": trader["address"][:-1] + "g"}, 422),
        ({"to_address": "0x" + "0" * 40}, 409),
        ({"to_address": place_of(asset)}, 409),
        ({"note": "x"}, 422),
    ):
        await firm.refused("POST", "/transfers", status, json=body | change)
    await firm.refused("POST", "/transfers", 422, json={})
    assert (await firm.get("/transfers"))["transfers"] == []
    assert "transfer" not in await sent(firm.id)
    codes = [r["code"] for r in await rules_of(firm, body | {"amount": str(10_000 * UNIT)})]
    assert codes == [4]


@pytest.mark.long
async def test_transfer_operations_enforce_roles(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, treasury = await firm.asset(), await firm.treasury()
    body = body_of(asset, treasury, (await firm.trader())["address"])
    accepted = await firm.post("/transfers", body)
    await firm.succeed(accepted["requestId"])
    path = f"{firm.base}/transfers"
    for role in (Role.VIEWER, Role.COMPLIANCE_OFFICER):
        person = await world.person(firm.id, role)
        assert len((await person.call("GET", path))["transfers"]) == 1
        problem = await refused(person, "POST", path, 403, json=body)
        assert "transfers:write" in problem.detail
    member = await world.person(firm.id, Role.MEMBER)
    await firm.succeed((await member.call("POST", path, json=body))["requestId"])
    stranger = await world.person(await world.organization("Elsewhere"))
    await refused(stranger, "GET", path, 403)
    await refused(stranger, "POST", path, 403, json=body)
    own = f"/orgs/{(await Firm.found(world)).id}"
    await refused(stranger, "GET", f"{own}/transfers/{accepted['transferId']}", 403)
    await firm.refused("GET", f"/transfers/{asset['id']}", 404)


@pytest.mark.long
async def test_transfers_are_paged_and_filtered(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, treasury = await firm.asset(), await firm.treasury()
    trader = await firm.trader()
    made = [await firm.post("/transfers", body_of(asset, treasury, trader["address"], n)) for n in (1, 2, 3)]
    for one in made:
        await firm.succeed(one["requestId"])
    everything = await firm.get("/transfers")
    assert [t["amount"] for t in everything["transfers"]] == ["3", "2", "1"]
    first = await firm.get("/transfers", params={"limit": "2"})
    last = await firm.get("/transfers", params={"limit": "2", "cursor": first["nextCursor"]})
    assert [t["id"] for t in first["transfers"] + last["transfers"]] == [t["id"] for t in everything["transfers"]]
    assert last["nextCursor"] is None
    for query, count in (
        ({"status": "confirmed"}, 3),
        ({"status": "failed"}, 0),
        ({"assetId": asset["id"]}, 3),
        ({"assetId": treasury["id"]}, 0),
    ):
        assert len((await firm.get("/transfers", params=query))["transfers"]) == count
    for query in ({"status": "done"}, {"limit": "0"}, {"cursor": "x"}, {"assetId": "x"}):
        await firm.refused("GET", "/transfers", 400, params=query)
    balance = await token.balance_of(SEPOLIA, place_of(asset), trader["address"])
    assert balance == 6


@pytest.mark.long
async def test_wallet_is_deleted_while_its_transfers_stay(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, treasury = await firm.asset(), await firm.treasury()
    trader = await firm.trader(usd=0)
    await firm.succeed((await firm.post("/transfers", body_of(asset, treasury, trader["address"])))["requestId"])
    back = await firm.post("/transfers", body_of(asset, trader, treasury["address"]))
    await firm.succeed(back["requestId"])
    await firm.delete(f"/wallets/{trader['id']}")
    kept = await firm.get(f"/transfers/{back['transferId']}")
    assert (kept["from_wallet_id"], kept["from_address"], kept["from_label"]) == (None, trader["address"], None)
