"""A second person is independent: the requester did not appoint, invite or move them in."""

from typing import Any

import pytest
import sqlalchemy as sa
from eth_account import Account
from sqlmodel import col

from backend.client import ApiProblem
from backend.core import db
from backend.invitations.service import token_in
from backend.models import MemberRow, OrganizationRow
from backend.users.schemas import Role
from tests.approvals.second_person import approve, deny, path_of, waiting
from tests.approvals.test_members import members, team
from tests.auth.test_wallet_sign_in import begin, signed, text_of
from tests.conftest import PASSWORD, Actor, World
from tests.members.test_consent import linked
from tests.members.test_members import wallet
from tests.support.firm import Firm, refused

POLICY = {"approvals": ["token.mint"]}


async def signed_in(world: World, account: Any) -> Actor:
    """A person who signs in with a wallet, in their own browser."""
    body = signed(account, text_of(await begin(world), account.address))
    answer = await world.client.call("POST", "/auth/siwe/verify", json=body)
    token = answer["access_token"]

    class ByWallet(Actor):
        async def call(self, method: str, path: str, **options: Any) -> Any:
            return await self.client.call(method, path, token=token, **options)

    return ByWallet(answer["user"]["id"], "", "", world.client)


async def ask(firm: Firm, actor: Actor, actions: list[str]) -> Any:
    """Return the approval of an action that always waits, requested by a person."""
    answer = await actor.call("POST", f"{firm.base}/approvals", json={"approvals": actions})
    return await waiting(firm, answer)


async def agreed_with(firm: Firm, actor: Actor, approval: Any) -> None:
    assert (await approve(firm, actor, approval))["status"] == "succeeded"


async def invited(world: World, firm: Firm, email: str, role: str, by: Actor | None = None) -> None:
    """A new person who was invited and has accepted."""
    body = {"email": email, "role": role}
    await (by or firm.admin).call("POST", f"{firm.base}/invitations", json=body)
    await accept(world, firm, email)


async def accept(world: World, firm: Firm, email: str) -> None:
    token = token_in(await world.letter(firm.id))
    body = {"token": token, "display_name": email.split("@")[0], "password": PASSWORD}
    await world.client.call("POST", "/invitations/accept", json=body)


@pytest.mark.long
@pytest.mark.parametrize("role", ["admin", "compliance_officer", "member"])
async def test_approver_addition_or_invitation_waits_for_a_second_person(world: World, role: str) -> None:
    firm, second, _ = await team(world, "token.mint")
    address = wallet()
    body = {"wallet_address": address, "role": role, "display_name": "Nora"}
    plan = await firm.post("/members", body, params={"dry_run": "true"})
    assert plan["steps"][0] == "A second person approves"
    accepted = await firm.post("/members", body)
    assert address not in str(await members(firm)), "no one is added before a second person agrees"
    approval = await waiting(firm, accepted)
    assert approval["action"] == "member.add"
    assert "memberId" not in accepted, "there is no member yet to follow it to"
    await refused(firm.admin, "POST", path_of(firm, approval, "approve"), 403)
    shown = await second.call("GET", path_of(firm, approval))
    assert shown["plan"]["impact"]["changes"] == [{"field": "role", "before": None, "after": role}]
    await agreed_with(firm, second, approval)
    [added] = (await firm.get(f"/members?q={address.lower()}"))["members"]
    assert (added["id"], added["role"]) == (approval["subject"]["id"], role)
    mail = {"email": f"nora.{role}@example.com", "role": role}
    accepted = await firm.post("/invitations", mail)
    approval = await waiting(firm, accepted)
    assert (approval["action"], "invitationId" in accepted) == ("member.invite", False)
    assert (await firm.get("/invitations"))["invitations"] == [], "no email is sent before a second person agrees"
    assert (await deny(firm, second, approval))["status"] == "denied"
    approval = await waiting(firm, await firm.post("/invitations", mail))
    await agreed_with(firm, second, approval)
    [invitation] = (await firm.get("/invitations"))["invitations"]
    assert (invitation["email"], invitation["role"]) == (mail["email"], role)
    await accept(world, firm, mail["email"])
    assert mail["email"] in [m["user"]["email"] for m in (await members(firm)).values()]


async def test_api_key_waits_like_its_creator(world: World) -> None:
    firm, _, _ = await team(world, "token.mint")
    body = {"wallet_address": wallet(), "role": "compliance_officer"}
    accepted = await world.client.call("POST", f"{firm.base}/members", json=body, headers=firm.key)
    approval = await waiting(firm, accepted)
    assert approval["asked_by"] == str(firm.admin.user_id)


