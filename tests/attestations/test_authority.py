"""Who may revoke: the issuer itself, and an issuer above it that may revoke others' attestations."""

from typing import Any

import pytest

from backend.attestations import workflow
from backend.chain.bindings import registry
from backend.chain.deployment.contracts import contracts_of
from backend.chain.errors import Reverted
from backend.chain.transactions.execution import execute
from backend.client import ApiProblem
from backend.users.schemas import Role
from tests.attestations.test_workflow import accepted_only, run, transactions_of
from tests.conftest import World
from tests.support.firm import SEPOLIA, Firm, refused


async def family(world: World, wallet: str) -> tuple[Firm, Firm, Any]:
    """A group, its subsidiary, and an attestation by the subsidiary."""
    group = await Firm.issuing(world, name="Group")
    house = await Firm.issuing(world, name="House", parent=group.id)
    return group, house, await house.attest(await house.verified(wallet))


@pytest.mark.long
async def test_parent_issuer_with_permission_revokes(world: World, wallet: str) -> None:
    group, house, attestation = await family(world, wallet)
    path, reason = f"/attestations/{attestation['id']}/revoke", {"reason": "The house has lost its licence."}
    problem = await group.refused("POST", path, 403, json=reason)
    assert "can_revoke_others" in problem.detail
    await group.register(can_revoke_others=True)

    plan = await group.post(path, reason, params={"dry_run": "true"})
    assert plan["impact"]["wallet_address"] == wallet
    assert (await house.get(f"/attestations/{attestation['id']}"))["status"] == "active"
    accepted = await group.post(path, reason)
    request = await group.settle(accepted["requestId"])
    assert [s["status"] for s in request["steps"]] == ["succeeded", "succeeded"]
    found = await house.get(f"/attestations/{attestation['id']}")
    assert (found["status"], found["revocation_reason"]) == ("revoked", reason["reason"])
    assert (found["proof"]["revoked"], found["proof"]["agrees"]) == (True, True)
    # The request is the group's. The house sees the state of its attestation, not the group's request.
    await house.refused("GET", f"/requests/{accepted['requestId']}", 404)


@pytest.mark.long
async def test_compliance_officer_of_a_child_cannot_act_for_the_parent(world: World, wallet: str) -> None:
    group, house, attestation = await family(world, wallet)
    officer = await world.person(house.id, Role.COMPLIANCE_OFFICER)
    path = f"{group.base}/attestations/{attestation['id']}/revoke"
    await refused(officer, "POST", path, 403, json={"reason": "Mine."})


@pytest.mark.long
async def test_api_key_cannot_revoke_below_its_organization(world: World, wallet: str) -> None:
    group, _, attestation = await family(world, wallet)
    await group.register(can_revoke_others=True)
    path = f"{group.base}/attestations/{attestation['id']}/revoke"
    with pytest.raises(ApiProblem) as raised:
        await world.client.call("POST", path, json={"reason": "By key."}, headers=group.key)
    assert raised.value.status == 404


@pytest.mark.long
async def test_attestation_of_another_or_parent_organization_cannot_be_revoked(world: World, wallet: str) -> None:
    """Refused by the API, and by the registry if the API is bypassed."""
    group, house, attestation = await family(world, wallet)
    for firm in (group, house):
        await firm.register(can_revoke_others=True)
    stranger = await Firm.issuing(world, name="Stranger")
    await stranger.register(can_revoke_others=True)
    above = await group.attest(await group.verified(wallet))
    at = (await contracts_of(SEPOLIA)).registry
    for firm, what in ((stranger, attestation), (house, above)):
        path = f"/attestations/{what['id']}/revoke"
        await firm.refused("POST", path, 404, json={"reason": "Not mine."})
        await firm.refused("POST", path, 404, json={"reason": "Not mine."}, params={"dry_run": "true"})
        signer = (await firm.get("/issuer"))["wallets"][0]["address"]
        call = registry.revoke(at, what["uid"], "Past the API.")
        with pytest.raises(Reverted) as refusal:
            await execute(call.intent(f"test:{firm.id}:{what['id']}", eid=SEPOLIA, signer=signer))
        assert refusal.value.name == "NotAllowedToRevoke"
    assert (await house.get(f"/attestations/{attestation['id']}"))["status"] == "active"
    assert (await group.get(f"/attestations/{above['id']}"))["status"] == "active"


@pytest.mark.long
async def test_unregistered_parent_issuer_cannot_revoke(world: World, wallet: str) -> None:
    group = await Firm.found(world, "Group")
    await group.enable(SEPOLIA)
    house = await Firm.issuing(world, name="House", parent=group.id)
    attestation = await house.attest(await house.verified(wallet))
    problem = await group.refused("POST", f"/attestations/{attestation['id']}/revoke", 409, json={"reason": "x"})
    assert "not registered as an issuer on" in problem.detail


@pytest.mark.long
async def test_revocation_is_stored_only_after_the_chain_confirms(
    world: World, wallet: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a node does not show the revocation yet, the attestation stays active."""
    firm = await Firm.issuing(world)
    attestation = await firm.attest(await firm.verified(wallet))
    path = f"/attestations/{attestation['id']}"
    answer = await registry.attestation(SEPOLIA, (await contracts_of(SEPOLIA)).registry, attestation["uid"])
    accepted = await accepted_only(firm, monkeypatch, f"{path}/revoke", {"reason": "Left."})
    with monkeypatch.context() as patch:

        async def behind(*_: Any) -> registry.Attestation:
            return answer

        patch.setattr(registry, "attestation", behind)
        await run(firm, accepted, workflow.revoke)
    assert (await firm.get(path))["status"] == "active"
    request = await firm.get(f"/requests/{accepted['requestId']}")
    assert (request["status"], request["can_retry"]) == ("failed", True)
    assert "does not show the revocation" in request["problem"]["detail"]

    await firm.post(f"/requests/{accepted['requestId']}/retry")
    assert (await firm.settle(accepted["requestId"], 2))["status"] == "succeeded"
    assert (await firm.get(path))["status"] == "revoked"
    assert len(await transactions_of(accepted["requestId"])) == 1
