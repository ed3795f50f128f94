"""Approvals: who can be the second person, what waits for them, and how requests end."""

import asyncio
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.approvals import rehearsal
from backend.approvals.removal import lift_within
from backend.client import ApiProblem
from backend.core import db
from backend.core.db import new_id, now
from backend.distributions import funding
from backend.models import ApiKeyRow, ApprovalRow, MemberRow
from backend.requests import service as requests
from backend.requests.schemas import ApprovalStatus, RequestStatus
from backend.users.schemas import Role
from state.core.record_values import Known, Unit
from tests.approvals.second_person import WHY, approve, asking, deny, path_of, waiting
from tests.conftest import World
from tests.support.firm import SEPOLIA, Firm, refused


@pytest.mark.long
async def test_action_waits_for_approval_by_another_person(world: World) -> None:
    firm, second = await asking(world, "token.pause")
    asset = await firm.asset()
    accepted = await firm.post(f"/assets/{asset['id']}/pause", {"reason": WHY})
    assert (accepted["status"], accepted["message"]) == (
        "awaiting_approval",
        "It waits for a second person's approval.",
    )
    approval = await waiting(firm, accepted)
    assert (approval["action"], approval["asked_by"], approval["can_decide"]) == (
        "token.pause",
        str(firm.admin.user_id),
        False,
    )
    own = await refused(firm.admin, "POST", path_of(firm, approval, "approve"), 403)
    assert "Another person must approve" in own.detail
    await refused(firm.admin, "POST", path_of(firm, approval, "deny"), 403, json={"reason": "x"})
    alone = firm.admin.client.call("POST", path_of(firm, approval, "approve"), headers=firm.key)
    assert isinstance((await asyncio.gather(alone, return_exceptions=True))[0], ApiProblem)
    await refused(second, "POST", path_of(firm, approval, "approve"), 403, headers=firm.key)
    viewer = await world.person(firm.id, Role.VIEWER)
    assert "assets:write" in (await refused(viewer, "POST", path_of(firm, approval, "approve"), 403)).detail
    stranger = await world.person(await world.organization())
    await refused(stranger, "POST", path_of(firm, approval, "approve"), 403)
    await refused(second, "POST", f"{firm.base}/approvals/{asset['id']}/approve", 404)
    mine = await second.call("GET", f"{firm.base}/approvals", params={"can_decide": "true"})
    assert [a["id"] for a in mine["approvals"]] == [approval["id"]]
    seen = await second.call("GET", path_of(firm, approval))
    assert seen["plan"]["impact"]["changes"][0]["after"] == "paused"
    assert (await viewer.call("GET", path_of(firm, approval)))["plan"] is None
    assert (await firm.get("/summary"))["attention"]["approvals_waiting"] == 1
    assert (await approve(firm, second, approval))["status"] == "succeeded"
    again = await refused(second, "POST", path_of(firm, approval, "approve"), 409)
    assert again.detail == f"{second.email.split('@')[0].title()} has already approved this request."
    decided = await second.call("GET", path_of(firm, approval))
    assert decided["decided_by"] == str(second.user_id)
    assert decided["plan"]["steps"]
    assert (await firm.get("/summary"))["attention"]["approvals_waiting"] == 0


async def test_approval_says_that_its_rule_was_lifted_since_the_request(world: World) -> None:
    firm, second = await asking(world, "token.pause")
    asset = await firm.asset()
    approval = await waiting(firm, await firm.post(f"/assets/{asset['id']}/pause", {"reason": WHY}))
    assert not approval["rule_lifted"]
    async with db.worker() as session:
        await lift_within(session, firm.id, "Bob has left")
    seen = await second.call("GET", path_of(firm, approval))
    assert (seen["rule_lifted"], seen["status"]) == (True, "pending")
    assert (await approve(firm, second, approval))["status"] == "succeeded"


@pytest.mark.long
async def test_action_outside_the_policy_does_not_wait(world: World) -> None:
    firm, _ = await asking(world, "market.deploy")
    asset = await firm.asset()
    accepted = await firm.post(f"/assets/{asset['id']}/pause", {"reason": WHY})
    await firm.succeed(accepted["requestId"])
    assert (await firm.get("/approvals"))["approvals"] == []


@pytest.mark.long
async def test_update_is_written_only_after_approval(world: World) -> None:
    firm, second = await asking(world, "asset.update")
    asset = await firm.asset()
    change = {"required_kyc_level": 2, "name": "Renamed"}
    approval = await waiting(firm, await firm.patch(f"/assets/{asset['id']}", change))
    before = await firm.get(f"/assets/{asset['id']}")
    assert (before["status"], before["required_kyc_level"], before["name"]) == ("active", 0, "Harbour Fund")
    assert (await deny(firm, second, approval))["status"] == "denied"
    same = await firm.get(f"/assets/{asset['id']}")
    assert (same["status"], same["required_kyc_level"], same["failure"]) == ("active", 0, None)
    approval = await waiting(firm, await firm.patch(f"/assets/{asset['id']}", change))
    assert (await approve(firm, second, approval))["status"] == "succeeded"
    after = await firm.get(f"/assets/{asset['id']}")
    assert (after["status"], after["required_kyc_level"], after["name"]) == ("active", 2, "Renamed")