async def test_clients_and_viewers_are_added_without_approval(world: World) -> None:
    firm, _, _ = await team(world, "token.mint")
    for role in ("client", "viewer"):
        assert (await firm.post("/members", {"wallet_address": wallet(), "role": role}))["role"] == role
        assert (await firm.post("/invitations", {"email": f"{role}@example.com", "role": role}))["role"] == role


async def test_approver_promotion_and_removal_wait_for_approval(world: World) -> None:
    firm, second, _ = await team(world, "token.mint")
    viewer, officer = await world.person(firm.id, Role.VIEWER), await world.person(firm.id, Role.COMPLIANCE_OFFICER)
    known = await members(firm)
    path = f"/members/{known[str(viewer.user_id)]['id']}"
    approval = await waiting(firm, await firm.patch(path, {"role": "compliance_officer"}))
    await agreed_with(firm, second, approval)
    assert (await members(firm))[str(viewer.user_id)]["role"] == "compliance_officer"
    gone = f"{firm.base}/members/{known[str(officer.user_id)]['id']}"
    assert (await waiting(firm, await firm.admin.call("DELETE", gone)))["action"] == "member.remove"
    demoted = await firm.admin.call("PATCH", gone, json={"role": "viewer"})
    assert (await waiting(firm, demoted))["action"] == "member.change_role"


async def test_sole_admin_lifts_the_policy_before_appointing(world: World) -> None:
    firm = await Firm.found(world)
    await firm.patch("", POLICY)
    body = {"wallet_address": wallet(), "role": "compliance_officer"}
    problem = await firm.refused("POST", "/members", 409, json=body)
    [entry] = problem.body["prerequisites"]
    assert (entry["resolution"]["method"], entry["resolution"]["path"]) == ("PATCH", f"/orgs/{firm.id}")
    await firm.refused("POST", "/invitations", 409, json={"email": "x@example.com", "role": "member"})
    await firm.patch("", {"approvals": []})
    assert (await firm.post("/members", body))["role"] == "compliance_officer"


async def test_compliance_officer_approves_when_there_is_no_other_admin(world: World) -> None:
    firm = await Firm.found(world)
    officer = await world.person(firm.id, Role.COMPLIANCE_OFFICER)
    await firm.patch("", POLICY)
    await firm.refused("PATCH", "", 409, json={"approvals": []})
    gone = f"{firm.base}/members/{(await members(firm))[str(officer.user_id)]['id']}"
    await waiting(firm, await firm.admin.call("DELETE", gone))
    approval = await waiting(firm, await firm.post("/members", {"wallet_address": wallet(), "role": "admin"}))
    await agreed_with(firm, officer, approval)
    await agreed_with(firm, officer, await ask(firm, firm.admin, []))
    assert (await firm.get(""))["approvals"] == []


async def test_compliance_officer_approves_when_the_requester_added_every_other_admin(world: World) -> None:
    firm = await Firm.found(world)
    officer = await world.person(firm.id, Role.COMPLIANCE_OFFICER)
    await firm.patch("", POLICY)
    for account in (Account.create(), Account.create()):
        body = {"wallet_address": account.address, "role": "admin"}
        approval = await waiting(firm, await firm.post("/members", body))
        await agreed_with(firm, officer, approval)
        appointed = await signed_in(world, account)
        await appointed.call("POST", f"/memberships/{approval['subject']['id']}/accept")
    assert [one["role"] for one in (await members(firm)).values()].count("admin") == 3


async def test_approver_must_be_a_member_before_the_request(world: World) -> None:
    firm, second, _ = await team(world, "token.mint")
    approval = await ask(firm, firm.admin, [])
    late = await world.person(firm.id)
    problem = await refused(late, "POST", path_of(firm, approval, "approve"), 403)
    assert "newer than this request" in problem.detail
    await refused(late, "POST", path_of(firm, approval, "deny"), 403, json={"reason": "x"})
    assert not (await late.call("GET", path_of(firm, approval)))["can_decide"]
    assert (await late.call("GET", f"{firm.base}/approvals", params={"can_decide": "true"}))["approvals"] == []
    await agreed_with(firm, second, approval)


async def test_approver_appointed_by_the_requester_is_rejected(world: World) -> None:
    """Also if the wallet was added before the organization used approvals."""
    firm = await Firm.found(world)
    account = Account.create()
    made = await firm.post("/members", {"wallet_address": account.address, "role": "admin"})
    puppet = await signed_in(world, account)
    await puppet.call("POST", f"/memberships/{made['id']}/accept")
    second = await world.person(firm.id)
    await firm.patch("", POLICY)
    approval = await ask(firm, firm.admin, [])
    problem = await refused(puppet, "POST", path_of(firm, approval, "approve"), 403)
    assert "added" in problem.detail
    assert not (await puppet.call("GET", path_of(firm, approval)))["can_decide"]
    await deny(firm, second, approval)
    approval = await ask(firm, second, [])
    await agreed_with(firm, puppet, approval)


