"""A person's answer to a membership offer. The organization sees who they are only if they accept."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.principal import Context
from backend.core import roots
from backend.core.changes import NOBODY, Who, acting
from backend.core.db import Write, now, widen
from backend.core.errors import Conflict, NotFound
from backend.lists.pages import Listing, Page
from backend.members import addition, appointments, service
from backend.memberships.schemas import Membership, PendingMembership, PendingMembershipList
from backend.users.models import MemberRow, UserWalletRow
from backend.users.schemas import MemberStatus

LIST = Listing(
    {"created_at": sa.column("created_at", sa.DateTime(timezone=True))},
    tie=sa.column("id", sa.Uuid()),
    names=(sa.column("organization_name"), sa.column("role")),
    codes=(sa.column("id"), sa.column("organization_id")),
    is_fixed=True,
)
NONE = "You have no pending membership with this ID."


def _waiting(person: UUID) -> Any:
    columns = (
        sa.column("id", sa.Uuid()),
        sa.column("organization_id", sa.Uuid()),
        sa.column("organization_name", sa.Text()),
        sa.column("role", sa.Text()),
        sa.column("created_at", sa.DateTime(timezone=True)),
    )
    return sa.func.signum_pending_memberships(sa.literal(person, sa.Uuid())).table_valued(*columns).alias("waiting")


async def page(context: Context, page: Page) -> PendingMembershipList:
    """Return a page of the caller's pending memberships that can still be accepted, newest first."""
    waiting = _waiting(context.require_person().user_id)
    still = sa.select(waiting).where(waiting.c.created_at > now() - appointments.LIFETIME)
    shown, paging = await page.read(context.session, still)
    return PendingMembershipList(memberships=[PendingMembership.model_validate(r) for r in shown], **paging)


async def accept(context: Context, membership_id: UUID) -> Membership:
    """Accept a membership. 404 if no pending one has this ID; 409 if the person is already a member, the offer expired,
    or its grantor may no longer grant the role. 403 from an address that the organization refuses."""
    person, session = context.require_person(), context.session
    found, row = await _find(context, membership_id)
    await context.check_address(row.organization_id)
    if appointments.is_over(row):
        raise Conflict(appointments.EXPIRED)
    await addition.begin(session, row, person.user_id)
    await session.flush()
    await roots.join(session, person.user_id, row.organization_id)
    await _note_chain(session, row)
    return Membership(
        id=row.id,
        organization_id=row.organization_id,
        organization_name=found.organization_name,
        user_id=row.user_id,
        role=row.role,
        status=row.status,
    )


async def decline(context: Context, membership_id: UUID) -> None:
    """Decline a membership. The organization learns that it ended, but not by whom or from which address."""
    _, row = await _find(context, membership_id)
    with acting(Who(None, NOBODY, context.request_id or None, None)):
        await service.end(context.session, row)


async def _find(context: Context, membership_id: UUID) -> tuple[Any, MemberRow]:
    """Return the caller's pending membership, locked."""
    waiting = _waiting(context.require_person().user_id)
    found = (await context.session.execute(sa.select(waiting).where(waiting.c.id == membership_id))).first()
    if found is None:
        raise NotFound(NONE)
    await widen(context.session, found.organization_id)
    row = await context.session.get(MemberRow, membership_id, with_for_update=True)
    if row is None or row.status is not MemberStatus.PENDING:
        raise NotFound(NONE)
    return found, row


async def _note_chain(session: Write, row: MemberRow) -> None:
    """Record the chain that the organization entered for a wallet that was proven without a chain."""
    wallet = col(UserWalletRow.address) == row.wallet_address, col(UserWalletRow.chain_eid).is_(None)
    await session.execute(sa.update(UserWalletRow).where(*wallet).values(chain_eid=row.chain_eid))
