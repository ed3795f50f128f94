"""Write, list, revoke and accept invitations."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from backend.auth.principal import Context
from backend.auth.secrets import digest, token
from backend.core.changes import THE_SYSTEM, acting, proven, publish, shown
from backend.core.db import Write, new_id, now, widen
from backend.core.errors import Conflict, NotFound
from backend.core.pagination import where_given
from backend.core.roots import account_origin
from backend.core.settings import settings
from backend.invitations import rules
from backend.invitations.models import InvitationRow
from backend.invitations.rules import LIFETIME, token_in
from backend.invitations.schemas import (
    Invitation,
    InvitationAccept,
    InvitationAccepted,
    InvitationList,
    InvitationPreview,
    InvitationStatus,
    SentInvitation,
)
from backend.lists.pages import Listing, Page
from backend.mail.models import Cause, mail
from backend.mail.rules import unlinked
from backend.mail.schemas import MailKind
from backend.members import addition, appointments
from backend.members.appointments import Appointment
from backend.members.rules import as_words
from backend.sign_in.accounts import create_account
from backend.users.schemas import Role

__all__ = ["accept", "exists", "one", "page", "preview", "revoke", "token_in", "write"]
INVITATIONS = sa.inspect(InvitationRow).local_table
LIST = Listing.of(INVITATIONS.c, "created_at", "updated_at", names=(INVITATIONS.c.email,))
_MAILS = sa.text("""
  select i.id, o.status from invitations i join outbox o
    on o.organization_id = i.organization_id and o.opens = i.token_hash
    and o.created_at between i.created_at - interval '1 minute' and i.created_at + interval '1 minute'
  where i.organization_id = :org and i.id = any(:ids)
""")
"""The emails of some invitations. Their times, those of one transaction, let it use an index of the outbox."""
PENDING = "An invitation to this address is already pending. Revoke it to send another."


async def page(context: Context, page: Page, status: InvitationStatus | None) -> InvitationList:
    """Return a page of invitations; expired ones are marked first."""
    query = where_given(await _query(context), (INVITATIONS.c.status, status))
    shown, paging = await page.read(context.session, query)
    return InvitationList(invitations=await _sent(context, shown), **paging)


async def one(context: Context, invitation_id: UUID) -> SentInvitation:
    """Return an invitation; 404 if the organization has none with this ID."""
    query = (await _query(context)).where(INVITATIONS.c.id == invitation_id)
    row = (await context.session.execute(query)).first()
    if row is None:
        raise NotFound("There is no invitation with this ID in this organization.")
    return (await _sent(context, [row]))[0]


async def _sent(context: Context, rows: Sequence[Any]) -> list[SentInvitation]:
    """Return invitations with the state of their emails."""
    values = {"org": context.organization_id, "ids": [row.id for row in rows]}
    found = {mail.id: mail.status for mail in await context.session.execute(_MAILS, values)}
    return [SentInvitation(**row._mapping, delivery=found.get(row.id)) for row in rows]


async def _query(context: Context) -> sa.Select[Any]:
    await expire_due(context.session, col(InvitationRow.organization_id) == context.organization_id)
    columns = (c for c in INVITATIONS.c if c.name != "token_hash")
    return sa.select(*columns).where(INVITATIONS.c.organization_id == context.organization_id)


async def expire_due(session: Write, *which: sa.ColumnElement[bool]) -> None:
    """Mark expired invitations, of some or of all that the session sees: for the sweep, and before a list."""
    due = sa.update(InvitationRow).where(
        *which, col(InvitationRow.status) == InvitationStatus.PENDING, col(InvitationRow.expires_at) <= now()
    )
    expired = due.values(status=InvitationStatus.EXPIRED, updated_at=now()).returning(InvitationRow)
    with acting(THE_SYSTEM):
        for row in (await session.scalars(expired)).all():
            await _publish(session, row, InvitationStatus.PENDING)


async def _publish(session: Write, row: InvitationRow, before: InvitationStatus) -> None:
    subject, action = ("invitation", row.id), f"invitation.{row.status}"
    await publish(session, row.organization_id, action, subject, {"status": before}, {"status": row.status})


async def exists(session: Write, organization_id: UUID, email: str) -> bool:
    """Return whether an address was ever invited."""
    query = sa.select(
        sa.exists().where(
            col(InvitationRow.organization_id) == organization_id, col(InvitationRow.email) == email.lower()
        )
    )
    return bool(await session.scalar(query))


async def write(
    session: Write,
    organization_id: UUID,
    email: str,
    role: Role,
    *,
    by: Appointment,
    id_: UUID | None = None,
    lifetime: timedelta = LIFETIME,
) -> InvitationRow:
    """Write an invitation and its email. The token is in the email only; 409 if one is pending."""
    secret = token()
    row = InvitationRow(
        id=id_ or new_id(),
        organization_id=organization_id,
        email=email.lower(),
        role=role,
        token_hash=digest(secret),
        expires_at=now() + lifetime,
        invited_by=by.by,
        agreed_by=by.agreed_by,
        maker_key_id=by.key_id,
        maker_grant_id=by.grant_id,
    )
    session.add(row)
    try:
        await session.flush()
    except IntegrityError as error:
        raise Conflict(PENDING) from error
    name = await session.scalar(sa.text("select name from organizations where id = :id"), {"id": organization_id})
    subject, text = rules.letter(unlinked(str(name)), as_words(role), rules.link(settings().origin, secret), lifetime)
    # Anyone who has the link joins as this person with this role, so no tenant's admin may read it in the outbox.
    cause = Cause(MailKind.NOTICE, by.by)
    session.add(mail(organization_id, row.email, subject, text, cause, is_private=True, opens=row.token_hash))
    await session.flush()
    made = shown(Invitation, row)
    await publish(session, organization_id, "invitation.created", ("invitation", row.id), None, made)
    return row


async def revoke(context: Context, invitation_id: UUID) -> str:
    """End a pending invitation; the answer names its address."""
    query = sa.select(InvitationRow).where(
        col(InvitationRow.id) == invitation_id, col(InvitationRow.organization_id) == context.organization_id
    )
    row: InvitationRow | None = await context.session.scalar(query.with_for_update())
    if row is None:
        raise NotFound("There is no invitation with this ID in this organization.")
    rules.check_revocable(rules.status_at(row.status, row.expires_at, now()))
    row.status = InvitationStatus.REVOKED
    await _publish(context.session, row, InvitationStatus.PENDING)
    return f"The invitation of {row.email} is revoked."


async def _find(session: Write, secret: str) -> Any:
    """Return the invitation of a token, in any status; 404 if the token is unknown."""
    found = (await session.execute(sa.text("select * from signum_invitation(:h)"), {"h": digest(secret)})).first()
    if found is None:
        raise NotFound("This invitation does not exist.")
    return found


async def preview(context: Context, secret: str) -> InvitationPreview:
    """Return the preview of a token's invitation."""
    found = await _find(context.session, secret)
    await widen(context.session, found.organization_id)
    return InvitationPreview(
        organization_id=found.organization_id,
        organization_name=found.organization_name,
        email=found.email,
        role=found.role,
        status=rules.status_at(InvitationStatus(found.status), found.expires_at, now()),
        has_account=found.has_account,
        expires_at=found.expires_at,
    )