async def placed(world: World, firm: Firm, by: Actor, role: str = "admin") -> Actor:
    """A person whom a member has added alone, and who has accepted."""
    account = Account.create()
    made = await by.call("POST", f"{firm.base}/members", json={"wallet_address": account.address, "role": role})
    person = await signed_in(world, account)
    await person.call("POST", f"/memberships/{made['id']}/accept")
    return person


@pytest.mark.long
async def test_accounts_appointed_by_one_admin_cannot_approve_each_other(world: World) -> None:
    firm = await Firm.found(world)
    dishonest = await placed(world, firm, firm.admin)
    first, sibling = await placed(world, firm, dishonest), await placed(world, firm, dishonest)
    second = await placed(world, firm, first)
    await firm.patch("", POLICY)
    for asker, accomplice in ((dishonest, second), (second, dishonest), (first, sibling), (second, sibling)):
        approval = await ask(firm, asker, [])
        problem = await refused(accomplice, "POST", path_of(firm, approval, "approve"), 403)
        assert "The same person alone appointed both of you here" in problem.detail
        assert not (await accomplice.call("GET", path_of(firm, approval)))["can_decide"]
        await deny(firm, firm.admin, approval)
    await agreed_with(firm, sibling, await ask(firm, firm.admin, []))


async def test_accounts_of_one_admin_stay_dependent_when_the_intermediate_account_leaves(world: World) -> None:
    firm = await Firm.found(world)
    dishonest = await placed(world, firm, firm.admin)
    between = await placed(world, firm, dishonest)
    last = await placed(world, firm, between)
    await firm.patch("", POLICY)
    approval = await ask(firm, dishonest, [])
    own = (await members(firm))[str(between.user_id)]["id"]
    await between.call("DELETE", f"{firm.base}/members/{own}")
    problem = await refused(last, "POST", path_of(firm, approval, "approve"), 403)
    assert "The same person alone appointed both of you here" in problem.detail


async def test_accounts_of_an_admin_stay_dependent_when_the_inviter_has_left(world: World) -> None:
    firm = await Firm.found(world)
    inviter = await placed(world, firm, firm.admin)
    dishonest = await placed(world, firm, inviter, "viewer")
    known = await members(firm)
    await firm.patch(f"/members/{known[str(dishonest.user_id)]['id']}", {"role": "admin"})
    await firm.admin.call("DELETE", f"{firm.base}/members/{known[str(inviter.user_id)]['id']}")
    first, second = await placed(world, firm, dishonest), await placed(world, firm, dishonest)
    await firm.patch("", POLICY)
    await refused(second, "POST", path_of(firm, await ask(firm, first, []), "approve"), 403)


async def test_accounts_of_an_admin_stay_dependent_when_the_admin_re_appoints_the_founder(world: World) -> None:
    firm = await Firm.found(world)
    dishonest = await placed(world, firm, firm.admin)
    first, _ = await placed(world, firm, dishonest), await placed(world, firm, dishonest)
    founder = f"{firm.base}/members/{(await members(firm))[str(firm.admin.user_id)]['id']}"
    for role in ("viewer", "admin"):
        await dishonest.call("PATCH", founder, json={"role": role})
    await firm.patch("", POLICY)
    problem = await refused(first, "POST", f"{firm.base}/approvals", 409, json={"approvals": []})
    assert (
        "No one else here can approve this independently of you and of the person who appointed you" in problem.detail
    )


@pytest.mark.long
async def test_role_changed_with_approval_counts_as_appointed_by_two_people(world: World) -> None:
    firm = await Firm.found(world)
    head = await placed(world, firm, firm.admin)
    first, second = await placed(world, firm, head), await placed(world, firm, head)
    await firm.patch("", POLICY)
    path = f"{firm.base}/members/{(await members(firm))[str(second.user_id)]['id']}"
    for role in ("viewer", "admin"):
        changed = await head.call("PATCH", path, json={"role": role})
        await agreed_with(firm, firm.admin, await waiting(firm, changed))
    appointment = (await members(firm))[str(second.user_id)]["appointment"]
    names = {user: member["user"]["display_name"] for user, member in (await members(firm)).items()}
    assert appointment["agreed_by"] == names[str(firm.admin.user_id)]
    await agreed_with(firm, second, await ask(firm, first, []))


async def test_accounts_of_one_admin_approve_each_other_when_no_other_admin_remains(world: World) -> None:
    firm = await Firm.found(world)
    head = await placed(world, firm, firm.admin)
    first, second = await placed(world, firm, head), await placed(world, firm, head)
    founder = (await members(firm))[str(firm.admin.user_id)]["id"]
    await head.call("DELETE", f"{firm.base}/members/{founder}")
    await head.call("PATCH", firm.base, json=POLICY)
    firm.admin = head
    approval = await ask(firm, first, [])
    await agreed_with(firm, second, approval)


