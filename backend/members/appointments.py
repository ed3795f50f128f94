"""Appointments: assigning a role to a person, who must approve it, and when it ends.

If an organization (or one below it that the role reaches) requires a second person for any action, adding, inviting or
promoting a person who could be that second person needs approval.

Until the person accepts, an appointment ends with the API key or the application's grant that made it, with the role of
its maker, and after 7 days.
"""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.makers import maker_of
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.core.db import Write, now
from backend.core.errors import Conflict
from backend.core.recorded_time import recorded_now
from backend.members import rules
from backend.requests import second_person
from backend.requests.models import ApprovalRow, RequestRow
from backend.requests.runs import Run
from backend.users.models import MemberRow
from backend.users.schemas import MemberStatus, Role

ADD, INVITE = "member.add", "member.invite"
"""Kinds of requests that always need a second person."""
AGREEING = "A second person approves"
"""The first step of a request that needs a second person."""
OUTDATED = (
    "Since you were asked, this organization started to require a second person's approval for this role. Ask an "
    "admin of the organization to add or invite you again."
)


NO_LONGER_GRANTED = (
    "The person, API key or application that added or invited you may no longer grant this role. Ask an admin of "
    "the organization to add or invite you again."
)
EXPIRED = "This membership has expired, 7 days after you were added. Ask an admin of the organization to add you again."
LIFETIME = timedelta(days=7)
"""How long a membership waits for its person; the same as for an invitation."""
_STANDS = sa.text(
    "select signum_maker_ended(:key, :session) as has_ended,"
    " case when cast(:by as uuid) is null then null else signum_roles(:by, :org) end as roles"
).bindparams(*(sa.bindparam(name, type_=sa.Uuid()) for name in ("key", "session", "by", "org")))


@dataclass(frozen=True)
class Appointment:
    """Who assigns a role, the second person who approved it if one was needed, and the key or application's grant it
    was made with."""

    by: UUID | None
    agreed_by: UUID | None = None
    key_id: UUID | None = None
    grant_id: UUID | None = None

    def begin(self, row: MemberRow) -> None:
        """Record the appointment in a membership whose role gains rights."""
        row.appointed_by, row.agreed_by, row.appointed_at = self.by, self.agreed_by, recorded_now()
        row.maker_key_id, row.maker_grant_id = self.key_id, self.grant_id


async def of(context: Context) -> Appointment:
    """Return the appointment that a request makes alone."""
    maker = await maker_of(context)
    return Appointment(context.user_id, None, maker.key_id, maker.grant_id)


async def of_run(run: Run, session: Write) -> Appointment:
    """Return the appointment of a request that a second person approved."""
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
    """Raise 403 if the caller may not grant a role; see `rules.check_grant`."""
    rules.check_grant(role, context.scopes, is_person=_is_person(context))


def check_taking(context: Context, role: Role) -> None:
    """Raise 403 if the caller may not take a role from a member: only those who could grant the admin role may take
    it."""
    if role is Role.ADMIN:
        check_grant(context, role)


def _is_person(context: Context) -> bool:
    return context.person is not None and context.person.granted is None


async def scope_needed(context: Context, before: Role | None, after: Role | None) -> Scope | None:
    """Return the scope that the second person needs to approve an appointment; None if no approval is needed. 409 if
    approval is needed and no one can give it."""
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
    return second_person.check_approver_exists(found[0], scope)


async def check_still_granted(session: Write, organization_id: UUID, role: Role, made: Appointment) -> None:
    """Raise 409 if the role was assigned with a key or grant that has ended, by a person who may no longer grant it, or
    without a second person that the organization now requires."""
    asked = {"key": made.key_id, "session": made.grant_id, "by": made.by, "org": organization_id}
    has_ended, roles = (await session.execute(_STANDS, asked)).one()
    if has_ended or (roles is not None and not rules.may_grant([Role(r) for r in roles], role)):
        raise Conflict(NO_LONGER_GRANTED)
    is_alone = made.by is not None and made.agreed_by is None
    if rules.approves(role) and is_alone and await second_person.requiring(session, organization_id):
        raise Conflict(OUTDATED)


def given(row: MemberRow) -> Appointment:
    """Return the appointment that a membership was made with."""
    return Appointment(row.appointed_by, row.agreed_by, row.maker_key_id, row.maker_grant_id)


def is_over(row: MemberRow) -> bool:
    """Return whether a membership's time to accept has expired."""
    return row.status is MemberStatus.PENDING and row.created_at + LIFETIME <= now()