async def accept(context: Context, body: InvitationAccept) -> InvitationAccepted:
    """Become a member: as the signed-in person whose address was invited, or with a new account for that address."""
    session = context.session
    found = await _find(session, body.token)
    await widen(session, found.organization_id)
    await context.check_address(found.organization_id)
    row = await session.get_one(InvitationRow, found.id, with_for_update=True)
    rules.check_acceptable(rules.status_at(row.status, row.expires_at, now()))
    person = await _person(context, row, body, has_account=found.has_account)
    proven(person, context.who.credential)
    by = Appointment(row.invited_by, row.agreed_by, row.maker_key_id, row.maker_grant_id)
    await appointments.check_still_granted(session, row.organization_id, row.role, by)
    member = await addition.join(session, row.organization_id, person, row.role, by)
    row.status = InvitationStatus.ACCEPTED
    await session.flush()
    await _publish(session, row, InvitationStatus.PENDING)
    return InvitationAccepted(
        member_id=member.id,
        organization_id=row.organization_id,
        organization_name=found.organization_name,
        user_id=person,
        email=row.email,
        role=row.role,
    )


async def _person(context: Context, row: InvitationRow, body: InvitationAccept, *, has_account: bool) -> UUID:
    if context.person is not None:
        rules.check_addressee(row.email, context.person.email or "")
        return context.person.user_id
    if has_account:
        raise Conflict("An account with this address already exists. Sign in, then accept the invitation.")
    name, password = rules.account_of(body)
    try:
        origin = await account_origin(context.session, row.organization_id)
        return (await create_account(context.session, row.email, name, password, origin)).id
    except IntegrityError as error:
        raise Conflict("An account with this address already exists. Sign in, then accept the invitation.") from error
