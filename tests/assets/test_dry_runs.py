"""Dry runs on assets and their records: every check, the plan, and no change."""

from typing import Any

import pytest

from backend.core import db
from backend.models import AssetRow
from tests.conftest import World
from tests.support.firm import HYPEREVM, SEPOLIA
from tests.support.issuance import UNIT, Issuance, asset_body, orders_path

DRY = {"dry_run": "true"}


async def count(firm: Issuance) -> int:
    """Return the number of requests so far."""
    return len((await firm.get("/requests", params={"limit": 100}))["requests"])


@pytest.mark.long
async def test_asset_creation_dry_run_returns_its_plan(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    before, body = await count(firm), asset_body(required_kyc_level=2)
    plan = await firm.post("/assets", body, params=DRY)
    assert plan["steps"][0].startswith("Create the token on")
    assert plan["impact"]["owner"] == (await firm.treasury())["address"]
    assert plan["impact"]["rules"]["required_kyc_level"] == 2
    await firm.refused("POST", "/assets", 409, json=body | {"chain_eid": HYPEREVM}, params=DRY)
    await firm.refused("POST", "/assets", 422, json=body | {"symbol": ""}, params=DRY)
    assert ((await firm.get("/assets"))["assets"], await count(firm)) == ([], before)
    asset = await firm.asset(symbol=body["symbol"])
    await firm.refused("POST", "/assets", 409, json=body, params=DRY)
    await firm.refused("DELETE", f"/assets/{asset['id']}", 409, params=DRY)


async def test_asset_archive_dry_run_returns_its_plan(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    async with db.worker() as session:
        row = AssetRow(organization_id=firm.id, name="Draft", symbol="DRAFT")
        session.add(row)
    plan = await firm.delete(f"/assets/{row.id}", params=DRY)
    assert plan["impact"] == {"symbol": "DRAFT", "before": "draft", "after": "archived"}
    assert (await firm.get(f"/assets/{row.id}"))["status"] == "draft"
    assert await firm.delete(f"/assets/{row.id}") is None
    assert (await firm.get(f"/assets/{row.id}"))["status"] == "archived"


@pytest.mark.long
async def test_bridge_transfer_and_order_dry_runs_return_their_plans(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, HYPEREVM)
    asset, treasury = await firm.asset(max_holders=10), await firm.treasury()
    market = await firm.market(asset)
    trader = await firm.trader()
    before = await count(firm)
    bridge = {"destination_chain_eid": HYPEREVM, "amount": str(5 * UNIT)}
    plan = await firm.post(f"/assets/{asset['id']}/bridge", bridge, params=DRY)
    assert (plan["impact"]["deploys_token"], len(plan["impact"]["warnings"])) == (True, 1)
    assert [step.split()[0] for step in plan["steps"]] == ["Deploy", "Change", "Send", "Deliver"]
    same = bridge | {"destination_chain_eid": SEPOLIA}
    await firm.refused("POST", f"/assets/{asset['id']}/bridge", 409, json=same, params=DRY)
    transfer: dict[str, Any] = {
        "asset_id": asset["id"],
        "chain_eid": SEPOLIA,
        "from_wallet_id": treasury["id"],
        "to_address": trader["address"],
        "amount": str(7 * UNIT),
    }
    plan = await firm.post("/transfers", transfer, params=DRY)
    assert [(c["before"], c["after"]) for c in plan["impact"]["changes"]] == [
        (str(1000 * UNIT), str(993 * UNIT)),
        ("0", str(7 * UNIT)),
    ]
    order = {"side": "buy", "price": "2000000", "amount": str(UNIT), "wallet_id": trader["id"]}
    plan = await firm.post(orders_path(market), order, params=DRY)
    assert int(plan["impact"]["amount"]) >= 2_000_000
    await firm.refused("POST", orders_path(market), 400, json=order | {"amount": "0"}, params=DRY)
    assert await count(firm) == before
    assert (await firm.get(orders_path(market)))["orders"] == []
    placed = await firm.order(market, trader, "buy", 2_000_000, UNIT)
    plan = await firm.delete(f"{orders_path(market)}/{placed['id']}", params=DRY)
    assert plan["impact"]["amount"] == "2000000"
    assert plan["impact"]["order_id"] == placed["id"]
    assert (await firm.get(orders_path(market)))["orders"][0]["status"] == "open"
