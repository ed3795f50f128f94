"""Invite an address: immediately, or after a second person approves."""

from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.core.changes import unpublished
from backend.core.db import Write, new_id
from backend.core.errors import Conflict
from backend.core.fields import Acceptance
from backend.core.settings import settings
from backend.invitations import mail_limits, service
from backend.invitations.models import InvitationRow
from backend.invitations.schemas import Invitation, InvitationCreate, InvitationCreated, InvitationPlan
from backend.mail.schemas import MailStatus
from backend.members import addition, appointments, rules
from backend.members.appointments import AGREEING, Appointment
from backend.members.schemas import MemberFieldChange, MemberImpact
from backend.requests.accept import accept, acceptance_message
from backend.requests.service import Step
from backend.users.models import MemberRow, UserRow
from backend.users.schemas import MemberStatus


@dataclass(frozen=True)
class Wanted:
    """An invitation to write."""

    organization_id: UUID
    id: UUID
    body: InvitationCreate
    by: Appointment


async def create(context: Context, body: InvitationCreate) -> InvitationCreated | Acceptance:
    """Invite a person, or first request a second person's approval: 409 for a member, and for an address with a pending
    invitation."""
    scope, wanted = await _checked(context, body)
    if scope is None:
        row = await make(context.session, wanted)
        await _count(context, wanted)
        delivery = MailStatus.QUEUED if settings().smtp_url else MailStatus.KEPT
        return InvitationCreated(**Invitation.model_validate(row).model_dump(), delivery=delivery)
    await _try(context, wanted)
    await _count(context, wanted)
    request = await accept(
        context,
        appointments.INVITE,
        _title(body),
        subject=("invitation", wanted.id),
        scope=scope,
        steps=[Step("invitation_sent", _title(body))],
        order=f"members:{context.organization_id}",
        arguments={"body": body.model_dump(mode="json")},
        always_asks=True,
    )
    message = acceptance_message(request, _title(body))
    return Acceptance(status=request.status, request_id=str(request.id), message=message)


async def _count(context: Context, wanted: Wanted) -> None:
    await mail_limits.count(context.session, wanted.organization_id, wanted.body.email, wanted.by.by)


async def plan(context: Context, body: InvitationCreate) -> InvitationPlan:
    """Return what an invitation would do."""
    scope, wanted = await _checked(context, body)
    await _try(context, wanted)
    change = MemberFieldChange(field="role", before=None, after=body.role)
    steps = [*([AGREEING] if scope else []), _title(body)]
    return InvitationPlan(steps=steps, impact=MemberImpact(changes=[change], email=body.email))


async def _checked(context: Context, body: InvitationCreate) -> tuple[Scope | None, Wanted]:
    """Return the scope that the second person needs (None if no approval is needed), and what to write."""
    appointments.check_grant(context, body.role)
    wanted = Wanted(context.organization_id, new_id(), body, await appointments.of(context))
    return await appointments.scope_needed(context, None, body.role), wanted


async def _try(context: Context, wanted: Wanted) -> None:
    """Write the invitation, raise what it would be refused with, and roll it back."""
    with unpublished():
        async with context.session.begin_nested() as trial:
            await make(context.session, wanted)
            await trial.rollback()


def _title(body: InvitationCreate) -> str:
    return f"Invite {body.email} as {rules.as_words(body.role)}"


async def make(session: Write, wanted: Wanted) -> InvitationRow:
    """Create the invitation and its email; on a workflow retry, return the existing one."""
    if made := await session.get(InvitationRow, wanted.id):
        return made
    await service.expire_due(session, col(InvitationRow.organization_id) == wanted.organization_id)
    if await _is_member(session, wanted):
        raise Conflict(addition.ALREADY)
    return await service.write(
        session,
        wanted.organization_id,
        wanted.body.email,
        wanted.body.role,
        by=wanted.by,
        id_=wanted.id,
    )


async def _is_member(session: Write, wanted: Wanted) -> bool:
    members = sa.select(col(MemberRow.id)).where(
        col(MemberRow.organization_id) == wanted.organization_id,
        col(MemberRow.user_id) == col(UserRow.id),
        col(UserRow.email) == wanted.body.email,
        col(MemberRow.status) == MemberStatus.ACTIVE,
    )
    return bool(await session.scalar(sa.select(members.exists())))
