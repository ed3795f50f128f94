"""Attestations whose workflow is killed, refused by the chain, or disconnected from it."""

import asyncio
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from backend.attestations import service, workflow
from backend.attestations.schemas import REVOKE
from backend.chain.bindings import registry
from backend.chain.deployment.contracts import contracts_of, operator
from backend.chain.rpc.node_urls import EmbeddedNodes
from backend.chain.transactions.execution import execute
from backend.core import db
from backend.core.runtime import runtime
from backend.models import TransactionRow
from backend.requests import workflows
from tests.conftest import World
from tests.support.firm import SEPOLIA, Firm


async def transactions_of(request_id: str) -> list[str]:
    async with db.worker() as session:
        query = sa.select(TransactionRow.tx_hash).where(TransactionRow.key.startswith(request_id))  # type: ignore
        return list(await session.scalars(query))


async def accepted_only(firm: Firm, monkeypatch: pytest.MonkeyPatch, path: str, body: Any) -> Any:
    """Accept an operation without running its workflow."""

    async def not_now(*_: Any) -> None:
        return None

    with monkeypatch.context() as patch:
        patch.setattr(workflows, "enqueue", not_now)
        return await firm.post(path, body)


async def run(firm: Firm, accepted: Any, body: workflows.Body, on_failure: workflows.OnFailure | None = None) -> None:
    await workflows._run(body, on_failure, firm.id, UUID(accepted["requestId"]))


def killed(*_: Any, **__: Any) -> Any:
    raise asyncio.CancelledError