@pytest.mark.long
async def test_approval_is_rejected_while_the_action_is_impossible(world: World) -> None:
    firm, second = await asking(world, "attestation.issue", "transfer.send")
    party = await firm.verified("0x52908400098527886E0F7030069857D2E4169EE7")
    accepted = await firm.post("/attestations", {"party_id": party["id"], "chain_eid": SEPOLIA})
    approval = await waiting(firm, accepted)
    chain = await firm.chain(SEPOLIA)
    await firm.post(f"/chains/{chain['id']}/disable")
    problem = await refused(second, "POST", path_of(firm, approval, "approve"), 409)
    assert problem.detail.startswith("This action is no longer possible as requested.")
    assert [p["state"] for p in problem.prerequisites if not p["satisfied"]] == ["chain_enabled"]
    assert "cannot be approved until" in (await firm.get(f"/requests/{accepted['requestId']}"))["notice"]
    assert (await second.call("GET", path_of(firm, approval)))["obstacle"] == problem.detail
    await firm.post(f"/chains/{chain['id']}/enable")
    assert (await approve(firm, second, approval))["status"] == "succeeded"
    assert (await firm.get(f"/attestations/{accepted['attestationId']}"))["status"] == "active"


@pytest.mark.long
async def test_approval_fails_when_approver_or_requester_lost_the_role(world: World) -> None:
    firm, second = await asking(world, "token.pause")
    asset = await firm.asset()
    third = await world.person(firm.id)
    accepted = await third.call("POST", f"{firm.base}/assets/{asset['id']}/pause", json={"reason": WHY})
    approval = await waiting(firm, accepted)
    async with db.worker() as session:
        for actor in (third, second):
            mine = col(MemberRow.user_id) == actor.user_id
            await session.execute(sa.update(MemberRow).where(mine).values(role=Role.VIEWER))
    await refused(second, "POST", path_of(firm, approval, "approve"), 403)
    gone = await refused(firm.admin, "POST", path_of(firm, approval, "approve"), 409)
    assert "requested this action and no longer has permission for it" in gone.detail
    assert (await deny(firm, firm.admin, approval))["status"] == "denied"


