"""The requester withdraws a request that waits for a second person."""

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.core import db
from backend.models import MemberRow
from backend.users.schemas import Role
from tests.approvals.second_person import WHY, approve, asking, path_of, waiting
from tests.conftest import World
from tests.support.firm import SEPOLIA, refused


async def test_requester_withdraws_a_waiting_request(world: World) -> None:
    firm, second = await asking(world, "attestation.issue")
    party = await firm.verified("0x52908400098527886E0F7030069857D2E4169EE7")
    body = {"party_id": party["id"], "chain_eid": SEPOLIA}
    accepted = await firm.post("/attestations", body)
    approval = await waiting(firm, accepted)
    assert approval["is_withdrawn"] is False
    path, name = path_of(firm, approval, "withdraw"), approval["asked_by_name"]

    others = await refused(second, "POST", path, 403)
    assert others.detail == f"{name} requested this action. Only the requester can withdraw it."
    viewer = await world.person(firm.id, Role.VIEWER)
    await refused(viewer, "POST", path, 403)
    stranger = await world.person(await world.organization())
    await refused(stranger, "POST", path, 403)
    await refused(firm.admin, "POST", path_of(firm, approval, "withdraw") + "?dry_run=true", 400)

    decided = await firm.admin.call("POST", path, json={"reason": "Wrong party"})
    assert (decided["status"], decided["is_withdrawn"], decided["reason"]) == ("denied", True, "Wrong party")
    assert (decided["requestId"], decided["decided_by"]) == (approval["request_id"], str(firm.admin.user_id))
    request = await firm.get(f"/requests/{accepted['requestId']}")
    assert (request["status"], request["is_withdrawn"], request["can_retry"]) == ("denied", True, False)
    assert request["problem"]["detail"] == f"{name} withdrew this request: Wrong party"
    assert (await firm.get(f"/attestations/{accepted['attestationId']}"))["status"] == "failed"
    (entry,) = (await firm.get("/audit", params={"action": "approval.withdrawn"}))["audit"]
    assert (entry["actor"], entry["subject"]["id"]) == (str(firm.admin.user_id), approval["id"])

    again = await firm.admin.call("POST", path, json={"reason": "A second time"})
    assert (again["reason"], again["decided_at"]) == ("Wrong party", decided["decided_at"])
    assert len((await firm.get("/audit", params={"action": "approval.withdrawn"}))["audit"]) == 1
    late = await refused(second, "POST", path_of(firm, approval, "approve"), 409)
    assert late.detail == f"{name} has already withdrawn this request."
    next_one = await waiting(firm, await firm.post("/attestations", body))
    assert (await approve(firm, second, next_one))["status"] == "succeeded"


@pytest.mark.long
async def test_decided_request_is_not_withdrawn(world: World) -> None:
    firm, second = await asking(world, "token.pause")
    asset = await firm.asset()
    approval = await waiting(firm, await firm.post(f"/assets/{asset['id']}/pause", {"reason": WHY}))
    assert (await approve(firm, second, approval))["status"] == "succeeded"
    late = await refused(firm.admin, "POST", path_of(firm, approval, "withdraw"), 409)
    assert late.detail.endswith("has already approved this request.")


@pytest.mark.long
async def test_requester_without_the_role_of_the_action_withdraws_without_a_reason(world: World) -> None:
    firm, _ = await asking(world, "token.pause")
    asset, officer = await firm.asset(), await world.person(firm.id, Role.COMPLIANCE_OFFICER)
    accepted = await officer.call("POST", f"{firm.base}/assets/{asset['id']}/pause", json={"reason": WHY})
    approval = await waiting(firm, accepted)
    async with db.worker() as session:
        mine = col(MemberRow.user_id) == officer.user_id
        await session.execute(sa.update(MemberRow).where(mine).values(role=Role.VIEWER))
    decided = await officer.call("POST", path_of(firm, approval, "withdraw"))
    assert (decided["is_withdrawn"], decided["reason"]) == (True, None)
    request = await firm.get(f"/requests/{accepted['requestId']}")
    assert request["problem"]["detail"] == f"{approval['asked_by_name']} withdrew this request."