async def test_attestation_killed_between_chain_and_record_resumes_with_the_same_transaction(
    world: World, wallet: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Firm.issuing(world)
    party = await firm.verified(wallet)
    accepted = await accepted_only(firm, monkeypatch, "/attestations", {"party_id": party["id"], "chain_eid": SEPOLIA})
    path = f"/attestations/{accepted['attestationId']}"
    with monkeypatch.context() as patch:
        patch.setattr(registry, "attestation", killed)
        with pytest.raises(asyncio.CancelledError):
            await run(firm, accepted, workflow.issue, workflow._issue_failed)
    assert (await firm.get(path))["status"] == "pending"
    sent = await transactions_of(accepted["requestId"])
    await run(firm, accepted, workflow.issue, workflow._issue_failed)
    found = await firm.get(path)
    assert (found["status"], found["tx_hash"], found["proof"]["agrees"]) == ("active", sent[0], True)
    assert await transactions_of(accepted["requestId"]) == sent
    # Once more, as a worker that did not learn that it had finished.
    await run(firm, accepted, workflow.issue, workflow._issue_failed)
    assert await firm.get(path) | {"proof": None} == found | {"proof": None}

    revoking = await accepted_only(firm, monkeypatch, f"{path}/revoke", {"reason": "Left."})
    await firm.refused("POST", f"{path}/revoke", 409, json={"reason": "Twice."})
    with monkeypatch.context() as patch:
        patch.setattr(workflow, "_set", killed)
        with pytest.raises(asyncio.CancelledError):
            await run(firm, revoking, workflow.revoke)
    assert (await firm.get(path))["status"] == "active"
    await run(firm, revoking, workflow.revoke)
    assert (await firm.get(path))["status"] == "revoked"
    request = await firm.get(f"/requests/{revoking['requestId']}")
    assert [s["status"] for s in request["steps"]] == ["succeeded", "succeeded"]
    assert [request["steps"][0]["tx_hash"]] == await transactions_of(revoking["requestId"])


async def test_attestation_reverted_by_the_chain_fails_with_the_contract_reason_and_is_retried(
    world: World, wallet: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Firm.issuing(world)
    party = await firm.verified(wallet)
    accepted = await accepted_only(firm, monkeypatch, "/attestations", {"party_id": party["id"], "chain_eid": SEPOLIA})
    path, at = f"/attestations/{accepted['attestationId']}", (await contracts_of(SEPOLIA)).registry
    issuer = (await firm.get("/issuer"))["wallets"][0]["address"]

    async def agent(name: str, call: Any) -> None:
        await execute(call.intent(f"test:{name}:{firm.id}", eid=SEPOLIA, signer=await operator()))

    await agent("remove", registry.remove_attester(at, issuer))
    await run(firm, accepted, workflow.issue, workflow._issue_failed)
    failed = await firm.get(path)
    assert (failed["status"], failed["uid"], failed["proof"]) == ("failed", None, None)
    assert "not a registered attester" in failed["failure"]
    request = await firm.get(f"/requests/{accepted['requestId']}")
    assert (request["status"], request["can_retry"], request["problem"]["status"]) == ("failed", True, 409)
    assert [s["status"] for s in request["steps"]] == ["failed", "waiting"]
    refused = await firm.refused("POST", "/attestations", 409, json={"party_id": party["id"], "chain_eid": SEPOLIA})
    assert "not a registered attester" in refused.detail

    await agent("add", registry.add_attester(at, issuer, firm.id, "Acme", 3, False))
    await firm.post(f"/requests/{accepted['requestId']}/retry")
    assert (await firm.settle(accepted["requestId"], 2))["status"] == "succeeded"
    found = await firm.get(path)
    assert (found["status"], found["failure"], found["proof"]["agrees"]) == ("active", None, True)


async def failed_attestation(firm: Firm, party: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Accept an attestation whose run fails before anything is sent."""

    async def unregistered(*_: Any) -> None:
        return None

    body = {"party_id": party["id"], "chain_eid": SEPOLIA}
    accepted = await accepted_only(firm, monkeypatch, "/attestations", body)
    with monkeypatch.context() as patch:
        patch.setattr(workflow.issuers, "attester_on", unregistered)
        await run(firm, accepted, workflow.issue, workflow._issue_failed)
    assert (await firm.get(f"/attestations/{accepted['attestationId']}"))["status"] == "failed"
    return accepted


async def test_attestation_of_a_party_that_has_changed_is_neither_retried_nor_sent(
    world: World, wallet: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Firm.issuing(world)
    party = await firm.verified(wallet, level=2, accredited=True)
    accepted = await failed_attestation(firm, party, monkeypatch)
    retry, verify = f"/requests/{accepted['requestId']}/retry", f"/identity/parties/{party['id']}/verify"
    await firm.admin.call("POST", verify, json={"kyc_level": 1, "accredited": False})
    refused = await firm.refused("POST", retry, 409)
    assert "verified only for level 1, its accreditation is not verified" in refused.detail
    await firm.admin.call("POST", f"/identity/parties/{party['id']}/reject", json={"reason": "Forged passport"})
    assert "it is rejected" in (await firm.refused("POST", retry, 409)).detail
    # The party is rejected while the retry waits.
    await firm.admin.call("POST", verify, json={"kyc_level": 2, "accredited": True, "reason": "New passport"})
    await accepted_only(firm, monkeypatch, retry, None)
    await firm.admin.call("POST", f"/identity/parties/{party['id']}/reject", json={"reason": "Forged passport"})
    await run(firm, accepted, workflow.issue, workflow._issue_failed)
    request = await firm.get(f"/requests/{accepted['requestId']}")
    assert (request["status"], "it is rejected" in request["problem"]["detail"]) == ("failed", True)
    assert await transactions_of(accepted["requestId"]) == []


async def test_retried_attestation_does_not_replace_a_newer_one(
    world: World, wallet: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Firm.issuing(world)
    party = await firm.verified(wallet)
    accepted = await failed_attestation(firm, party, monkeypatch)
    newer = await firm.attest(party, kyc_level=1)
    refused = await firm.refused("POST", f"/requests/{accepted['requestId']}/retry", 409)
    assert "A newer attestation of this wallet exists" in refused.detail
    assert (await firm.get(f"/attestations/{newer['id']}"))["status"] == "active"


async def test_attestation_stays_pending_until_the_retry_when_the_chain_goes_silent(
    world: World, wallet: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Firm.issuing(world)
    party = await firm.verified(wallet)
    accepted = await accepted_only(firm, monkeypatch, "/attestations", {"party_id": party["id"], "chain_eid": SEPOLIA})
    path, real = f"/attestations/{accepted['attestationId']}", registry.attestation
    with monkeypatch.context() as patch:

        async def cut_off(eid: int, at: str, uid: str) -> Any:
            patch.setitem(runtime.part(EmbeddedNodes).urls, SEPOLIA, "http://127.0.0.1:9")
            return await real(eid, at, uid)

        patch.setattr(registry, "attestation", cut_off)
        await run(firm, accepted, workflow.issue, workflow._issue_failed)
    found = await firm.get(path)
    assert (found["status"], "does not answer" in found["failure"]) == ("pending", True)
    await firm.refused("POST", "/attestations", 409, json={"party_id": party["id"], "chain_eid": SEPOLIA})
    await firm.post(f"/requests/{accepted['requestId']}/retry")
    assert (await firm.settle(accepted["requestId"], 2))["status"] == "succeeded"
    assert (await firm.get(path))["status"] == "active"
    assert len(await transactions_of(accepted["requestId"])) == 1


async def test_chain_reason_and_workflow_names_are_stable() -> None:
    """Stored requests name their workflow; a renamed workflow would strand them."""
    assert (service.ISSUE, REVOKE) == ("attestation.issue", "attestation.revoke")
