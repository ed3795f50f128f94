"""Documents of parties: stored by content hash, once per organization, encrypted, streamed in pieces."""

import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from uuid import UUID

import sqlalchemy as sa
from fastapi import Response
from sqlmodel import col

from backend.auth.principal import Context
from backend.core import db
from backend.core.changes import publish
from backend.core.encryption import DOCUMENTS as SEAL
from backend.core.errors import Conflict, NotFound
from backend.core.settings import settings
from backend.lists import json_records
from backend.lists.pages import Listing, Page
from backend.organizations import quotas
from backend.parties import rules, service
from backend.parties.models import DocumentRow, FilePartRow, FileRow
from backend.parties.schemas import Document, DocumentKind, DocumentList, PartyStatus
from backend.users.models import UserRow

DOCUMENTS, FILES = sa.inspect(DocumentRow).local_table, sa.inspect(FileRow).local_table
STORED = sa.text("select id, total from signum_stored_file(:org, :digest)").columns(
    sa.column("id", sa.Uuid()), sa.column("total", sa.BigInteger())
)
Opened = Callable[[], AbstractAsyncContextManager[Any]]
"""Opens a session that may read the organization's files."""
_RECORD = json_records.column(
    Document,
    DOCUMENTS,
    media_type="party_files.media_type",
    size="party_files.size",
    sha256="party_files.sha256",
    uploaded_by_name=json_records.text("coalesce(users.display_name, users.email)"),
)
LIST = Listing.of(DOCUMENTS.c, "created_at", names=(DOCUMENTS.c.name, DOCUMENTS.c.kind), codes=(FILES.c.sha256,))
PIECE = 262_144
"""Bytes of a piece before encryption."""


@dataclass(frozen=True)
class Content:
    """A content ready to stream; its first piece is already decrypted."""

    organization_id: UUID
    file_id: UUID
    sha256: str
    media_type: str
    size: int
    parts: int
    name: str
    first: bytes

    @property
    def headers(self) -> dict[str, str]:
        """Return headers that make a browser download the file, and never render it."""
        plain = "".join(c if c.isascii() and c.isprintable() and c not in '"\\%' else "_" for c in self.name)
        return {
            "Content-Disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(self.name, safe='')}",
            "Content-Length": str(self.size),
            "Content-Security-Policy": "default-src 'none'; sandbox",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "private, no-store",
        }


async def page(context: Context, party_id: UUID, page: Page) -> Response:
    """Return a page of a party's documents; 404 if the organization has no such party."""
    await service.get(context, party_id)
    query = _query(context, party_id).with_only_columns(_RECORD, DOCUMENTS.c.id)
    return await page.respond(context.session, query, DocumentList)


async def add(
    context: Context, party_id: UUID, kind: DocumentKind, name: str | None, content: bytes, declared: str
) -> Document:
    """Store a document. The first document of a party in status `created` starts its review."""
    party = await service.locked(context, party_id)
    media_type = rules.media_type(content, declared)
    file_id = await _kept(context, content, media_type)
    await _check_new(context, party_id, file_id)
    row = DocumentRow(
        organization_id=context.organization_id,
        party_id=party_id,
        file_id=file_id,
        kind=kind,
        name=rules.file_name(name, kind, media_type),
        uploaded_by=context.user_id,
        is_from_investor=context.investor is not None,
    )
    context.session.add(row)
    before, party.status = party.status, rules.after_upload(party.status)
    await context.session.flush()
    query = _query(context, party_id).where(DOCUMENTS.c.id == row.id)
    made = Document.model_validate((await context.session.execute(query)).one())
    await _publish(context, made, before, party.status)
    return made


async def _publish(context: Context, made: Document, before: PartyStatus, after: PartyStatus) -> None:
    organization, subject = context.organization_id, ("party", made.party_id)
    record = made.model_dump(mode="json", exclude={"uploaded_by_name"})
    await publish(context.session, organization, "party.document_added", subject, after=record)
    if after is not before:
        was, now = {"status": str(before)}, {"status": str(after)}
        await publish(context.session, organization, "party.updated", subject, before=was, after=now)


