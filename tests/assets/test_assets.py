"""Assets: deploy, read, list, archive."""

import secrets

import pytest

from backend.assets.models import AssetRow
from backend.assets.schemas import AssetStatus
from backend.auth.scopes import Scope
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import registry, token
from backend.chain.deployment.contracts import contracts_of
from backend.client import ApiProblem
from backend.core import db
from backend.core.fields import RegulationType
from tests.conftest import World
from tests.support.firm import SEPOLIA, Firm
from tests.support.issuance import UNIT, Issuance, asset_body, steps_of


async def test_asset_is_active_after_the_chain_confirms(world: World) -> None:
    above = await world.organization("Group")
    firm = await Issuance.ready(world, SEPOLIA, parent=above)
    body = asset_body(
        regulation_type="reg_s",
        required_kyc_level=1,
        max_holders=100,
        org_only=True,
        compliance_rules={"blocked_countries": ["USA", "PRK"], "max_tokens_per_holder": "5000"},
    )
    accepted = await firm.post("/assets", body)
    assert (accepted["accepted"], accepted["status"]) == (True, "deploying")
    request = await firm.succeed(accepted["requestId"])
    steps = steps_of(request)
    assert list(steps) == ["token_created", "rules_set", "supply_minted", "asset_active"]
    assert all(s["status"] == "succeeded" for s in steps.values())
    assert all(steps[n]["tx_hash"] for n in ("token_created", "rules_set", "supply_minted"))

    asset = await firm.get(f"/assets/{accepted['assetId']}")
    (deployment,) = asset["deployments"]
    assert (asset["status"], asset["total_supply"], deployment["supply"]) == (
        "active",
        body["initial_supply"],
        body["initial_supply"],
    )
    assert (deployment["status"], deployment["tx_hash"]) == ("active", steps["token_created"]["tx_hash"])
    at = deployment["token_address"]
    assert await token.rules(SEPOLIA, at) == TokenRules(
        regulation_type=RegulationType.REG_S,
        min_kyc_level=1,
        blocked_countries=("PRK", "USA"),
        max_holders=100,
        max_tokens_per_holder=5000,
        org_only=True,
    )
    treasury = (await firm.treasury())["address"]
    assert await token.treasury(SEPOLIA, at) == await token.owner(SEPOLIA, at) == treasury
    contracts = await contracts_of(SEPOLIA)
    assert int(await registry.parent_of(SEPOLIA, contracts.registry, firm.id), 16) != 0

    holders = (await firm.get(f"/assets/{asset['id']}/holders"))["holders"]
    assert [(h["address"], h["balance"], h["is_treasury"]) for h in holders] == [
        (treasury, body["initial_supply"], True)
    ]


