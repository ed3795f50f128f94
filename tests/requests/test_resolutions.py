"""A failed request names the call that removes the cause, as a refusal before acceptance does."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from backend.bridges import delivery
from backend.chain.abi.restrictions import RESTRICTIONS
from backend.chain.bindings import token
from backend.chain.errors import Reverted
from backend.failures import rules
from backend.failures.rules import Person, Place
from backend.markets import orders_workflow
from backend.requests.schemas import Request
from backend.transfers import workflow
from state.requests.fixes import Fix, fix_of
from tests.bridges.delivery import bridged
from tests.conftest import World
from tests.support.crash import run, unqueued
from tests.support.firm import BASE, SEPOLIA
from tests.support.issuance import UNIT, Issuance, orders_path

DOCUMENT = Path(__file__).parents[2] / "backend" / "openapi.json"
ORGANIZATION, ASSET, PARTY = uuid4(), uuid4(), uuid4()
PLACE = Place(ORGANIZATION, ASSET, "NREF", SEPOLIA, {SEPOLIA: "Sepolia", BASE: "Base"}, amount=5)
ALDER = Person("0x52908400098527886E0F7030069857D2E4169EE7", "Alder Family Office", PARTY)


def of_code(code: int, person: Person | None = ALDER) -> dict[str, Any]:
    name = "MarketRestricted" if code >= 32 else "TransferRestricted"
    found = rules.resolution(Reverted("No.", name=name, code=code), PLACE, person)
    assert found is not None
    return found


def test_every_restriction_has_the_call_and_words_of_a_refusal_and_a_title_for_its_button() -> None:
    paths = json.loads(DOCUMENT.read_text())["paths"]
    for code in filter(None, RESTRICTIONS):
        found = of_code(code)
        assert found["description"] == RESTRICTIONS[code].resolution
        assert ("title" in found) == (found["path"] is not None), code
        if found["path"]:
            template = f"/v1{found['path']}".replace(str(ORGANIZATION), "{orgId}").replace(str(ASSET), "{assetId}")
            assert found["method"].lower() in paths[template], template


def test_known_party_and_account_are_values_of_the_call() -> None:
    attest = of_code(9)
    assert attest["title"] == "Attest Alder Family Office on Sepolia"
    assert attest["body"]["properties"] == {"party_id": {"const": str(PARTY)}, "chain_eid": {"const": SEPOLIA}}
    assert of_code(9, Person(ALDER.address))["title"] == "Register 0x5290…9EE7 as a party"
    assert "const" not in of_code(9, Person(ALDER.address))["body"]["properties"]["party_id"]
    unfreeze = of_code(5)
    assert unfreeze["title"] == "Unfreeze Alder Family Office on Sepolia"
    assert unfreeze["body"]["properties"]["address"] == {"const": ALDER.address}
    assert of_code(11)["title"] == "Verify Alder Family Office again"
    assert of_code(14)["title"] == "Raise the maximum holders of NREF"


def test_account_of_a_refusal_is_the_one_that_its_rule_is_about() -> None:
    moved = {"from": "0xFrom", "to": "0xTo"}
    named = {
        code: rules.account_of(Reverted("No.", name="TransferRestricted", code=code, arguments={"code": code, **moved}))
        for code in (5, 7, 9, 14)
    }
    assert named == {5: "0xFrom", 7: "0xFrom", 9: "0xTo", 14: "0xTo"}
    assert rules.account_of(Reverted("No.", code=33, arguments={"account": "0xTrader"})) == "0xTrader"


def test_closed_bridge_path_is_resumed_or_its_limit_raised() -> None:
    paused = rules.resolution(Reverted("No.", name="PathPaused", arguments={"eid": BASE}), PLACE, None)
    assert paused is not None
    assert paused["title"] == "Resume the path between Sepolia and Base"
    assert paused["path"].endswith("/unpause-path")
    limited = rules.resolution(Reverted("No.", name="PathLimited", arguments={"eid": BASE}), PLACE, None)
    assert limited is not None
    assert limited["body"]["properties"]["amount"]["examples"] == ["5"]
    assert rules.resolution(Reverted("No.", name="PathPaused", arguments={"eid": 1}), PLACE, None) is None
    assert rules.resolution(Reverted("No.", name="AlreadyReturned"), PLACE, None) is None
    attester = rules.resolution(Reverted("No.", name="NotAttester"), PLACE, None)
    assert attester is not None
    assert attester["path"].endswith("/issuer/register")


@pytest.mark.long
async def test_failed_transfer_names_the_call_that_unpauses_or_unfreezes(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, treasury = await firm.asset(), await firm.treasury()
    trader, place = await firm.trader(), str(asset["deployments"][0]["token_address"])
    body = {
        "asset_id": asset["id"], "chain_eid": SEPOLIA, "from_wallet_id": treasury["id"],
        "to_address": trader["address"], "amount": str(UNIT),
    }  # fmt: skip
    chain = (await firm.chain(SEPOLIA))["display_name"]

    async def failed(cause: Any) -> Any:
        with unqueued():
            accepted = await firm.post("/transfers", body)
        await firm.owner_call(cause)
        await run(workflow.send, workflow.send_failed, firm.id, accepted["requestId"])
        return (await firm.get(f"/requests/{accepted['requestId']}"))["problem"]

    problem = await failed(token.pause(place))
    assert problem["detail"] == "The token is paused."
    assert problem["resolution"]["path"] == f"/orgs/{firm.id}/assets/{asset['id']}/unpause"
    assert problem["resolution"]["href"].endswith(problem["resolution"]["path"])
    assert problem["resolution"]["title"] == f"Unpause {asset['symbol']} on {chain}"
    assert problem["resolution"]["body"]["properties"]["chain_eid"] == {"const": SEPOLIA}

    await firm.owner_call(token.unpause(place))
    problem = await failed(token.set_frozen(place, treasury["address"], 2**255))
    assert problem["resolution"]["path"] == f"/orgs/{firm.id}/assets/{asset['id']}/unfreeze"
    assert problem["resolution"]["body"]["properties"]["address"] == {"const": treasury["address"]}
    assert problem["resolution"]["title"] == f"Unfreeze {treasury['label']} on {chain}"


async def test_failed_request_says_when_its_cause_is_gone(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, trader = await firm.asset(), await firm.trader()
    place, market = str(asset["deployments"][0]["token_address"]), await firm.market(asset)
    await firm.transfer(asset, trader["address"], 10 * UNIT)
    treasury = (await firm.treasury())["address"]
    transfer = {
        "asset_id": asset["id"], "chain_eid": SEPOLIA, "from_wallet_id": trader["id"], "to_address": treasury,
        "amount": str(UNIT),
    }  # fmt: skip
    order = {"side": "sell", "price": str(10**6), "amount": str(UNIT), "wallet_id": trader["id"]}
    frozen = token.set_frozen(place, trader["address"], 10 * UNIT)
    free = token.set_frozen(place, trader["address"], 0)
    for path, body, send, on_failure, cause, removal in (
        ("/transfers", transfer, workflow.send, workflow.send_failed, token.pause(place), token.unpause(place)),
        ("/transfers", transfer, workflow.send, workflow.send_failed, frozen, free),
        (orders_path(market), order, orders_workflow.place, orders_workflow.place_failed, frozen, free),
    ):
        with unqueued():
            accepted = await firm.post(path, body)
        await firm.owner_call(cause)
        await run(send, on_failure, firm.id, accepted["requestId"])
        request = f"/requests/{accepted['requestId']}"
        shown = await firm.get(request)
        assert (shown["status"], shown["cause_is_gone"]) == ("failed", False)
        assert fix_of(Request.model_validate(shown)).label.startswith(("Unpause", "Unfreeze")), shown["problem"]
        await firm.owner_call(removal)
        shown = await firm.get(request)
        assert shown["cause_is_gone"], shown["problem"]
        assert fix_of(Request.model_validate(shown)) == Fix(words="The cause is gone: try again.")
        assert (await firm.retry(accepted["requestId"]))["status"] == "succeeded"
        assert not (await firm.get(request))["cause_is_gone"]


@pytest.mark.long
async def test_refused_delivery_names_the_attestation_and_a_market_its_failed_bridge(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "PAUSES", (0.0, 0.0))
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset, wallet = await firm.asset(), await firm.post("/wallets", {"label": "Investor"})
    party = await firm.verified(wallet["address"])
    await firm.attest(party, SEPOLIA)
    accepted = await bridged(firm, asset, BASE, 50 * UNIT, to_address=wallet["address"])
    assert (await firm.get(f"/bridges/{accepted['bridgeId']}"))["to_name"] == party["name"]
    problem = (await firm.fail(accepted["requestId"]))["problem"]
    chain = (await firm.chain(BASE))["display_name"]
    assert problem["resolution"]["title"] == f"Attest {party['name']} on {chain}"
    (listed,) = (await firm.get("/bridges"))["bridges"]
    assert listed["can_retry"]

    fields = {name: field["const"] for name, field in problem["resolution"]["body"]["properties"].items()}
    assert problem["resolution"]["path"] == f"/orgs/{firm.id}/attestations"
    assert not (await firm.get(f"/requests/{accepted['requestId']}"))["cause_is_gone"]
    await firm.succeed((await firm.post("/attestations", fields))["requestId"])
    shown = await firm.get(f"/requests/{accepted['requestId']}")
    assert shown["cause_is_gone"], shown["problem"]
    assert (await firm.retry(accepted["requestId"]))["status"] == "succeeded"
    assert not (await firm.get(f"/bridges/{accepted['bridgeId']}"))["can_retry"]

    async def refused(*_: Any) -> None:
        raise delivery.DeliveryRefused("The packet was not delivered in time.")

    other = await firm.asset()
    monkeypatch.setattr(delivery, "_delivered", refused)
    accepted = await firm.post(f"/assets/{other['id']}/markets", await firm.market_body(BASE))
    problem = (await firm.fail(accepted["requestId"]))["problem"]
    market = await firm.get(f"/assets/{other['id']}/markets/{accepted['marketId']}")
    assert problem["resolution"]["title"] == "Open the bridge"
    assert problem["resolution"]["path"] == f"/orgs/{firm.id}/bridges/{market['bridge_id']}"
