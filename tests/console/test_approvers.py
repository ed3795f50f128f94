"""The people whom the console names as those who can approve."""

from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from backend.core import db
from backend.core.db import now
from backend.models import MemberRow, OrganizationRow
from backend.organizations.schemas import Access
from backend.requests.schemas import ApproverObstacle
from backend.users.schemas import Role
from state.approvals.deciders import NO_ONE, approvers_of
from state.approvals.list import OneApproval
from state.core.session import Session
from tests.approvals.second_person import WHY, asking, path_of, waiting
from tests.conftest import Actor, World
from tests.console.events import connected
from tests.console.test_conflicts import tab_of
from tests.members.test_consent import linked
from tests.support.firm import refused

DAYS, HOURS = timedelta(days=1), timedelta(hours=1)


async def changed(person: Actor, **values: Any) -> None:
    async with db.worker() as session:
        change = sa.update(MemberRow).where(col(MemberRow.user_id) == person.user_id)
        await session.execute(change.values(**values))


async def aged(person: Actor, age: timedelta) -> None:
    await changed(person, appointed_at=now() - age)


async def test_person_whose_role_is_too_new_is_not_named(world: World) -> None:
    firm, second = await asking(world, "token.pause")
    name, officer = second.email.split("@")[0].title(), await world.person(firm.id, Role.COMPLIANCE_OFFICER)
    async with db.worker() as session:
        change = sa.update(OrganizationRow).where(col(OrganizationRow.id) == firm.id)
        await session.execute(change.values(created_at=now() - 9 * DAYS))
    asset = await firm.asset()
    await aged(officer, 2 * HOURS)
    for age, is_named in ((2 * HOURS, False), (2 * DAYS, True)):
        await aged(second, age)
        approval = await waiting(firm, await firm.post(f"/assets/{asset['id']}/pause", {"reason": WHY}))
        async with connected() as socket:
            tab = await tab_of(firm, socket, "approvals")
            await tab.send(f"{OneApproval.get_full_name()}.show", {"id": approval["id"]})
            who = tab.value(OneApproval, "row").who
            own = await socket.tab(officer.cookie, f"/o/{firm.id}/overview", org_id=str(firm.id))
            others = own.value(Session, "org").others
            assert socket.failures == []
        assert who.startswith("You requested this, so another person must approve it.")
        assert (f"{name} can approve it." in who, name in others["assets:write"]) == (is_named, is_named)
        assert ("No one can approve it yet." in who) is not is_named
        assert f"{officer.email.split('@')[0].title()} can approve it." not in who
        await firm.post(f"/approvals/{approval['id']}/withdraw")


async def test_person_who_depends_on_the_requester_is_not_named(world: World) -> None:
    firm, second = await asking(world, "token.pause")
    third = await world.person(firm.id)
    asset, own = await firm.asset(), await linked(world, firm.admin)
    approval = await waiting(firm, await firm.post(f"/assets/{asset['id']}/pause", {"reason": WHY}))
    names = [actor.email.split("@")[0].title() for actor in (second, third)]
    async with connected() as socket:
        tab = await tab_of(firm, socket, "approvals")

        async def who() -> str:
            await tab.send(f"{OneApproval.get_full_name()}.show", {"id": approval["id"]})
            return tab.value(OneApproval, "row").who

        assert [name in shown for shown in [await who()] for name in names] == [True, True]
        await changed(second, wallet_address=own)
        assert [name in shown for shown in [await who()] for name in names] == [False, True]
        await changed(third, appointed_by=firm.admin.user_id)
        assert await who() == f"You requested this, so another person must approve it. {NO_ONE}"
        assert socket.failures == []
    for actor in (second, third):
        await refused(actor, "POST", path_of(firm, approval, "approve"), 403)


def test_no_one_is_named_where_no_one_can_approve() -> None:
    def person(name: str, obstacle: ApproverObstacle | None) -> Access:
        return Access.model_construct(display_name=name, cannot_approve=obstacle)

    newer, waits = person("Nora", ApproverObstacle.NEWER), person("Elin", ApproverObstacle.WAITING)
    assert approvers_of([newer, person("Ida", None)], is_whole=True) == "Ida can approve it."
    assert approvers_of([newer], is_whole=True) == NO_ONE
    assert approvers_of([newer], is_whole=False) == ""
    assert approvers_of([newer, waits], is_whole=True).startswith("No one can approve it yet. Elin can once")
