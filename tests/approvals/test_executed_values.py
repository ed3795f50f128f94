"""What a second person approves is what is executed: values at the request, at the approval and at the start."""

from typing import Any

import pytest
import sqlalchemy as sa

from backend.client import ApiProblem
from backend.models import RequestRow
from backend.requests import workflows
from tests.approvals.second_person import WHY, approve, asking, deny, path_of, waiting
from tests.conftest import Actor, World
from tests.support.firm import BASE, SEPOLIA, Firm, refused

pytestmark = pytest.mark.long

FIRST, OTHER = "0x52908400098527886E0F7030069857D2E4169EE7", "0x8617E340B3D01FA5F11F306F4090FD50E238070D"


def differences(problem: ApiProblem) -> dict[str, str]:
    """What a refusal says about each changed value, by name."""
    return {entry["state"]: entry["detail"] for entry in problem.prerequisites if not entry["satisfied"]}


async def refused_as_changed(firm: Firm, second: Actor, approval: Any) -> dict[str, str]:
    """Return the values that a refused approval names; the approver sees the same, and nothing starts."""
    problem = await refused(second, "POST", path_of(firm, approval, "approve"), 409)
    assert problem.detail.startswith("What this request would do has changed since it was made.")
    assert "Deny it" in problem.detail
    calls = {(e["resolution"]["method"], e["resolution"]["path"]) for e in problem.prerequisites}
    assert calls == {("POST", path_of(firm, approval, "deny"))}
    shown = await second.call("GET", path_of(firm, approval))
    assert (shown["obstacle"], shown["plan"], shown["status"]) == (problem.detail, None, "pending")
    assert (await firm.get(f"/requests/{approval['request_id']}"))["status"] == "awaiting_approval"
    return differences(problem)


async def test_attestation_of_a_party_that_changed_since_the_request_is_not_approved(world: World) -> None:
    firm, second = await asking(world, "attestation.issue")
    party = await firm.verified(FIRST, 3, accredited=True)
    path, wanted = f"/identity/parties/{party['id']}", {"party_id": party["id"], "chain_eid": SEPOLIA}
    accepted = await firm.post("/attestations", wanted)
    approval = await waiting(firm, accepted)
    changed = {"wallet_address": OTHER, "name": "Marta Lind"}
    await firm.admin.call("PATCH", path, json=changed)
    await firm.admin.call("POST", f"{path}/verify", json={"kyc_level": 1, "accredited": False})
    assert await refused_as_changed(firm, second, approval) == {
        "wallet_address": f"Requested: {FIRST}. Now: {OTHER}.",
        "kyc_level": "Requested: 3. Now: 1.",
        "accredited": "Requested: yes. Now: no.",
        "title": f"Requested: {approval['title']}. Now: {approval['title'].replace('Lindqvist', 'Lind')}.",
    }
    assert (await deny(firm, second, approval))["status"] == "denied"
    again = await firm.post("/attestations", wanted)
    assert (await approve(firm, second, await waiting(firm, again)))["status"] == "succeeded"
    attested = await firm.get(f"/attestations/{again['attestationId']}")
    assert (attested["wallet_address"], attested["kyc_level"], attested["status"]) == (OTHER, 1, "active")
    assert (await firm.get(f"/attestations/{accepted['attestationId']}"))["uid"] is None


async def test_market_whose_rules_come_from_a_changed_asset_is_not_approved(world: World) -> None:
    firm, second = await asking(world, "market.deploy")
    asset = await firm.asset()
    accepted = await firm.post(f"/assets/{asset['id']}/markets", await firm.market_body())
    approval = await waiting(firm, accepted)
    stricter = {
        "required_kyc_level": 3,
        "compliance_rules": {"requires_accreditation": True, "blocked_countries": ["PRK", "USA"]},
    }
    await firm.succeed((await firm.patch(f"/assets/{asset['id']}", stricter))["requestId"])
    assert await refused_as_changed(firm, second, approval) == {
        "min_kyc_level": "Requested: 0. Now: 3.",
        "requires_accreditation": "Requested: no. Now: yes.",
        "blocked_countries": "Requested: none. Now: PRK, USA.",
    }
    assert (await deny(firm, second, approval))["status"] == "denied"
    again = await firm.post(f"/assets/{asset['id']}/markets", await firm.market_body())
    assert (await approve(firm, second, await waiting(firm, again)))["status"] == "succeeded"
    market = await firm.get(f"/assets/{asset['id']}/markets/{again['marketId']}")
    assert (market["min_kyc_level"], market["status"]) == (3, "active")


