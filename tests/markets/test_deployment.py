"""Deploying markets: with the asset on the chain, without it, killed halfway, refused, retried."""

from typing import Any
from uuid import UUID

import pytest

from backend.bridges import delivery
from backend.chain.abi.calls import creation
from backend.chain.abi.outcome import Log, Outcome
from backend.chain.bindings import factory, token
from backend.chain.bindings import market as contract
from backend.chain.deployment.contracts import contracts_of
from backend.chain.devnet import anvil
from backend.chain.errors import MissingEvent
from backend.chain.layerzero import relayer
from backend.chain.layerzero.relayer import Delivery, DeliveryStatus
from backend.chain.transactions.execution import execute
from backend.client import ApiProblem
from backend.core.units import shortened
from backend.markets import workflow
from backend.requests.runs import Run
from tests.conftest import World
from tests.support.contract_logs import log_of
from tests.support.crash import killed, run, sent, unqueued
from tests.support.firm import BASE, HYPEREVM, SEPOLIA
from tests.support.issuance import Issuance, steps_of

BRIDGED = [
    "bridge_pending",
    "bridge_submitting",
    "bridge_confirmed",
    "token_created",
    "market_created",
    "market_active",
]


@pytest.mark.long
async def test_market_on_the_asset_chain_is_deployed(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(required_kyc_level=2, compliance_rules={"blocked_countries": ["PRK"]})
    path = f"/assets/{asset['id']}/markets"
    accepted = await firm.post(path, await firm.market_body(taker_fee_bps=25, max_holders=50))
    assert (accepted["accepted"], accepted["status"], accepted["chainEid"]) == (True, "deploying", SEPOLIA)
    request = await firm.succeed(accepted["requestId"])
    assert list(steps_of(request)) == ["market_created", "market_active"]
    market = await firm.get(f"{path}/{accepted['marketId']}")
    assert (market["status"], market["bridge_id"], market["failure"]) == ("active", None, None)
    assert (market["min_kyc_level"], market["blocked_countries"], market["max_holders"]) == (2, ["PRK"], 50)
    assert market["stricter_rules"] == ["max_holders"], "the asset has no limit"
    assert (market["quote_decimals"], market["taker_fee_bps"], market["maker_fee_bps"]) == (6, 25, 0)
    info = await contract.info(SEPOLIA, market["market_address"])
    assert (info.token, info.quote) == (asset["deployments"][0]["token_address"], market["quote_token_address"])
    assert (info.rules.min_kyc_level, info.rules.blocked_countries, info.taker_fee_bps) == (2, ("PRK",), 25)
    assert info.fee_collector == (await firm.treasury())["address"]
    assert await factory.is_market(SEPOLIA, market["market_factory_address"], market["market_address"])
    assert [m["id"] for m in (await firm.get("/markets"))["markets"]] == [market["id"]]
    assert [m["id"] for m in (await firm.get(path, params={"status": "active"}))["markets"]] == [market["id"]]


@pytest.mark.long
async def test_market_on_another_chain_is_bridged_first(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, HYPEREVM)
    asset = await firm.asset(required_kyc_level=1)
    path = f"/assets/{asset['id']}/markets"
    accepted = await firm.post(path, await firm.market_body(HYPEREVM))
    assert accepted["status"] == "pending_bridge"
    request = await firm.succeed(accepted["requestId"])
    steps = steps_of(request)
    assert list(steps) == BRIDGED
    assert all(s["status"] == "succeeded" and s["tx_hash"] and s["chain_name"] for s in steps.values())
    assert [s["chain_eid"] for s in steps.values()] == [HYPEREVM, SEPOLIA, HYPEREVM, HYPEREVM, HYPEREVM, HYPEREVM]
    market = await firm.get(f"{path}/{accepted['marketId']}")
    bridge = await firm.get(f"/bridges/{market['bridge_id']}")
    assert (market["status"], bridge["status"], bridge["amount"]) == ("active", "confirmed", "0")
    assert (bridge["source_chain_eid"], bridge["destination_chain_eid"]) == (SEPOLIA, HYPEREVM)
    assert bridge["source_tx_hash"] == steps["bridge_submitting"]["tx_hash"]
    assert bridge["destination_tx_hash"] == steps["bridge_confirmed"]["tx_hash"]
    assert steps["bridge_submitting"]["detail"] == f"Packet {shortened(bridge['guid'])}"
    assert bridge["checked_at"]
    assert bridge["request_id"] == request["id"]
    asset = await firm.get(f"/assets/{asset['id']}")
    there = next(d for d in asset["deployments"] if d["chain_eid"] == HYPEREVM)
    assert (there["status"], there["supply"], there["token_address"]) == ("active", "0", market["rwa_token_address"])
    assert (await token.rules(HYPEREVM, there["token_address"])).min_kyc_level == 1


async def test_market_on_another_chain_gets_the_bridged_amount_to_sell(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, HYPEREVM)
    asset = await firm.asset(initial_supply=str(50 * 10**18))
    path, body = f"/assets/{asset['id']}/markets", await firm.market_body(HYPEREVM, bridge_amount=str(20 * 10**18))
    plan = await firm.post(f"{path}?dry_run=true", body)
    packet = next(step["detail"] for step in plan["steps"] if step["name"] == "bridge_submitting")
    assert packet.startswith(f"One message with the rules and 20 {asset['symbol']}")
    accepted = await firm.post(path, body)
    await firm.succeed(accepted["requestId"])
    market = await firm.get(f"{path}/{accepted['marketId']}")
    assert (await firm.get(f"/bridges/{market['bridge_id']}"))["amount"] == str(20 * 10**18)
    treasury = (await firm.treasury())["address"]
    assert await token.balance_of(HYPEREVM, market["rwa_token_address"], treasury) == 20 * 10**18


async def test_amount_to_bridge_is_checked_at_its_field(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, HYPEREVM)
    asset = await firm.asset(initial_supply=str(50 * 10**18))
    path = f"/assets/{asset['id']}/markets"
    cases = [
        (HYPEREVM, 1, 400, "/bridge_amount", "Amounts cross with 6 decimals"),
        (SEPOLIA, 10**18, 400, "/bridge_amount", "already on this chain"),
        (HYPEREVM, 51 * 10**18, 409, None, "the amount is 51"),
    ]
    for eid, amount, status, pointer, words in cases:
        with pytest.raises(ApiProblem) as refused:
            await firm.post(path, await firm.market_body(eid, bridge_amount=str(amount)))
        problem = refused.value
        said = problem.errors[0] if problem.errors else {"pointer": None, "detail": problem.detail}
        assert (problem.status, said["pointer"]) == (status, pointer)
        assert words in said["detail"]


@pytest.mark.long
async def test_deployment_killed_at_any_moment_resumes_and_deploys_once(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, HYPEREVM)
    asset = await firm.asset(initial_supply="0", max_holders=10)
    before = await sent(firm.id)
    with unqueued():
        accepted = await firm.post(f"/assets/{asset['id']}/markets", await firm.market_body(HYPEREVM))
    kills = 0
    while await killed(workflow.deploy, firm.id, accepted["requestId"], kills % 2 + 1):
        kills += 1
    request = await firm.get(f"/requests/{accepted['requestId']}")
    assert request["status"] == "succeeded", request
    assert kills > 12
    assert all(s["tx_hash"] for s in request["steps"])
    made = await sent(firm.id)
    for label in before:
        made.remove(label)
    symbol = asset["symbol"]
    assert made == sorted(
        [
            f"deploy {symbol}",
            "set rules",
            "set peer",
            "set peer",
            f"bridge {symbol}",
            "create market",
            "allow market",
        ]
    )
    market = await firm.get(f"/assets/{asset['id']}/markets/{accepted['marketId']}")
    assert market["status"] == "active"

    await run(workflow.deploy, workflow.deploy_failed, firm.id, accepted["requestId"])
    assert await firm.get(f"/assets/{asset['id']}/markets/{accepted['marketId']}") == market


@pytest.mark.long
async def test_deployment_workflow_run_twice_changes_nothing(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    market = await firm.market(asset, BASE)
    before, request = await sent(firm.id), await firm.get(f"/requests/{market['request_id']}")
    again = Run(firm.id, UUID(request["id"]), UUID(market["id"]), {}, 1)
    await workflow.deploy(again)
    assert await sent(firm.id) == before
    after = await firm.get(f"/assets/{asset['id']}/markets/{market['id']}")
    assert {**after, "updated_at": ""} == {**market, "updated_at": ""}
    assert (await firm.get(f"/requests/{market['request_id']}"))["steps"] == request["steps"]


@pytest.mark.long
async def test_failed_bridge_fails_the_market_and_a_retry_resumes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Issuance.ready(world, SEPOLIA, HYPEREVM)
    asset = await firm.asset()

    async def refuse(*_: Any) -> Delivery:
        return Delivery(DeliveryStatus.REFUSED, reason="The token is paused.", code=1)

    with monkeypatch.context() as broken:
        broken.setattr(relayer, "deliver", refuse)
        broken.setattr(delivery, "PAUSES", (0.0, 0.0))
        accepted = await firm.post(f"/assets/{asset['id']}/markets", await firm.market_body(HYPEREVM))
        request = await firm.fail(accepted["requestId"])
    path = f"/assets/{asset['id']}/markets/{accepted['marketId']}"
    market = await firm.get(path)
    bridge = await firm.get(f"/bridges/{market['bridge_id']}")
    assert (market["status"], market["failure"]) == ("failed", "The token is paused.")
    assert (bridge["status"], bridge["failure"]) == ("failed", "The token is paused.")
    assert (request["can_retry"], request["problem"]["detail"]) == (True, "The token is paused.")
    assert request["problem"]["resolution"]["title"] == "Open the bridge"
    assert request["problem"]["resolution"]["path"] == f"/orgs/{firm.id}/bridges/{bridge['id']}"
    assert [s["status"] for s in request["steps"]] == [
        "succeeded",
        "succeeded",
        "failed",
        "waiting",
        "waiting",
        "waiting",
    ]

    before = await sent(firm.id)
    assert (await firm.retry(accepted["requestId"]))["status"] == "succeeded"
    market, bridge = await firm.get(path), await firm.get(f"/bridges/{market['bridge_id']}")
    assert (market["status"], market["failure"], bridge["status"], bridge["failure"]) == (
        "active",
        None,
        "confirmed",
        None,
    )
    assert len(await sent(firm.id)) == len(before) + 2


@pytest.mark.long
async def test_failed_market_does_not_block_another(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    path = f"/assets/{asset['id']}/markets"

    async def other(*_: Any) -> bool:
        return False

    with monkeypatch.context() as broken:
        broken.setattr(token, "is_venue", other)
        accepted = await firm.post(path, await firm.market_body())
        await firm.fail(accepted["requestId"])
    await firm.market(asset)
    refused = await firm.retry(accepted["requestId"])
    assert (refused["status"], refused["problem"]["status"]) == ("failed", 409)
    assert sorted(m["status"] for m in (await firm.get(path))["markets"]) == ["active", "failed"]
    await firm.refused("POST", path, 409, json=await firm.market_body())


@pytest.mark.long
async def test_deployment_plan_changes_nothing(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, HYPEREVM)
    asset = await firm.asset(regulation_type="reg_d", compliance_rules={"requires_accreditation": True})
    await firm.trader(HYPEREVM, accredited=True)
    await firm.trader(HYPEREVM, accredited=False)
    path = f"/assets/{asset['id']}/markets"
    plan = await firm.post(path, await firm.market_body(HYPEREVM, max_holders=7), params={"dry_run": "true"})
    assert [s["name"] for s in plan["steps"]] == BRIDGED
    gas = {s["name"]: s["gas_estimate"] for s in plan["steps"]}
    assert gas["bridge_pending"] > 2_000_000
    assert gas["market_created"] > 1_000_000
    impact = plan["impact"]
    assert (impact["will_bridge"], impact["source_chain_eid"], impact["eligible_parties"]) == (True, SEPOLIA, 1)
    assert [cost["chain_eid"] for cost in impact["costs"]] == [HYPEREVM, SEPOLIA], "in the order of the steps"
    assert all(int(cost["amount"]) > 0 and cost["currency"] for cost in impact["costs"])
    assert (impact["rules"]["regulation_type"], impact["rules"]["max_holders"]) == ("reg_d", "7")
    assert impact["rules"]["requires_accreditation"] == "true"
    assert impact["warnings"] == []
    here = await firm.post(path, await firm.market_body(SEPOLIA), params={"dry_run": "true"})
    assert [s["name"] for s in here["steps"]] == ["market_created", "market_active"]
    assert "estimated by the node" in here["steps"][0]["detail"]
    assert any("None of the 2 parties" in w for w in here["impact"]["warnings"])
    assert (await firm.get("/markets"))["markets"] == []
    assert (await firm.get("/bridges"))["bridges"] == []


@pytest.mark.long
async def test_market_halted_on_chain_is_halted_in_the_api(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    market = await firm.market(asset)
    path = f"/assets/{asset['id']}/markets/{market['id']}"
    await firm.owner_call(contract.halt(market["market_address"], True))
    assert (await firm.get(path))["status"] == "halted"
    body = {
        "side": "sell",
        "price": "1000000",
        "amount": "1000000000000000000",
        "wallet_id": (await firm.treasury())["id"],
    }
    await firm.refused("POST", f"{path}/orders", 409, json=body)
    await firm.owner_call(contract.halt(market["market_address"], False))
    assert (await firm.get(path))["status"] == "active"


@pytest.mark.long
async def test_factory_of_another_owner_is_rejected_by_name(world: World) -> None:
    """It would create markets that take the tokens and the money of their traders."""
    firm = await Issuance.ready(world, SEPOLIA)
    asset, treasury, ours = await firm.asset(), (await firm.treasury())["address"], await contracts_of(SEPOLIA)
    foreign = creation("MarketFactory", treasury, treasury, ours.quote_token)
    made = await execute(foreign.intent(f"factory:{asset['id']}", eid=SEPOLIA, signer=treasury))
    body = await firm.market_body() | {"market_factory_address": made.created}
    problem = await firm.refused("POST", f"/assets/{asset['id']}/markets", 400, json=body)
    assert ours.market_factory in problem.by_field()["market_factory_address"]
    assert (await firm.get("/markets"))["markets"] == []


def test_market_event_of_another_contract_in_the_receipt_is_ignored() -> None:
    own, foreign, currency = ("0x" + digit * 40 for digit in "123")
    rest = {"token": currency, "quote": currency, "owner": currency, "feeCollector": currency}
    logs = [
        log_of("MarketFactory", "MarketCreated", at, (1, index), market=market, takerFeeBps=0, makerFeeBps=0, **rest)
        for index, (at, market) in enumerate([(foreign, "0x" + "4" * 40), (own, "0x" + "5" * 40)])
    ]
    assert factory.created(receipt(*logs), own) == "0x" + "5" * 40
    with pytest.raises(MissingEvent):
        factory.created(receipt(logs[0]), own)


def receipt(*logs: Log) -> Outcome:
    return Outcome("0x" + "6" * 64, 1, "0x" + "7" * 64, None, logs)


@pytest.mark.long
async def test_deployment_with_bad_input_is_rejected_at_its_field_and_writes_nothing(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, HYPEREVM)
    asset = await firm.asset()
    at = asset["deployments"][0]["token_address"]
    contracts = await contracts_of(SEPOLIA)
    nobody = "0x52908400098527886E0F7030069857D2E4169EE7"
    bad: list[tuple[dict[str, Any], int, str]] = [
        ({"chain_eid": 49_999}, 400, "chain_eid"),
        ({"chain_eid": 40362.5}, 422, "chain_eid"),
        ({"chain_eid": "abc"}, 422, "chain_eid"),
        ({"chain_eid": 40168}, 400, "chain_eid"),
        ({"chain_eid": 30101}, 400, "chain_eid"),
        ({"market_factory_address": nobody}, 400, "market_factory_address"),
        ({"market_factory_address": contracts.registry}, 400, "market_factory_address"),
        ({"market_factory_address": at}, 400, "market_factory_address"),
        ({"market_factory_address": "0x12"}, 422, "market_factory_address"),
        ({"market_factory_address": nobody.replace("E", "e")}, 422, "market_factory_address"),
        ({"market_factory_address": "<b>"}, 422, "market_factory_address"),
        ({"rwa_token_address": nobody}, 400, "rwa_token_address"),
        ({"taker_fee_bps": 10_001}, 422, "taker_fee_bps"),
        ({"maker_fee_bps": -1}, 422, "maker_fee_bps"),
        ({"taker_fee_bps": 6_000, "maker_fee_bps": 6_000}, 400, "taker_fee_bps"),
        ({"lockup_end_time": 1_000_000}, 400, "lockup_end_time"),
        ({"lockup_end_time": 2**60}, 422, "lockup_end_time"),
        ({"max_tokens_per_holder": str(2**256)}, 422, "max_tokens_per_holder"),
        ({"max_tokens_per_holder": "1.5"}, 422, "max_tokens_per_holder"),
        ({"max_holders": 2**32}, 422, "max_holders"),
        ({"min_kyc_level": 256}, 422, "min_kyc_level"),
        ({"blocked_countries": ["ZZZ"]}, 422, "blocked_countries"),
        ({"blocked_countries": ["usa"]}, 422, "blocked_countries"),
        ({"regulation_type": "<script>"}, 422, "regulation_type"),
        ({"fee": 1}, 422, "fee"),
    ]
    path = f"/assets/{asset['id']}/markets"
    for change, status, field in bad:
        for query in ({}, {"dry_run": "true"}):
            problem = await firm.refused("POST", path, status, json=await firm.market_body() | change, params=query)
            assert field in problem.by_field(), (change, problem)
    body = await firm.market_body()
    del body["chain_eid"]
    assert "chain_eid" in (await firm.refused("POST", path, 422, json=body)).by_field()
    elsewhere = await firm.market_body(HYPEREVM, rwa_token_address=at)
    await firm.refused("POST", path, 400, json=elsewhere)
    await firm.refused(
        "POST", "/assets/0199f4c2-0000-7000-8000-000000000000/markets", 404, json=await firm.market_body()
    )
    assert (await firm.get("/markets"))["markets"] == []
    assert (await firm.get("/bridges"))["bridges"] == []
    assert not [r for r in (await firm.get("/requests"))["requests"] if r["kind"].startswith("market")]


@pytest.mark.long
async def test_wallet_without_funds_is_named(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, HYPEREVM)
    asset = await firm.asset()
    wallet = await firm.treasury()
    path = f"/assets/{asset['id']}/markets"
    for drained, target in ((HYPEREVM, HYPEREVM), (SEPOLIA, HYPEREVM), (SEPOLIA, SEPOLIA)):
        await anvil.fund(drained, wallet["address"], 0)
        problem = await firm.refused("POST", path, 409, json=await firm.market_body(target))
        name = (await firm.chain(drained))["display_name"]
        assert wallet["address"] in problem.detail
        assert wallet["label"] in problem.detail
        assert name in problem.detail
        await anvil.fund(drained, wallet["address"])
    assert (await firm.get("/markets"))["markets"] == []