async def test_approver_cannot_sign_with_a_wallet_of_the_requester(world: World) -> None:
    firm, second, known = await team(world, "token.mint")
    own = await linked(world, firm.admin)
    async with db.worker() as session:
        row = await session.get_one(MemberRow, known[str(second.user_id)]["id"])
        row.wallet_address = own
    approval = await ask(firm, firm.admin, [])
    assert "wallet" in (await refused(second, "POST", path_of(firm, approval, "approve"), 403)).detail


async def test_request_without_a_possible_approver_is_rejected_immediately(world: World) -> None:
    firm = await Firm.found(world)
    account = Account.create()
    made = await firm.post("/members", {"wallet_address": account.address, "role": "admin"})
    appointed = await signed_in(world, account)
    await appointed.call("POST", f"/memberships/{made['id']}/accept")
    await firm.patch("", POLICY)
    problem = await firm.refused("POST", "/approvals", 409, json={"approvals": []})
    assert problem.prerequisites[0]["resolution"]["path"] == f"/orgs/{firm.id}/members"
    third = {"wallet_address": (other := Account.create()).address, "role": "admin"}
    accepted = await appointed.call("POST", f"{firm.base}/members", json=third)
    approval = await waiting(firm, accepted)
    await agreed_with(firm, firm.admin, approval)
    independent = await signed_in(world, other)
    await independent.call("POST", f"/memberships/{approval['subject']['id']}/accept")
    await agreed_with(firm, independent, await ask(firm, firm.admin, []))


async def test_promotion_counts_as_an_appointment(world: World) -> None:
    firm = await Firm.found(world)
    viewer, second = await world.person(firm.id, Role.VIEWER), await world.person(firm.id)
    await firm.patch(f"/members/{(await members(firm))[str(viewer.user_id)]['id']}", {"role": "admin"})
    await firm.patch("", POLICY)
    approval = await ask(firm, firm.admin, [])
    assert "added" in (await refused(viewer, "POST", path_of(firm, approval, "approve"), 403)).detail
    await agreed_with(firm, second, approval)


async def test_invitation_from_before_the_policy_appoints_no_approver(world: World) -> None:
    firm = await Firm.found(world)
    await world.person(firm.id)
    await firm.post("/invitations", {"email": "early@example.com", "role": "compliance_officer"})
    account = Account.create()
    made = await firm.post("/members", {"wallet_address": account.address, "role": "member"})
    puppet = await signed_in(world, account)
    await firm.patch("", POLICY)
    with pytest.raises(ApiProblem) as raised:
        await accept(world, firm, "early@example.com")
    assert (raised.value.status, "second person" in raised.value.detail) == (409, True)
    problem = await refused(puppet, "POST", f"/memberships/{made['id']}/accept", 409)
    assert "second person" in problem.detail
    async with db.worker() as session:
        ours = sa.update(OrganizationRow).where(col(OrganizationRow.id) == firm.id)
        await session.execute(ours.values(approvals=[]))
    await accept(world, firm, "early@example.com")


async def test_child_policy_binds_parent_members_whose_roles_reach_it(world: World) -> None:
    group = await Firm.found(world, "Group")
    second = await world.person(group.id)
    vehicle = await world.organization("Vehicle", group.id)
    await group.admin.call("PATCH", f"/orgs/{vehicle}", json=POLICY)
    accepted = await group.post("/members", {"wallet_address": wallet(), "role": "member"})
    await agreed_with(group, second, await waiting(group, accepted))


async def test_organization_with_approvals_cannot_move_under_other_approvers(world: World) -> None:
    group = await Firm.found(world, "Group")
    second = await world.person(group.id)
    vehicle = await world.organization("Vehicle", group.id)
    elsewhere = await world.organization("Elsewhere")
    async with db.worker() as session:
        session.add(MemberRow(organization_id=elsewhere, user_id=group.admin.user_id, role=Role.ADMIN))
    await group.admin.call("PATCH", f"/orgs/{vehicle}", json=POLICY)
    path = f"/sub-orgs/{vehicle}/move"
    problem = await group.refused("POST", path, 409, json={"newParentId": str(elsewhere)})
    assert "second person" in problem.detail
    assert second


async def test_appointment_requested_twice_is_made_once(world: World) -> None:
    firm, second, _ = await team(world, "token.mint")
    body = {"wallet_address": wallet(), "role": "member"}
    approvals = [await waiting(firm, await firm.post("/members", body)) for _ in range(2)]
    await agreed_with(firm, second, approvals[0])
    problem = await refused(second, "POST", path_of(firm, approvals[1], "approve"), 409)
    assert "already added" in problem.detail
