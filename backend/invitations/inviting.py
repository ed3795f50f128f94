"""Inviting an address: at once, or when a second person has agreed."""

from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth import rate_limit
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.changes import untold
from backend.db import Write, new_id
from backend.errors import Conflict
from backend.invitations import service
from backend.invitations.models import InvitationRow
from backend.invitations.schemas import Invitation, InvitationCreate, InvitationPlan, InvitationWaiting
from backend.members import adding, appointing, rules
from backend.members.appointing import AGREEING, Appointment
from backend.members.models import MemberRow, UserRow
from backend.members.schemas import MemberFieldChange, MemberImpact, MemberStatus
from backend.requests.accept import accept, told
from backend.requests.service import Step


@dataclass(frozen=True)
class Wanted:
    """An invitation to be written."""

    organization_id: UUID
    id: UUID
    body: InvitationCreate
    by: Appointment


async def create(context: Context, body: InvitationCreate) -> Invitation | InvitationWaiting:
    """Invite somebody, or ask a second person first: 409 for a member, and for an address with a pending invitation."""
    scope, wanted = await _checked(context, body)
    if scope is None:
        row = await make(context.session, wanted)
        await _check_mails(wanted)
        return Invitation.model_validate(row)
    await _try(context, wanted)
    await _check_mails(wanted)
    request = await accept(
        context,
        appointing.INVITE,
        _title(body),
        subject=("invitation", wanted.id),
        scope=scope,
        steps=[Step("invitation_sent", _title(body))],
        order=f"members:{context.organization_id}",
        arguments={"body": body.model_dump(mode="json")},
        always_asks=True,
    )
    return InvitationWaiting(
        invitationId=wanted.id,
        status=request.status,
        request_id=str(request.id),
        message=told(request, _title(body)),
    )


async def _check_mails(wanted: Wanted) -> None:
    """429 where an address, or an organization, has had its mails of today: the addressee has not asked for any."""
    organization, email = str(wanted.organization_id), wanted.body.email
    await rate_limit.hit(rate_limit.INVITATIONS_OF_ORGANIZATION, "invite", organization)
    await rate_limit.hit(rate_limit.INVITATIONS_TO_ADDRESS, "invite", organization, email)
    await rate_limit.hit(rate_limit.INVITATIONS_TO_ADDRESS_IN_ALL, "invited", email)


async def plan(context: Context, body: InvitationCreate) -> InvitationPlan:
    """What an invitation would do."""
    scope, wanted = await _checked(context, body)
    await _try(context, wanted)
    change = MemberFieldChange(field="role", before=None, after=body.role)
    steps = [*([AGREEING] if scope else []), _title(body)]
    return InvitationPlan(steps=steps, impact=MemberImpact(changes=[change]))


async def _checked(context: Context, body: InvitationCreate) -> tuple[Scope | None, Wanted]:
    """The scope of the second person who has to agree (None where nobody has to), and what is to be written."""
    appointing.check_grant(context, body.role)
    wanted = Wanted(context.organization_id, new_id(), body, await appointing.of(context))
    return await appointing.scope_needed(context, None, body.role), wanted


async def _try(context: Context, wanted: Wanted) -> None:
    """Raise what the invitation would be refused with, and leave nothing behind."""
    with untold():
        async with context.session.begin_nested() as trial:
            await make(context.session, wanted)
            await trial.rollback()


def _title(body: InvitationCreate) -> str:
    return f"Invite {body.email} as {rules.as_words(body.role)}"


async def make(session: Write, wanted: Wanted) -> InvitationRow:
    """The invitation and its mail; the one that was made before, where a workflow does it once more."""
    if made := await session.get(InvitationRow, wanted.id):
        return made
    await service.expire_due(session, col(InvitationRow.organization_id) == wanted.organization_id)
    if await _is_member(session, wanted):
        raise Conflict(adding.ALREADY)
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