async def test_pause_of_other_chains_than_requested_is_not_approved(world: World) -> None:
    firm, second = await asking(world, eids=(SEPOLIA, BASE))
    asset = await firm.asset()
    bridged = {"destination_chain_eid": BASE, "amount": "0"}
    await firm.succeed((await firm.post(f"/assets/{asset['id']}/bridge", bridged))["requestId"])
    path = f"/assets/{asset['id']}"
    await firm.succeed((await firm.post(f"{path}/pause", {"chain_eid": BASE, "reason": WHY}))["requestId"])
    await firm.patch("", {"approvals": ["token.pause"]})
    accepted = await firm.post(f"{path}/pause", {"reason": WHY})
    approval = await waiting(firm, accepted)
    await firm.succeed((await firm.post(f"{path}/unpause", {"chain_eid": BASE, "reason": WHY}))["requestId"])
    changed = await refused_as_changed(firm, second, approval)
    assert set(changed) == {"chains", "steps", "title"}
    assert changed["chains"].startswith(f"Requested: {SEPOLIA}. Now: ")
    assert (await deny(firm, second, approval))["status"] == "denied"
    again = await firm.post(f"{path}/pause", {"reason": WHY})
    assert (await approve(firm, second, await waiting(firm, again)))["status"] == "succeeded"
    deployed = (await firm.get(path))["deployments"]
    assert {d["chain_eid"]: d["paused"] for d in deployed} == {SEPOLIA: True, BASE: True}


async def test_values_changed_between_approval_and_start_are_not_executed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm, second = await asking(world, "attestation.issue")
    party = await firm.verified(FIRST, 2)
    accepted = await firm.post("/attestations", {"party_id": party["id"], "chain_eid": SEPOLIA})
    approval = await waiting(firm, accepted)
    release = workflows.release

    async def released_and_altered(session: Any, row: RequestRow) -> None:
        await release(session, row)
        await session.execute(sa.text("update attestations set kyc_level = 4 where request_id = :id"), {"id": row.id})

    with monkeypatch.context() as patched:
        patched.setattr(workflows, "release", released_and_altered)
        request = await approve(firm, second, approval)
    assert request["status"] == "denied"
    assert "has changed since its approval (kyc_level). Nothing was sent." in request["problem"]["detail"]
    attestation = await firm.get(f"/attestations/{accepted['attestationId']}")
    assert (attestation["status"], attestation["tx_hash"]) == ("failed", None)


async def test_party_changed_between_approval_and_start_is_not_attested(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm, second = await asking(world, "attestation.issue")
    party = await firm.verified(FIRST, 2)
    accepted = await firm.post("/attestations", {"party_id": party["id"], "chain_eid": SEPOLIA})
    approval = await waiting(firm, accepted)
    release = workflows.release

    async def released_and_swapped(session: Any, row: RequestRow) -> None:
        await release(session, row)
        swap = sa.text("update parties set wallet_address = :other, kyc_level = 4 where id = :id")
        await session.execute(swap, {"other": OTHER, "id": party["id"]})

    with monkeypatch.context() as patched:
        patched.setattr(workflows, "release", released_and_swapped)
        request = await approve(firm, second, approval)
    assert request["status"] == "failed", request
    attestation = await firm.get(f"/attestations/{accepted['attestationId']}")
    assert (attestation["wallet_address"], attestation["status"], attestation["tx_hash"]) == (FIRST, "failed", None)
