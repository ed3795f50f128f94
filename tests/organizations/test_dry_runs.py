"""Dry runs on organizations: every check, the plan, and no change."""

from typing import Any

from tests.conftest import World
from tests.support.firm import SEPOLIA, Firm, refused

DRY = {"dry_run": "true"}


async def test_organization_update_dry_run_returns_its_plan(world: World) -> None:
    firm = await Firm.found(world)
    body: dict[str, Any] = {"name": "Acme Two", "network": "mainnet", "member_requirements": {"seats": 5}}
    plan = await firm.admin.call("PATCH", firm.base, json=body, params=DRY)
    assert [c["field"] for c in plan["impact"]["changes"]] == ["name", "network", "member_requirements"]
    assert (plan["impact"]["path"], plan["impact"]["keys_following"]) == ("Acme", 1)
    same = await firm.get("")
    assert (same["name"], same["network"], same["member_requirements"]["seats"]) == ("Acme", "testnet", 0)
    nothing = await firm.admin.call("PATCH", firm.base, json={"name": "Acme"}, params=DRY)
    assert (nothing["steps"], nothing["impact"]["changes"]) == (["No changes"], [])
    await firm.refused("PATCH", "", 422, json={"name": None}, params=DRY)


async def test_organization_creation_dry_runs_return_their_plans(world: World) -> None:
    firm = await Firm.found(world)
    plan = await firm.post("/sub-orgs", {"name": "Unit"}, params=DRY)
    assert (plan["impact"]["path"], plan["steps"]) == ("Acme / Unit", ["Create Unit below Acme"])
    assert (await firm.get("/sub-orgs"))["organizations"] == []
    plan = await firm.admin.call("POST", "/orgs", json={"name": "Other"}, params=DRY)
    assert plan["impact"]["path"] == "Other"
    assert len((await firm.admin.call("GET", "/orgs"))["organizations"]) == 1


async def test_registration_dry_run_returns_its_plan(world: World) -> None:
    firm = await Firm.found(world)
    path = f"{firm.base}/issuer/register"
    await refused(firm.admin, "POST", path, 400, json={}, headers=firm.key, params=DRY)
    await firm.enable(SEPOLIA)
    await firm.post("/wallets", {"label": "Treasury"})
    plan = await firm.post("/issuer/register", {"max_kyc_level": 2}, headers=firm.key, params=DRY)
    assert (plan["impact"]["chains"], plan["impact"]["max_kyc_level"]) == ([SEPOLIA], 2)
    await firm.refused("GET", "/issuer", 404)
    await firm.register(max_kyc_level=2)
    plan = await firm.post("/issuer/register", {"max_kyc_level": 2}, headers=firm.key, params=DRY)
    assert plan["impact"]["chains"] == []
