"""A person's own answer to whoever has added them. The organization sees who they are only if they agree."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.principal import Context
from backend.changes import NOBODY, Who, acting
from backend.db import Write, now, widen
from backend.errors import Conflict, NotFound
from backend.keyset import Page
from backend.members import adding, appointing, service
from backend.members.models import MemberRow, UserWalletRow
from backend.members.schemas import MemberStatus
from backend.memberships.schemas import Membership, PendingMembership, PendingMembershipList

NONE = "No membership of yours waits under this id."


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
    """A page of what waits for the caller's answer and can still be accepted, newest first."""
    waiting = _waiting(context.require_person().user_id)
    still = sa.select(waiting).where(waiting.c.created_at > now() - appointing.LIFETIME)
    query = page.apply(still, waiting.c.created_at, waiting.c.id)
    shown, cursor = page.cut((await context.session.execute(query)).all())
    return PendingMembershipList(memberships=[PendingMembership.model_validate(r) for r in shown], nextCursor=cursor)


async def accept(context: Context, membership_id: UUID) -> Membership:
    """Become a member. 404 where nothing waits under the id; 409 for who is a member there already, and where it has
    expired, or its grantor has lost the right to grant it. 403 from an address that the
    organization refuses."""
    person, session = context.require_person(), context.session
    found, row = await _find(context, membership_id)
    await context.check_address(row.organization_id)
    if appointing.is_over(row):
        raise Conflict(appointing.EXPIRED)
    await adding.begin(session, row, person.user_id)
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
    """Have none of it. The organization learns that the membership ended, and nothing of who ended it: neither the
    person nor where they called from."""
    _, row = await _find(context, membership_id)
    with acting(Who(None, NOBODY, context.request_id or None, None)):
        await service.end(context.session, row)


async def _find(context: Context, membership_id: UUID) -> tuple[Any, MemberRow]:
    """What waits for the caller, locked."""
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
    """Where a wallet was proven without saying on which chain it is, the organization has said so."""
    wallet = col(UserWalletRow.address) == row.wallet_address, col(UserWalletRow.chain_eid).is_(None)
    await session.execute(sa.update(UserWalletRow).where(*wallet).values(chain_eid=row.chain_eid))
