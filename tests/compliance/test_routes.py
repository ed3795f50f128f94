"""Presets and transfer checks through the API."""

import pytest

from tests.conftest import World
from tests.support.firm import SEPOLIA
from tests.support.issuance import UNIT, Issuance

STRANGER = "0x52908400098527886E0F7030069857D2E4169EE7"


async def test_presets_are_public_and_list_issuer_duties(world: World) -> None:
    presets = (await world.client.call("GET", "/compliance/presets"))["presets"]
    assert [p["regulation_type"] for p in presets] == ["reg_d", "reg_s", "reg_a_plus", "reg_cf", "none"]
    by_type = {p["regulation_type"]: p for p in presets}
    assert (by_type["reg_d"]["requires_accreditation"], by_type["reg_d"]["max_holders"]) == (True, 2000)
    assert by_type["reg_s"]["blocked_countries"] == ["USA"]
    assert [by_type[t]["lockup_months"] for t in ("reg_d", "reg_s", "reg_a_plus", "reg_cf")] == [12, 12, 0, 12]
    assert all(p["leaves_to_issuer"] and p["enforces"] for p in presets)


@pytest.mark.long
async def test_transfer_check_names_every_rule_and_its_resolution(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(required_kyc_level=2, compliance_rules={"blocked_countries": ["USA"]})
    treasury = (await firm.treasury())["address"]
    body = {"chain_eid": SEPOLIA, "from_address": treasury, "to_address": STRANGER, "amount": str(UNIT)}
    path = f"/assets/{asset['id']}/transfer-check"
    verdict = await firm.post(path, body)
    assert (verdict["allowed"], verdict["chain_agrees"]) == (False, True)
    (failed,) = [r for r in verdict["rules"] if not r["passed"]]
    assert (failed["rule"], failed["code"]) == ("attestation", 9)
    assert failed["resolution"]["path"] == f"/orgs/{firm.id}/attestations"

    low = await firm.trader(level=1)
    verdict = await firm.post(path, body | {"to_address": low["address"].lower()})
    assert [r["code"] for r in verdict["rules"] if not r["passed"]] == [11]
    assert "The KYC level is 1; 2 is required" in next(r["reason"] for r in verdict["rules"] if not r["passed"])
    good = await firm.trader(level=2)
    verdict = await firm.post(path, body | {"to_address": good["address"]})
    assert (verdict["allowed"], verdict["chain_agrees"]) == (True, True)
    verdict = await firm.post(path, body | {"from_address": "0x" + "0" * 40, "to_address": good["address"]})
    assert (verdict["allowed"], verdict["chain_agrees"]) == (True, True)


@pytest.mark.long
async def test_transfer_check_on_a_chain_without_the_token_is_a_400(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    body = {"chain_eid": 40362, "from_address": STRANGER, "to_address": STRANGER, "amount": "1"}
    problem = await firm.refused("POST", f"/assets/{asset['id']}/transfer-check", 400, json=body)
    assert problem.by_field() == {
        "chain_eid": "The asset has no active token on this chain. Bridge it there first, or choose another chain."
    }
