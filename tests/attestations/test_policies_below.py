"""The approval policy of an organization also binds those above it, whose attestations count for its tokens."""

from dataclasses import dataclass
from typing import Any

import pytest

from backend.core import db
from backend.requests import service as requests
from backend.requests.schemas import RequestStatus
from tests.approvals.second_person import approve, deny, waiting
from tests.conftest import World
from tests.support.firm import SEPOLIA, Firm
from tests.support.issuance import Issuance

pytestmark = pytest.mark.long

INVESTOR, ACCOMPLICE = "0x52908400098527886E0F7030069857D2E4169EE7", "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
BELOW = "Northwind Real Estate"
ACTIONS = ["attestation.issue", "attestation.revoke"]


@dataclass(frozen=True)
class Group:
    """An issuing group, and an issuing organization below it."""

    above: Firm
    below: Issuance


async def group(world: World, **asset: Any) -> Group:
    """A group, and below it an organization with an asset that requires a second person for attestations."""
    above = await Issuance.issuing(world, SEPOLIA, name="Northwind")
    below = await Issuance.issuing(world, SEPOLIA, name=BELOW, parent=above.id)
    assert isinstance(below, Issuance)
    if asset:
        await below.asset(**asset)
    return Group(above, below)


def cause(action: str) -> str:
    return f"{BELOW}, an organization below this one, requires a second person for “{action}”."


async def test_revocation_from_above_needs_the_policy_of_the_attesting_organization(world: World) -> None:
    firms = await group(world)
    second = await world.person(firms.above.id)
    await firms.above.register(can_revoke_others=True)
    attestation = await firms.below.attest(await firms.below.verified(INVESTOR))
    await firms.below.patch("", {"approvals": ACTIONS})
    path = f"/attestations/{attestation['id']}"
    accepted = await firms.above.post(f"{path}/revoke", {"reason": "Alone"})
    assert accepted["message"] == f"{cause('attestation revoke')} It waits for a second person's approval."
    approval = await waiting(firms.above, accepted)
    assert approval["cause"] == cause("attestation revoke")
    assert (await firms.below.get(path))["status"] == "active"
    assert (await approve(firms.above, second, approval))["status"] == "succeeded"
    assert (await firms.below.get(path))["status"] == "revoked"


async def test_revocation_from_above_without_a_second_person_is_refused_with_the_policy(world: World) -> None:
    firms = await group(world)
    await firms.above.register(can_revoke_others=True)
    attestation = await firms.below.attest(await firms.below.verified(INVESTOR))
    await firms.below.patch("", {"approvals": ["attestation.revoke"]})
    path = f"/attestations/{attestation['id']}/revoke"
    problem = await firms.above.refused("POST", path, 409, json={"reason": "Alone"})
    assert problem.detail.startswith(cause("attestation revoke"))
    assert "lift the requirement there" in problem.detail


async def test_attestation_above_an_organization_that_requires_approval_waits(world: World) -> None:
    firms = await group(world, required_kyc_level=1)
    second = await world.person(firms.above.id)
    party = await firms.above.verified(ACCOMPLICE, 3)
    body = {"party_id": party["id"], "chain_eid": SEPOLIA}
    await firms.below.patch("", {"approvals": ["attestation.issue"]})
    accepted = await firms.above.post("/attestations", body)
    approval = await waiting(firms.above, accepted)
    assert (approval["action"], approval["cause"]) == ("attestation.issue", cause("attestation issue"))
    assert (await deny(firms.above, second, approval))["status"] == "denied"
    accepted = await firms.above.post("/attestations", body)
    assert (await approve(firms.above, second, await waiting(firms.above, accepted)))["status"] == "succeeded"


async def test_attestation_above_waits_only_where_it_counts_for_a_token(world: World) -> None:
    firms = await group(world)
    await world.person(firms.above.id)
    await firms.below.patch("", {"approvals": ACTIONS})
    first = await firms.above.attest(await firms.above.verified(ACCOMPLICE, 3))
    assert first["status"] == "active", "the organization below has no token"
    await firms.below.asset(org_only=True)
    second = await firms.above.attest(await firms.above.verified(INVESTOR, 3))
    assert second["status"] == "active", "the token accepts attestations of its own organization only"


async def test_issuer_above_gets_the_right_to_revoke_others_with_a_second_person(world: World) -> None:
    firms = await group(world, required_kyc_level=1)
    second = await world.person(firms.above.id)
    await firms.below.patch("", {"approvals": ["attestation.revoke"]})
    key = firms.above.key
    assert (await firms.above.post("/issuer/register", {"max_kyc_level": 2}, headers=key))["registered"] is False
    await firms.above.settle((await firms.above.get("/issuer"))["request_id"])
    answer = await firms.above.post("/issuer/register", {"can_revoke_others": True}, headers=key)
    assert answer["message"] == f"{cause('attestation revoke')} It waits for a second person's approval."
    approval = await waiting(firms.above, {"requestId": (await firms.above.get("/issuer"))["request_id"]})
    assert approval["action"] == "issuer.register"
    again = await firms.above.post("/issuer/register", {"can_revoke_others": True, "name": "Other"}, headers=key)
    assert again["message"] == answer["message"], "a second registration waits too"
    assert (await deny(firms.above, second, approval))["status"] == "denied"
    other = await waiting(firms.above, {"requestId": (await firms.above.get("/issuer"))["request_id"]})
    assert not (await firms.above.get("/issuer"))["can_revoke_others"]
    assert (await approve(firms.above, second, other))["status"] == "succeeded"
    issuer = await firms.above.get("/issuer")
    assert (issuer["name"], issuer["can_revoke_others"]) == ("Other", True)


async def test_retry_under_a_policy_below_is_refused(world: World) -> None:
    firms = await group(world)
    await firms.below.patch("", {"approvals": ["attestation.revoke"]})
    async with db.transaction(firms.above.id) as session:
        row = await requests.write(
            session,
            requests.Wanted(
                organization_id=firms.above.id,
                kind="attestation.revoke",
                title="Revoke an attestation",
                subject_type="attestation",
                subject_id=firms.below.id,
                scope="attestations:write",
                steps=[],
                created_by=None,
                arguments={"order": "x", "below": {"action": "attestation.revoke", "owner": str(firms.below.id)}},
            ),
        )
        row.status, row.can_retry = RequestStatus.FAILED, True
    problem = await firms.above.refused("POST", f"/requests/{row.id}/retry", 409)
    assert problem.detail == f"{cause('attestation revoke')} Send the request again."
