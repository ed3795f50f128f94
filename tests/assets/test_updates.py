"""Changing an asset: planned, written to every chain in order, and the outcome if a chain refuses it."""

from typing import Any

import pytest

from backend.assets import deployment
from backend.chain.bindings import token
from backend.chain.errors import ChainUnavailable
from backend.chain.rpc import json_rpc
from tests.conftest import World
from tests.support.firm import HYPEREVM, SEPOLIA
from tests.support.issuance import UNIT, Issuance, steps_of


def at(asset: Any, eid: int = SEPOLIA) -> str:
    return str(next(d["token_address"] for d in asset["deployments"] if d["chain_eid"] == eid))


@pytest.mark.long
async def test_asset_update_is_active_after_it_is_read_back_from_the_chain(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(compliance_rules={"requires_accreditation": True})
    change = {"required_kyc_level": 3, "compliance_rules": {"blocked_countries": ["PRK"]}, "name": "Harbour Fund II"}
    accepted = await firm.patch(f"/assets/{asset['id']}", change)
    assert (accepted["status"], accepted["assetId"]) == ("updating", asset["id"])
    request = await firm.succeed(accepted["requestId"])
    assert steps_of(request)[f"rules_{SEPOLIA}"]["tx_hash"]
    rules = await token.rules(SEPOLIA, at(asset))
    assert (rules.min_kyc_level, rules.blocked_countries, rules.requires_accreditation) == (3, ("PRK",), True)
    asset = await firm.get(f"/assets/{asset['id']}")
    assert (asset["status"], asset["name"], asset["failure"]) == ("active", "Harbour Fund II", None)
    assert asset["compliance_rules"]["requires_accreditation"]


@pytest.mark.long
async def test_asset_name_update_needs_no_transaction(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(description="Old")
    version = await token.rules_version(SEPOLIA, at(asset))
    accepted = await firm.patch(f"/assets/{asset['id']}", {"name": "Pier Fund", "description": None})
    request = await firm.succeed(accepted["requestId"])
    assert list(steps_of(request)) == ["asset_active"]
    asset = await firm.get(f"/assets/{asset['id']}")
    assert (asset["name"], asset["description"], asset["status"]) == ("Pier Fund", None, "active")
    assert await token.rules_version(SEPOLIA, at(asset)) == version
    problem = await firm.refused("PATCH", f"/assets/{asset['id']}", 422, json={"name": None})
    assert "name" in problem.by_field()


@pytest.mark.long
async def test_asset_updates_queue_in_order(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    version = await token.rules_version(SEPOLIA, at(asset))
    first = await firm.patch(f"/assets/{asset['id']}", {"required_kyc_level": 1})
    second = await firm.patch(f"/assets/{asset['id']}", {"max_holders": 7})
    third = await firm.patch(f"/assets/{asset['id']}", {"required_kyc_level": 2})
    blocks = []
    for accepted in (first, second, third):
        step = steps_of(await firm.succeed(accepted["requestId"]))[f"rules_{SEPOLIA}"]
        receipt = await (await json_rpc.connect(SEPOLIA)).request("eth_getTransactionReceipt", step["tx_hash"])
        blocks.append(int(receipt["blockNumber"], 16))
    assert blocks == sorted(set(blocks))
    assert await token.rules_version(SEPOLIA, at(asset)) == version + 3
    rules = await token.rules(SEPOLIA, at(asset))
    assert (rules.min_kyc_level, rules.max_holders) == (2, 7)
    assert (await firm.get(f"/assets/{asset['id']}"))["status"] == "active"


@pytest.mark.long
async def test_asset_caps_are_divided_among_the_chains(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, HYPEREVM)
    asset = await firm.asset(max_holders=9)
    accepted = await firm.post(f"/assets/{asset['id']}/bridge", {"destination_chain_eid": HYPEREVM})
    await firm.succeed(accepted["requestId"])
    asset = await firm.get(f"/assets/{asset['id']}")
    shares = [(await token.rules(eid, at(asset, eid))).max_holders for eid in (SEPOLIA, HYPEREVM)]
    assert shares == [5, 4]
    accepted = await firm.patch(f"/assets/{asset['id']}", {"max_holders": 20, "org_only": True})
    request = await firm.succeed(accepted["requestId"])
    assert {f"rules_{SEPOLIA}", f"rules_{HYPEREVM}"} < set(steps_of(request))
    for eid in (SEPOLIA, HYPEREVM):
        rules = await token.rules(eid, at(asset, eid))
        assert (rules.max_holders, rules.org_only) == (10, True)
    await firm.refused("PATCH", f"/assets/{asset['id']}", 409, json={"max_holders": 1})


@pytest.mark.long
async def test_asset_update_dry_run_lists_excluded_holders_and_writes_nothing(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(required_kyc_level=1)
    market = await firm.market(asset)
    low, high = await firm.trader(level=1), await firm.trader(level=3, accredited=True)
    for wallet, amount in ((low, 30), (high, 50)):
        await firm.owner_call(token.transfer(at(asset), wallet["address"], amount * UNIT))
    await firm.order(market, high, "sell", 10 * 10**6, 1 * UNIT)
    before = await firm.get(f"/assets/{asset['id']}")
    change = {"required_kyc_level": 2, "compliance_rules": {"max_tokens_per_holder": str(40 * UNIT)}}
    plan = await firm.patch(f"/assets/{asset['id']}", change, params={"dry_run": "true"})
    impact = plan["impact"]
    assert {(c["field"], c["before"], c["after"]) for c in impact["changes"]} == {
        ("required_kyc_level", 1, 2),
        ("compliance_rules.max_tokens_per_holder", "0", str(40 * UNIT)),
    }
    out = {h["wallet_address"]: h for h in impact["holders_excluded"]}
    assert impact["holders_total"] == 2
    assert out.keys() == {low["address"], high["address"]}
    assert out[low["address"]]["balance"] == str(30 * UNIT)
    assert "The KYC level is 1; 2 is required" in out[low["address"]]["reasons"][0]
    assert [m["halts"] for m in impact["markets"]] == [False]
    assert "1 of 2 attested wallets" in impact["markets"][0]["reason"]
    plan = await firm.patch(f"/assets/{asset['id']}", {"required_kyc_level": 4}, params={"dry_run": "true"})
    assert [(m["market_id"], m["halts"]) for m in plan["impact"]["markets"]] == [(market["id"], True)]
    plan = await firm.patch(f"/assets/{asset['id']}", {"required_kyc_level": 0}, params={"dry_run": "true"})
    assert [m["stricter"] for m in plan["impact"]["markets"]] == [["min_kyc_level"]], "a market keeps its own level"
    assert impact["markets"][0]["stricter"] == []
    assert (await firm.get(f"/assets/{asset['id']}/markets/{market['id']}"))["stricter_rules"] == []
    late = {"compliance_rules": {"lockup_end_time": 4_000_000_000}}
    plan = await firm.patch(f"/assets/{asset['id']}", late, params={"dry_run": "true"})
    assert [m["halts"] for m in plan["impact"]["markets"]] == [True]
    assert await firm.get(f"/assets/{asset['id']}") == before
    await firm.refused(
        "PATCH",
        f"/assets/{asset['id']}",
        400,
        json={"compliance_rules": {"lockup_end_time": 1}},
        params={"dry_run": "true"},
    )


@pytest.mark.long
async def test_asset_update_refused_by_a_chain_is_reported_and_retried(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()

    async def gone(*_: Any, **__: Any) -> None:
        raise ChainUnavailable("The node of the chain does not answer.")

    with monkeypatch.context() as broken:
        broken.setattr(deployment, "write", gone)
        accepted = await firm.patch(f"/assets/{asset['id']}", {"required_kyc_level": 2})
        request = await firm.fail(accepted["requestId"])
    assert request["can_retry"]
    shown = await firm.get(f"/assets/{asset['id']}")
    assert (shown["status"], shown["failure"]) == ("active", "The node of the chain does not answer.")
    assert (await token.rules(SEPOLIA, at(asset))).min_kyc_level == 0
    newer = await firm.patch(f"/assets/{asset['id']}", {"max_holders": 5})
    await firm.succeed(newer["requestId"])
    assert (await firm.retry(accepted["requestId"]))["status"] == "succeeded"
    rules = await token.rules(SEPOLIA, at(asset))
    assert (rules.min_kyc_level, rules.max_holders) == (2, 5)
    shown = await firm.get(f"/assets/{asset['id']}")
    assert (shown["status"], shown["failure"]) == ("active", None)


BAD: list[tuple[dict[str, Any], int]] = [
    ({"compliance_rules": {"blocked_countries": ["ZZZ"]}}, 422),
    ({"compliance_rules": {"blocked_countries": ["USA", "USA"]}}, 422),
    ({"compliance_rules": {"lockup_end_time": 1_000_000}}, 400),
    ({"compliance_rules": {"max_tokens_per_holder": str(2**256)}}, 422),
    ({"compliance_rules": {"rule": 1}}, 422),
    ({"compliance_rules": []}, 422),
    ({"name": "<a href=x>"}, 422),
    ({"description": "<script>"}, 422),
    ({"regulation_type": "reg_x"}, 422),
    ({"max_holders": 1.5}, 422),
    ({"status": "active"}, 422),
]


@pytest.mark.long
async def test_asset_update_with_bad_input_changes_nothing(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(initial_supply="0")
    for change, status in BAD:
        problem = await firm.refused("PATCH", f"/assets/{asset['id']}", status, json=change)
        assert problem.errors, change
    assert await firm.get(f"/assets/{asset['id']}") == asset