@pytest.mark.long
async def test_assets_are_paged_and_visible_to_their_organization_only(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    made = [await firm.asset(initial_supply="0") for _ in range(3)]
    first = await firm.get("/assets", params={"limit": "2"})
    rest = await firm.get("/assets", params={"limit": "2", "cursor": first["nextCursor"]})
    assert [a["id"] for a in first["assets"] + rest["assets"]] == [a["id"] for a in reversed(made)]
    assert rest["nextCursor"] is None
    assert first["assets"][0]["deployments"][0]["supply"] is None
    other = await Firm.found(world, "Other")
    assert (await other.get("/assets"))["assets"] == []
    await other.refused("GET", f"/assets/{made[0]['id']}", 404)
    with pytest.raises(ApiProblem) as foreign:
        await other.admin.call("GET", f"{firm.base}/assets")
    assert foreign.value.status == 403
    narrow = await world.key(firm.id, Scope.ASSETS_READ)
    with pytest.raises(ApiProblem) as lacking:
        await world.client.call("POST", f"{firm.base}/assets", json=asset_body(), headers=narrow)
    assert lacking.value.type.endswith("/errors/insufficient-scope")


@pytest.mark.long
async def test_cap_table_counts_tokens_in_markets_for_their_sellers(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    market = await firm.market(asset)
    trader = await firm.trader()
    at = asset["deployments"][0]["token_address"]
    await firm.owner_call(token.transfer(at, trader["address"], 30 * UNIT))
    await firm.order(market, trader, "sell", 10 * 10**6, 20 * UNIT)
    path = f"/assets/{asset['id']}/holders"
    holders = (await firm.get(path))["holders"]
    assert [(h["address"], h["balance"]) for h in holders] == [
        ((await firm.treasury())["address"], str(970 * UNIT)),
        (trader["address"], str(30 * UNIT)),
    ]
    assert (holders[1]["party_name"], holders[1]["is_treasury"]) == ("Marta Lindqvist", False)
    first = await firm.get(path, params={"limit": "1"})
    second = await firm.get(path, params={"limit": "1", "cursor": first["nextCursor"]})
    assert [h["balance"] for h in first["holders"] + second["holders"]] == [str(970 * UNIT), str(30 * UNIT)]
    assert second["nextCursor"] is None
    await firm.refused("GET", path, 400, params={"cursor": "nonsense"})
    async with db.worker() as session:
        other = AssetRow(organization_id=firm.id, name="Other", symbol="OTHER", status=AssetStatus.DRAFT)
        session.add(other)
    await firm.refused("GET", path.replace(asset["id"], str(other.id)), 422, params={"cursor": first["nextCursor"]})


@pytest.mark.long
async def test_asset_that_never_reached_a_chain_is_archived_and_frees_its_symbol(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    live = await firm.asset()
    await firm.refused("DELETE", f"/assets/{live['id']}", 409)
    async with db.worker() as session:
        draft = AssetRow(organization_id=firm.id, name="Draft", symbol="DRAFT", status=AssetStatus.DRAFT)
        session.add(draft)
    assert await firm.delete(f"/assets/{draft.id}") is None
    assert (await firm.get(f"/assets/{draft.id}"))["status"] == "archived"
    assert [a["id"] for a in (await firm.get("/assets"))["assets"]] == [live["id"]]
    assert [a["symbol"] for a in (await firm.get("/assets", params={"status": "archived"}))["assets"]] == ["DRAFT"]
    await firm.asset(symbol="DRAFT")
    await firm.refused("DELETE", f"/assets/{draft.id}", 409)


BAD = [
    ({"chain_eid": 49_999}, 400, "chain_eid"),
    ({"chain_eid": 40362.5}, 422, "chain_eid"),
    ({"chain_eid": 30101}, 400, "chain_eid"),
    ({"chain_eid": 40168}, 400, "chain_eid"),
    ({"chain_eid": "40161"}, 422, "chain_eid"),
    ({"name": "<script>alert(1)</script>"}, 422, "name"),
    ({"name": ""}, 422, "name"),
    ({"description": "<img src=x onerror=alert(1)>"}, 422, "description"),
    ({"symbol": "<b>"}, 422, "symbol"),
    ({"initial_supply": str(2**64 * 10**12)}, 400, "initial_supply"),
    ({"initial_supply": str(2**256)}, 422, "initial_supply"),
    ({"initial_supply": "-1"}, 422, "initial_supply"),
    ({"initial_supply": 5}, 422, "initial_supply"),
    ({"decimals": 5}, 422, "decimals"),
    ({"required_kyc_level": 256}, 422, "required_kyc_level"),
    ({"max_holders": 2**32}, 422, "max_holders"),
    ({"compliance_rules": {"blocked_countries": ["ZZZ"]}}, 422, "compliance_rules"),
    ({"compliance_rules": {"lockup_end_time": 1}}, 400, "compliance_rules"),
    ({"compliance_rules": {"trusted_issuers": ["0xnonsense"]}}, 422, "compliance_rules"),
    ({"owner": "me"}, 422, "owner"),
]


async def test_asset_with_bad_input_is_rejected_at_its_field_and_writes_nothing(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    for change, status, field in BAD:
        problem = await firm.refused("POST", "/assets", status, json=asset_body(**change))
        assert field in problem.by_field(), (change, problem)
    assert (await firm.get("/assets"))["assets"] == []
    assert not [r for r in (await firm.get("/requests"))["requests"] if r["kind"].startswith("asset")]


@pytest.mark.long
async def test_asset_creation_with_a_taken_symbol_or_no_wallet_is_rejected(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    symbol = "TWICE" + secrets.token_hex(2).upper()
    await firm.asset(symbol=symbol)
    await firm.refused("POST", "/assets", 409, json=asset_body(symbol=symbol))
    poor = await Firm.found(world, "Poor")
    await poor.enable(SEPOLIA)
    problem = await poor.refused("POST", "/assets", 409, json=asset_body())
    assert "no default server wallet" in problem.detail


async def test_asset_creation_without_a_wallet_names_the_call_that_creates_one(world: World) -> None:
    firm = await Firm.found(world, "Bare")
    await firm.enable(SEPOLIA)
    problem = await firm.refused("POST", "/assets", 409, json=asset_body())
    assert problem.dependencyChain == ["chain_enabled", "server_wallet_exists"]
    enabled, missing = problem.prerequisites
    assert enabled["satisfied"] is True
    assert (missing["state"], missing["satisfied"]) == ("server_wallet_exists", False)
    call = missing["resolution"]
    (label,) = call["body"]["properties"]["label"]["examples"]
    await firm.admin.call(call["method"], call["path"], json={"label": label})
    assert (await firm.post("/assets", asset_body()))["accepted"] is True


async def test_asset_creation_without_chain_and_wallet_names_both_prerequisites(world: World) -> None:
    firm = await Firm.found(world, "Bare")
    problem = await firm.refused("POST", "/assets", 409, json=asset_body())
    assert problem.dependencyChain == ["chain_enabled", "server_wallet_exists"]
    assert [entry["satisfied"] for entry in problem.prerequisites] == [False, False]