@pytest.mark.long
async def test_approver_whose_role_ends_during_the_check_cannot_approve(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm, second = await asking(world, "token.pause")
    asset = await firm.asset()
    approval = await waiting(firm, await firm.post(f"/assets/{asset['id']}/pause", {"reason": WHY}))
    rehearse = rehearsal.plan

    async def removed_during_plan(*called: Any) -> Any:
        async with db.worker() as session:
            mine = col(MemberRow.user_id) == second.user_id
            await session.execute(sa.update(MemberRow).where(mine).values(role=Role.VIEWER))
        return await rehearse(*called)

    monkeypatch.setattr(rehearsal, "plan", removed_during_plan)
    await refused(second, "POST", path_of(firm, approval, "approve"), 403)
    assert (await firm.get(f"/requests/{approval['request_id']}"))["status"] == "awaiting_approval"


@pytest.mark.long
async def test_api_key_request_counts_as_its_creators_request(world: World) -> None:
    firm, second = await asking(world, "token.pause")
    asset = await firm.asset()

    async def ask(key: dict[str, str]) -> Any:
        path = f"{firm.base}/assets/{asset['id']}/pause"
        return await waiting(
            firm, await firm.admin.client.call("POST", path, json={"chain_eid": SEPOLIA, "reason": WHY}, headers=key)
        )

    approval = await ask(firm.key)
    assert (approval["asked_by"], approval["asked_with"]) == (str(firm.admin.user_id), "test")
    await refused(firm.admin, "POST", path_of(firm, approval, "approve"), 403)
    assert (await approve(firm, second, approval))["status"] == "succeeded"
    accepted = await firm.post(f"/assets/{asset['id']}/unpause", {"reason": WHY})
    await firm.succeed(accepted["requestId"])
    approval = await ask(firm.key)
    async with db.worker() as session:
        ours = col(ApiKeyRow.organization_id) == firm.id
        await session.execute(sa.update(ApiKeyRow).where(ours).values(revoked_at=now()))
    assert "revoked" in (await refused(second, "POST", path_of(firm, approval, "approve"), 409)).detail


@pytest.mark.long
async def test_concurrent_decisions_count_once(world: World) -> None:
    firm, second = await asking(world, "token.pause", "token.unpause")
    third, fourth = await world.person(firm.id), await world.person(firm.id)
    asset = await firm.asset()
    path = f"/assets/{asset['id']}/pause"
    for verbs in (("approve", "deny", "approve"), ("approve", "approve", "deny"), ("deny", "deny", "approve")):
        approval = await waiting(firm, await firm.post(path, {"reason": WHY}))
        calls = [
            a.call("POST", path_of(firm, approval, verb), json={"reason": "No"} if verb == "deny" else None)
            for a, verb in zip((second, third, fourth), verbs, strict=True)
        ]
        answers = await asyncio.gather(*calls, return_exceptions=True)
        won = [i for i, a in enumerate(answers) if not isinstance(a, BaseException)]
        assert len(won) == 1, answers
        name = (second, third, fourth)[won[0]].email.split("@")[0].title()
        lost = [a for a in answers if isinstance(a, ApiProblem)]
        assert [(p.status, p.detail.startswith(f"{name} has ")) for p in lost] == [(409, True)] * 2
        final = answers[won[0]]["status"]
        if final == "approved":
            assert (await firm.settle(approval["request_id"]))["status"] == "succeeded"
            path = path.replace("unpause", "pause") if "unpause" in path else path.replace("/pause", "/unpause")
        else:
            assert (await firm.get(f"/requests/{approval['request_id']}"))["status"] == "denied"


async def test_retry_does_not_bypass_approval(world: World) -> None:
    firm, second = await asking(world, "transfer.send")
    async with db.transaction(firm.id) as session:
        rows = [
            await requests.write(
                session,
                requests.Wanted(
                    organization_id=firm.id,
                    kind="transfer.send",
                    title="Transfer",
                    subject_type="transfer",
                    subject_id=new_id(),
                    scope="transfers:write",
                    steps=[],
                    created_by=None,
                    arguments={"order": "x"},
                ),
            )
            for _ in range(2)
        ]
        for row in rows:
            row.status, row.can_retry = RequestStatus.FAILED, True
        approved: dict[str, Any] = {
            "status": ApprovalStatus.APPROVED,
            "decided_by": second.user_id,
            "decided_at": now(),
            "expires_at": now(),
        }
        session.add(ApprovalRow(organization_id=firm.id, request_id=rows[1].id, **approved))
    problem = await firm.refused("POST", f"/requests/{rows[0].id}/retry", 409)
    assert "second person" in problem.detail
    assert (await firm.post(f"/requests/{rows[1].id}/retry"))["status"] == "accepted"


@pytest.mark.long
async def test_distributions_and_transfers_wait_for_approval(world: World) -> None:
    firm, second = await asking(world, "distribution.activate", "transfer.send")
    asset, treasury = await firm.asset(), await firm.treasury()
    trader = await firm.trader()
    body = {
        "asset_id": asset["id"],
        "chain_eid": SEPOLIA,
        "from_wallet_id": treasury["id"],
        "to_address": trader["address"],
        "amount": "5",
    }
    accepted = await firm.post("/transfers", body)
    approval = await waiting(firm, accepted)
    plan = (await second.call("GET", path_of(firm, approval)))["plan"]
    assert [c["after"] for c in plan["impact"]["changes"] if c["address"] == trader["address"]] == ["5"]
    await deny(firm, second, approval)
    assert (await firm.get(f"/transfers/{accepted['transferId']}"))["status"] == "failed"
    path = f"/assets/{asset['id']}/distributions"
    recipients = [{"address": trader["address"], "amount": str(125 * 10**17)}]
    made = await firm.post(path, {"name": "Q1", "chain_eid": SEPOLIA, "recipients": recipients})
    terms = {"chainEid": SEPOLIA, "merkleRoot": made["merkle_root"], "totalRecipients": 1}
    assert await firm.post(f"{path}/{made['id']}/activate", terms) == {}
    approval = (await firm.get("/approvals", params={"status": "pending"}))["approvals"][0]
    shown = await second.call("GET", path_of(firm, approval))
    [named] = [one["text"] for one in shown["arguments"] if one["name"] == "distId"]
    assert named == f"Q1, 12.5 {asset['symbol']} for 1 recipient"
    known = Known(assets={asset["id"]: Unit(asset["symbol"], asset["decimals"])})
    values = known.about(shown["subject"], shown["plan"]["impact"])
    assert values.read("total_amount", shown["plan"]["impact"]["total_amount"]) == f"12.5 {asset['symbol']}"
    await deny(firm, second, approval)
    assert (await firm.get(f"{path}/{made['id']}"))["status"] == "draft"
    await firm.post(f"{path}/{made['id']}/activate", terms)
    approval = (await firm.get("/approvals", params={"status": "pending"}))["approvals"][0]
    assert (await approve(firm, second, approval))["status"] == "succeeded"
    assert (await firm.get(f"{path}/{made['id']}"))["status"] == "active"


async def test_approval_policy_cannot_be_lifted_alone(world: World) -> None:
    firm = await Firm.found(world)
    assert (await firm.patch("", {"approvals": ["token.mint", "token.burn"]}))["approvals"] == [
        "token.mint",
        "token.burn",
    ]
    assert (await firm.patch("", {"approvals": ["token.burn"]}))["approvals"] == ["token.burn"]
    second = await world.person(firm.id)
    problem = await firm.refused("PATCH", "", 409, json={"approvals": []})
    assert f"POST /v1/orgs/{firm.id}/approvals" in problem.detail
    assert (await firm.patch("", {"approvals": ["token.burn", "market.deploy"]}))["approvals"] == [
        "token.burn",
        "market.deploy",
    ]
    plan = await firm.post("/approvals", {"approvals": ["token.mint"]}, params={"dry_run": "true"})
    assert plan["impact"]["added"] == ["token.mint"]
    assert plan["impact"]["removed"] == ["token.burn", "market.deploy"]
    approval = await waiting(firm, await firm.post("/approvals", {"approvals": ["token.mint"]}))
    await refused(firm.admin, "POST", path_of(firm, approval, "approve"), 403)
    assert (await second.call("GET", path_of(firm, approval)))["plan"]["impact"] == plan["impact"]
    assert (await approve(firm, second, approval))["status"] == "succeeded"
    assert (await firm.get(""))["approvals"] == ["token.mint"]
    await firm.refused("POST", "/approvals", 400, json={"approvals": ["token.mint"]})
    await firm.refused("PATCH", "", 422, json={"approvals": ["token.steal"]})
    await firm.refused("POST", "/approvals", 422, json={"approvals": ["x"]})
    await firm.refused("POST", f"/approvals/{approval['id']}/deny", 422, json={})


@pytest.mark.long
async def test_approvals_are_paged_and_filtered(world: World) -> None:
    firm, second = await asking(world, "token.mint")
    asset, treasury = await firm.asset(), await firm.treasury()
    body = {"chain_eid": SEPOLIA, "to_address": treasury["address"], "amount": "1"}
    made = [(await firm.post(f"/assets/{asset['id']}/mint", body))["requestId"] for _ in range(3)]
    first = await firm.get("/approvals", params={"limit": 2, "asked_by": str(firm.admin.user_id)})
    rest = await firm.get("/approvals", params={"limit": 2, "cursor": first["nextCursor"]})
    assert [a["request_id"] for a in first["approvals"] + rest["approvals"]] == made[::-1]
    assert rest["nextCursor"] is None
    of_second = await firm.get("/approvals", params={"asked_by": str(second.user_id)})
    assert of_second["approvals"] == []
    assert (await firm.get("/approvals", params={"can_decide": "true"}))["approvals"] == []
    await firm.refused("GET", "/approvals", 400, params={"status": "sleeping"})


@pytest.mark.long
async def test_retry_of_a_replaced_activation_is_rejected(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    firm, second = await asking(world, "distribution.activate")
    asset = await firm.asset()
    path = f"/assets/{asset['id']}/distributions"
    made = await firm.post(path, {"name": "Q1", "chain_eid": SEPOLIA, "total_amount": "5"})
    path = f"{path}/{made['id']}"
    terms = {"chainEid": SEPOLIA, "totalRecipients": 1}
    await firm.post(f"{path}/activate", terms | {"merkleRoot": "0x" + "1a" * 32})
    first = (await firm.get("/approvals", params={"status": "pending"}))["approvals"][0]

    async def yes(*_: object) -> bool:
        return True

    with monkeypatch.context() as patched:  # the token refuses the distributor without its attestation
        patched.setattr(funding, "is_eligible", yes)
        assert (await approve(firm, second, first))["status"] == "failed"
    await firm.post(f"{path}/activate", terms | {"merkleRoot": "0x" + "2b" * 32})
    newer = (await firm.get("/approvals", params={"status": "pending"}))["approvals"][0]
    problem = await firm.refused("POST", f"/requests/{first['request_id']}/retry", 409)
    assert "newer request" in problem.detail
    assert (await firm.get(f"/requests/{first['request_id']}"))["status"] == "failed"
    record = await firm.get(path)
    assert (record["status"], record["request_id"]) == ("activating", newer["request_id"])

    assert (await deny(firm, second, newer))["status"] == "denied"
    await firm.refused("POST", f"/requests/{first['request_id']}/retry", 409)
    await firm.post(f"{path}/activate", terms | {"merkleRoot": "0x" + "2b" * 32})
    newest = (await firm.get("/approvals", params={"status": "pending"}))["approvals"][0]
    assert (await approve(firm, second, newest))["status"] == "succeeded"
    assert (await firm.get(path))["merkle_root"] == "0x" + "2b" * 32