async def content(context: Context, party_id: UUID, document_id: UUID) -> Content:
    """Return a document's content, ready to stream; 404 if the party has no such document."""
    await service.get(context, party_id)
    query = (
        sa.select(FileRow, col(DocumentRow.name))
        .join(DocumentRow, col(DocumentRow.file_id) == col(FileRow.id))
        .where(col(DocumentRow.id) == document_id, col(DocumentRow.party_id) == party_id)
    )
    row = (await context.session.execute(query)).first()
    if row is None:
        raise NotFound("The party has no document with this ID.")
    file, name = row
    sealed = await _sealed(context.session, file.id, 0)
    first = SEAL.unseal(sealed, place(file.organization_id, file.sha256, 0, file.parts))
    return Content(file.organization_id, file.id, file.sha256, file.media_type, file.size, file.parts, name, first)


async def stream(found: Content, opened: Opened | None = None) -> AsyncIterator[bytes]:
    """Stream the pieces, one in memory at a time; no database connection is held while a slow client reads."""
    yield found.first
    for number in range(1, found.parts):
        async with opened() if opened else db.reading(found.organization_id) as session:
            sealed = await _sealed(session, found.file_id, number)
        yield SEAL.unseal(sealed, place(found.organization_id, found.sha256, number, found.parts))


def place(organization_id: UUID, sha256: str, number: int, parts: int) -> str:
    """Return the associated data of a piece: pieces cannot be swapped, and the last one is marked."""
    return f"{organization_id}:{sha256}:{number}:{parts}"


async def _sealed(session: Any, file_id: UUID, number: int) -> bytes:
    query = sa.select(col(FilePartRow.sealed)).where(
        col(FilePartRow.file_id) == file_id, col(FilePartRow.number) == number
    )
    return bytes((await session.execute(query)).scalar_one())


async def _kept(context: Context, content: bytes, media_type: str) -> UUID:
    """Return the ID of a content in this organization; concurrent uploads store it once."""
    digest, organization = hashlib.sha256(content).hexdigest(), context.organization_id
    if (kept := await _stored(context, digest, len(content))) is not None:
        return kept
    parts = [content[at : at + PIECE] for at in range(0, len(content), PIECE)]
    row = FileRow(
        organization_id=organization, sha256=digest, media_type=media_type, size=len(content), parts=len(parts)
    )
    await context.session.execute(sa.insert(FileRow).values(row.model_dump()))
    for number, piece in enumerate(parts):
        sealed = SEAL.seal(piece, place(organization, digest, number, len(parts)))
        part = FilePartRow(organization_id=organization, file_id=row.id, number=number, sealed=sealed)
        await context.session.execute(sa.insert(FilePartRow).values(part.model_dump()))
    return row.id


async def _stored(context: Context, digest: str, size: int) -> UUID | None:
    """Return the ID of a content that the organization has already. Raise 409 if a new one exceeds the storage limit of
    the organization or its hierarchy. Concurrent uploads to an organization are serialized."""
    await quotas.queue(context.session, context.organization_id)
    found = (await context.session.execute(STORED, {"org": context.organization_id, "digest": digest})).one()
    most = settings().document_bytes
    if found.id is not None:
        return UUID(str(found.id))
    if found.total + size > most:
        raise Conflict(
            f"An organization can store at most {most} bytes of documents on this server. Its operator can raise the "
            "limit (SIGNUM_DOCUMENT_BYTES)."
        )
    await quotas.check_documents(context.session, context.organization_id, size)
    return None


async def _check_new(context: Context, party_id: UUID, file_id: UUID) -> None:
    query = sa.select(DOCUMENTS.c.kind).where(DOCUMENTS.c.party_id == party_id, DOCUMENTS.c.file_id == file_id)
    known = await context.session.scalar(query)
    if known is not None:
        raise Conflict(f"The party already has this file, as {known.replace('_', ' ')}.")


def _query(context: Context, party_id: UUID) -> sa.Select[Any]:
    by = sa.func.coalesce(col(UserRow.display_name), col(UserRow.email)).label("uploaded_by_name")
    facts = (FILES.c.media_type, FILES.c.size, FILES.c.sha256)
    return (
        sa.select(*DOCUMENTS.c, *facts, by)
        .join(FILES, FILES.c.id == DOCUMENTS.c.file_id)
        .outerjoin(UserRow, col(UserRow.id) == DOCUMENTS.c.uploaded_by)
        .where(DOCUMENTS.c.organization_id == context.organization_id, DOCUMENTS.c.party_id == party_id)
    )
