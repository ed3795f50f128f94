"""Parties of an organization, and the decisions about them."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from fastapi import Response
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.core.changes import publish, publish_change, shown
from backend.core.errors import BadRequest, Conflict, Invalid, NotFound
from backend.core.recorded_time import recorded_now
from backend.lists import json_records
from backend.lists.pages import Listing, Page
from backend.parties import rules
from backend.parties.models import PartyRow
from backend.parties.schemas import (
    Party,
    PartyCreate,
    PartyList,
    PartyRead,
    PartyReject,
    PartyStatus,
    PartyUpdate,
    PartyVerification,
    PartyVerify,
)
from backend.sign_in.service import me
from backend.users.models import UserRow

PARTIES = sa.inspect(PartyRow).local_table
_RECORD = json_records.column(Party, PARTIES)
LIST = Listing.of(
    PARTIES.c,
    "created_at",
    "updated_at",
    name=sa.func.lower(PARTIES.c.name),
    names=(PARTIES.c.name, PARTIES.c.email),
    codes=(PARTIES.c.wallet_address,),
)


async def enter(context: Context, organization_id: UUID | None, scope: Scope, party_id: UUID | None = None) -> None:
    """Enter the named organization, else the key's, else the party's own if the person reaches it, else the session's.
    400 if none is known."""
    if organization_id is None and context.key is not None:
        organization_id = context.key.organization_id
    if organization_id is None and party_id is not None:
        organization_id = await _home(context, party_id)
    if organization_id is None:
        organization_id = (await me(context)).org_id
    if organization_id is None:
        raise BadRequest("You belong to no organization. Name the parties' organization with organization_id.")
    await context.enter(organization_id, scope)


async def _home(context: Context, party_id: UUID) -> UUID | None:
    found: UUID | None = await context.session.scalar(
        sa.text("select signum_party_organization(:person, :party)"), {"person": context.user_id, "party": party_id}
    )
    return found


async def page(context: Context, page: Page, status: PartyStatus | None) -> Response:
    """Return a page of the organization's parties."""
    query = sa.select(_RECORD, PARTIES.c.id).where(PARTIES.c.organization_id == context.organization_id)
    if status is not None:
        query = query.where(PARTIES.c.status == status)
    return await page.respond(context.session, query, PartyList)


async def get(context: Context, party_id: UUID) -> PartyRow:
    """Return a party of the organization; 404 if it does not exist."""
    return await _one(context, party_id)


async def read(context: Context, party_id: UUID) -> PartyRead:
    """Return a party with the name of the person who decided about it; 404 if it does not exist."""
    row = await _one(context, party_id)
    person = sa.func.coalesce(col(UserRow.display_name), col(UserRow.email))
    name = await context.session.scalar(sa.select(person).where(col(UserRow.id) == row.reviewed_by))
    return PartyRead.model_validate(row).model_copy(update={"reviewed_by_name": name})


async def locked(context: Context, party_id: UUID) -> PartyRow:
    """Return a party of the organization, locked for a change."""
    return await _one(context, party_id, is_locked=True)


async def all_locked(context: Context, party_ids: Collection[UUID]) -> dict[UUID, PartyRow]:
    """Return those of some parties that the organization has, locked in one order."""
    mine = (col(PartyRow.id).in_(party_ids), col(PartyRow.organization_id) == context.organization_id)
    query = sa.select(PartyRow).where(*mine).order_by(col(PartyRow.id))
    return {row.id: row for row in await context.session.scalars(query.with_for_update())}


async def _one(context: Context, party_id: UUID, is_locked: bool = False) -> PartyRow:
    mine = (col(PartyRow.id) == party_id, col(PartyRow.organization_id) == context.organization_id)
    query = sa.select(PartyRow).where(*mine)
    row: PartyRow | None = await context.session.scalar(query.with_for_update() if is_locked else query)
    if row is None:
        raise NotFound("There is no party with this ID in this organization.")
    return row


async def create(context: Context, body: PartyCreate) -> Party:
    """Create a party; its wallet may belong to a party of another organization, but not to one of this organization."""
    row = PartyRow(organization_id=context.organization_id, **body.model_dump(exclude={"organization_id"}))
    context.session.add(row)
    party = await _written(context, row)
    await publish(context.session, row.organization_id, "party.created", ("party", row.id), None, shown(Party, row))
    return party


async def update(context: Context, party_id: UUID, body: PartyUpdate) -> Party:
    """Update contact or wallet; null removes a value."""
    row = await locked(context, party_id)
    changes = body.model_dump(exclude_unset=True)
    if "name" in changes and changes["name"] is None:
        raise Invalid([{"pointer": "/name", "detail": "a party must have a name"}])
    before = shown(Party, row)
    for name, value in changes.items():
        setattr(row, name, value)
    return await _changed(context, row, "party.updated", before)


async def verify(context: Context, party_id: UUID, body: PartyVerify) -> Party:
    """Verify the identity at the given level."""
    row = await locked(context, party_id)
    before = shown(Party, row)
    if isinstance(body, PartyVerification):
        rules.check_expected(row.status, body.expected_status)
    rules.check_verify(row.status, body.reason)
    _decide(
        context,
        row,
        status=PartyStatus.VERIFIED,
        kyc_level=body.kyc_level,
        accredited=body.accredited,
        reason=body.reason,
    )
    return await _changed(context, row, "party.verified", before)


async def reject(context: Context, party_id: UUID, body: PartyReject) -> Party:
    """Reject the identity; level and accreditation are removed."""
    row = await locked(context, party_id)
    rules.check_reject(row.status)
    before = shown(Party, row)
    _decide(context, row, status=PartyStatus.REJECTED, kyc_level=0, accredited=False, reason=body.reason)
    return await _changed(context, row, "party.rejected", before)


def _decide(context: Context, row: PartyRow, **values: Any) -> None:
    for name, value in values.items():
        setattr(row, name, value)
    row.reviewed_by, row.reviewed_at = context.user_id, recorded_now()


async def _changed(context: Context, row: PartyRow, action: str, before: dict[str, Any]) -> Party:
    party = await _written(context, row)
    await publish_change(context.session, row.organization_id, action, ("party", row.id), before, shown(Party, row))
    return party


async def _written(context: Context, row: PartyRow) -> Party:
    try:
        await context.session.flush()
    except IntegrityError as error:
        raise Conflict("Another party of this organization already has this wallet address.") from error
    return Party.model_validate(row)
