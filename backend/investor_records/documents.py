"""Documents of the investor's parties: those that staff uploaded, and their own. Row-level security shows no other."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth import investor_entry
from backend.auth.principal import Context
from backend.core.db import Write
from backend.core.errors import BadRequest, Conflict, NotFound
from backend.investor_records.schemas import InvestorDocument, InvestorDocuments
from backend.investors import profile
from backend.limits import rate_limits
from backend.organizations import quotas
from backend.parties import documents
from backend.parties.documents import Content
from backend.parties.models import DocumentRow, FileRow
from backend.parties.schemas import DocumentKind

MOST, MOST_BYTES = 50, 104_857_600
"""Documents that an investor may upload for one party, and their bytes: the organization's storage is for all."""
SHOWN = 200
NONE = "You have no document with this ID."


async def of(context: Context) -> InvestorDocuments:
    """Return the documents of the investor's parties, the newest first."""
    rows = await context.session.execute(_query(context).limit(SHOWN))
    return InvestorDocuments(documents=[InvestorDocument.model_validate(row) for row in rows])


async def content(context: Context, document_id: UUID) -> Content:
    """Return the content of a document, ready to stream; 404 if it is of none of the investor's parties."""
    mine = _query(context).where(col(DocumentRow.id) == document_id)
    row = (await context.session.execute(mine)).first()
    if row is None:
        raise NotFound(NONE)
    return await documents.content(context, row.party_id, document_id)


def stream(context: Context, found: Content) -> AsyncIterator[bytes]:
    """Stream a content; each piece is read behind the wall of the investor."""

    @asynccontextmanager
    async def again() -> AsyncIterator[Write]:
        async with context.in_new_transaction() as later:
            yield later.session

    return documents.stream(found, again)


async def party_of(context: Context, party_id: UUID | None) -> UUID:
    """Return the party that a document is for: the only one, unless one is named. 404 if it is not the investor's."""
    own = await profile.party_ids(context)
    if party_id is not None and party_id not in own:
        raise NotFound("You have no party with this ID.")
    if not own:
        raise Conflict("The organization has not added you as an investor yet, so it cannot take your documents.")
    if party_id is None and len(own) > 1:
        raise BadRequest("The organization knows you as more than one party. Name one.", pointer="/party_id")
    return party_id or own[0]


async def add(
    context: Context, party_id: UUID, kind: DocumentKind, name: str | None, content: bytes, declared: str
) -> InvestorDocument:
    """Store a document that the investor uploads, with every check of staff's uploads; 409 where they have uploaded
    too many."""
    await rate_limits.hit(rate_limits.INVESTOR_UPLOADS, "investor_uploads", str(context.user_id))
    await investor_entry.write(context.session, party_id)
    await _check_room(context, party_id, len(content))
    made = await documents.add(context, party_id, kind, name, content, declared)
    return InvestorDocument(**made.model_dump(include=set(InvestorDocument.model_fields)))


async def _check_room(context: Context, party_id: UUID, size: int) -> None:
    """Raise 409 if the documents that the investor uploaded for a party would be too many, or too large together."""
    await quotas.queue(context.session, context.organization_id)
    query = sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(col(FileRow.size)), 0))
    query = query.join(DocumentRow, col(DocumentRow.file_id) == col(FileRow.id))
    query = query.where(col(DocumentRow.party_id) == party_id, col(DocumentRow.is_from_investor))
    count, total = (await context.session.execute(query)).one()
    if count >= MOST or total + size > MOST_BYTES:
        raise Conflict(
            f"You can upload at most {MOST} documents, together {MOST_BYTES // 1_048_576} MB. Contact the organization."
        )


def _query(context: Context) -> Any:
    names = (
        col(DocumentRow.id), col(DocumentRow.party_id), col(DocumentRow.kind), col(DocumentRow.name),
        col(FileRow.media_type), col(FileRow.size), col(DocumentRow.is_from_investor), col(DocumentRow.created_at),
    )  # fmt: skip
    return (
        sa.select(*names)
        .join(FileRow, col(FileRow.id) == col(DocumentRow.file_id))
        .where(
            col(DocumentRow.organization_id) == context.organization_id,
            col(DocumentRow.party_id).in_(sa.select(sa.func.signum_investor_parties())),
        )
        .order_by(col(DocumentRow.created_at).desc(), col(DocumentRow.id).desc())
    )
