"""Appointments: giving a person a role, who has to agree to it, and when it ends.

Where an organization (or one below it, which the role reaches) requires a second person for any action, nobody alone
adds, invites or promotes a person who could be that second person.

Until the person accepts, an appointment ends with the key or the application's grant it was made with, with the role of
whoever made it, and after a week.
"""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.approvals import second_person
from backend.auth.makers import maker_of
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.db import Write, now
from backend.errors import Conflict
from backend.members import rules
from backend.members.models import MemberRow
from backend.members.schemas import MemberStatus, Role
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


NO_LONGER_GRANTED = (
    "The person, API key or application that added or invited you may not grant this role any more. "
    "Ask an admin of the organization to add or invite you again."
)
EXPIRED = (
    "You were added more than 7 days ago, and this has expired. Ask an admin of the organization to add you again."
)
LIFETIME = timedelta(days=7)
"""How long a membership waits for its person, as an invitation does."""
_STANDS = sa.text(
    "select signum_maker_ended(:key, :session) as has_ended,"
    " case when cast(:by as uuid) is null then null else signum_roles(:by, :org) end as roles"
).bindparams(*(sa.bindparam(name, type_=sa.Uuid()) for name in ("key", "session", "by", "org")))


@dataclass(frozen=True)
class Appointment:
    """Who gives a role, the second person who agreed where one was needed, and the key and the application's grant it
    is made with."""

    by: UUID | None
    agreed_by: UUID | None = None
    key_id: UUID | None = None
    grant_id: UUID | None = None

    def begin(self, row: MemberRow) -> None:
        """Write it into a membership whose role gains rights."""
        row.appointed_by, row.agreed_by, row.appointed_at = self.by, self.agreed_by, now()
        row.maker_key_id, row.maker_grant_id = self.key_id, self.grant_id


async def of(context: Context) -> Appointment:
    """The appointment that a request makes alone."""
    maker = await maker_of(context)
    return Appointment(context.user_id, None, maker.key_id, maker.grant_id)


async def of_run(run: Run, session: Write) -> Appointment:
    """The appointment of a request that a second person has agreed to."""
    query = (
        sa.select(
            col(RequestRow.created_by),
            col(ApprovalRow.decided_by),
            col(ApprovalRow.asked_with),
            col(ApprovalRow.asked_grant),
        )
        .join(ApprovalRow, col(ApprovalRow.request_id) == col(RequestRow.id))
        .where(col(RequestRow.id) == run.request_id)
    )
    return Appointment(*(await session.execute(query)).one())


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


async def check_still_granted(session: Write, organization_id: UUID, role: Role, made: Appointment) -> None:
    """409 where a person would begin a role that was given with a key or grant that has ended, by a person who may not
    grant it any more, or by one person alone while the organization now requires two."""
    asked = {"key": made.key_id, "session": made.grant_id, "by": made.by, "org": organization_id}
    has_ended, roles = (await session.execute(_STANDS, asked)).one()
    if has_ended or (roles is not None and not rules.may_grant([Role(r) for r in roles], role)):
        raise Conflict(NO_LONGER_GRANTED)
    is_alone = made.by is not None and made.agreed_by is None
    if rules.approves(role) and is_alone and await second_person.requiring(session, organization_id):
        raise Conflict(OUTDATED)


def given(row: MemberRow) -> Appointment:
    """The appointment that a membership was made with."""
    return Appointment(row.appointed_by, row.agreed_by, row.maker_key_id, row.maker_grant_id)


def is_over(row: MemberRow) -> bool:
    """Whether a membership has waited too long for its person."""
    return row.status is MemberStatus.PENDING and row.created_at + LIFETIME <= now()
