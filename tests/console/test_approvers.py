"""The people whom the console names as those who can approve."""

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.core import db
from backend.core.db import now
from backend.models import MemberRow, OrganizationRow
from backend.organizations.schemas import Organization
from backend.users.schemas import Role
from state.approvals.approvers import can_approve
from state.approvals.list import OneApproval
from state.core.session import Session
from tests.approvals.second_person import WHY, asking, waiting
from tests.conftest import Actor, World
from tests.console.events import connected
from tests.console.test_conflicts import tab_of

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DAYS, HOURS = timedelta(days=1), timedelta(hours=1)


@pytest.mark.parametrize(
    ("role", "organization", "wait", "asked", "is_able"),
    [
        (25 * HOURS, 9 * DAYS, 24, HOURS, True),
        (23 * HOURS, 9 * DAYS, 24, HOURS, False),
        (23 * HOURS, 9 * DAYS, 0, HOURS, True),
        (2 * HOURS, 20 * HOURS, 24, HOURS, True),
        (2 * DAYS, 9 * DAYS, 24, 3 * DAYS, False),
        (None, 9 * DAYS, 24, HOURS, True),
    ],
)
def test_role_approves_after_the_wait_and_only_later_requests(
    role: timedelta | None, organization: timedelta, wait: int, asked: timedelta, *, is_able: bool
) -> None:
    made = Organization.model_construct(created_at=NOW - organization, approver_wait_hours=wait)
    assert can_approve(made, None if role is None else NOW - role, NOW - asked, NOW) is is_able


async def aged(person: Actor, age: timedelta) -> None:
    async with db.worker() as session:
        change = sa.update(MemberRow).where(col(MemberRow.user_id) == person.user_id)
        await session.execute(change.values(appointed_at=now() - age))


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
        assert (name in who, name in others["assets:write"]) == (is_named, is_named)
        assert officer.email.split("@")[0].title() not in who
        await firm.post(f"/approvals/{approval['id']}/withdraw")
