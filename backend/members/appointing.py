"""Appointments: giving a person a role, and who has to agree to it.

Where an organization (or one below it, which the role reaches) requires a second person for any action, nobody alone
adds, invites or promotes a person who could be that second person.
"""

from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.approvals import second_person
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.db import Write, now
from backend.errors import Conflict
from backend.members import rules
from backend.members.models import MemberRow
from backend.members.schemas import Role
from backend.requests.models import ApprovalRow, RequestRow
from backend.workflows import Run

ADD, INVITE = "member.add", "member.invite"
"""Kinds of requests that always wait for a second person."""
AGREEING = "A second person agrees"
"""The first step of what waits for one."""
OUTDATED = (
    "This organization has required a second person for this role since you were asked, and none has agreed. "
    "Ask an admin of the organization to add or invite you again."
)


@dataclass(frozen=True)
class Appointment:
    """Who gives a role, and the second person who agreed where one was needed."""

    by: UUID | None
    agreed_by: UUID | None = None

    def begin(self, row: MemberRow) -> None:
        """Write it into a membership whose role gains rights."""
        row.appointed_by, row.agreed_by, row.appointed_at = self.by, self.agreed_by, now()


async def of_run(run: Run, session: Write) -> Appointment:
    """The appointment of a request that a second person has agreed to."""
    query = (
        sa.select(col(RequestRow.created_by), col(ApprovalRow.decided_by))
        .join(ApprovalRow, col(ApprovalRow.request_id) == col(RequestRow.id))
        .where(col(RequestRow.id) == run.request_id)
    )
    asked_by, agreed_by = (await session.execute(query)).one()
    return Appointment(asked_by, agreed_by)


def check_grant(context: Context, role: Role) -> None:
    """403 where the caller may not grant a role; see `rules.check_grant`."""
    rules.check_grant(role, context.scopes, is_person=_is_person(context))


def check_taking(context: Context, role: Role) -> None:
    """403 where the caller may not take a role from a member: an admin's is taken by those who could grant it."""
    if role is Role.ADMIN:
        check_grant(context, role)


def _is_person(context: Context) -> bool:
    return context.person is not None and context.person.granted is None


async def scope_needed(context: Context, before: Role | None, after: Role | None) -> Scope | None:
    """The scope of the second person who has to agree to an appointment; None where it needs nobody. 409 where it needs
    one and nobody is there."""
    if not rules.gains(before, after):
        return None
    return await _scope(context)


async def _scope(context: Context) -> Scope | None:
    found = await second_person.requiring(context.session, context.organization_id)
    if not found:
        return None
    scope = await second_person.scope_to_agree(
        context.session, context.organization_id, context.user_id, Scope.MEMBERS_WRITE
    )
    return second_person.check_somebody_is_there(found[0], scope)


async def check_still_agreed(session: Write, organization_id: UUID, role: Role, made: Appointment) -> None:
    """409 where a person would begin a role that one person alone gave, while the organization now requires two."""
    is_alone = made.by is not None and made.agreed_by is None
    if rules.approves(role) and is_alone and await second_person.requiring(session, organization_id):
        raise Conflict(OUTDATED)


def given(row: MemberRow) -> Appointment:
    """The appointment that a membership was made with."""
    return Appointment(row.appointed_by, row.agreed_by)
