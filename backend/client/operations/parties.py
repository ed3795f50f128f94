"""Parties. Made by `make client` from backend/openapi.json."""

from backend.client.connection import Connection, Id, path
from backend.client.content import Content, Download
from backend.client.pages import Pages
from backend.client.repeating import new_key
from backend.parties.schemas import (
    Document,
    DocumentKind,
    DocumentList,
    Party,
    PartyCreate,
    PartyList,
    PartyReject,
    PartyStatus,
    PartyUpdate,
    PartyVerify,
)


class PartiesOperations(Connection):
    """Parties."""

    def list_parties(
        self,
        *,
        status: PartyStatus | None = None,
        search: str | None = None,
        organization_id: Id | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[PartyList, Party]:
        """People and companies an organization knows, newest first.

        Scope: `attestations:read`.
        """
        return self._pages(
            PartyList,
            "parties",
            "/identity/parties",
            {"status": status, "search": search, "organization_id": organization_id, "limit": limit, "cursor": cursor},
        )

    async def create_party(
        self, body: PartyCreate, *, organization_id: Id | None = None, idempotency_key: str | None = None
    ) -> Party:
        """Write down a person or company. `organization_id` may be in the body or in the query.

        Scope: `attestations:write`.
        """
        return await self._send(
            Party,
            "POST",
            "/identity/parties",
            query={"organization_id": organization_id},
            body=body,
            key=idempotency_key or new_key(),
        )

    async def get_party(self, party_id: Id, *, organization_id: Id | None = None) -> Party:
        """One party.

        Scope: `attestations:read`.
        """
        return await self._send(
            Party, "GET", path("/identity/parties/{}", party_id), query={"organization_id": organization_id}
        )

    async def update_party(
        self, party_id: Id, body: PartyUpdate, *, organization_id: Id | None = None, idempotency_key: str | None = None
    ) -> Party:
        """Change name, email or wallet (JSON merge patch). Attestations stay with the wallet they were made for.

        Scope: `attestations:write`.
        """
        return await self._send(
            Party,
            "PATCH",
            path("/identity/parties/{}", party_id),
            query={"organization_id": organization_id},
            body=body,
            key=idempotency_key or new_key(),
        )

    async def verify_party(
        self,
        party_id: Id,
        body: PartyVerify | None = None,
        *,
        organization_id: Id | None = None,
        idempotency_key: str | None = None,
    ) -> Party:
        """Decide that the identity is proven. It takes effect at once: the answer is the verified party.

        Scope: `attestations:write`.
        """
        return await self._send(
            Party,
            "POST",
            path("/identity/parties/{}/verify", party_id),
            query={"organization_id": organization_id},
            body=body,
            key=idempotency_key or new_key(),
        )

    async def reject_party(
        self, party_id: Id, body: PartyReject, *, organization_id: Id | None = None, idempotency_key: str | None = None
    ) -> Party:
        """Decide that the identity is not proven, and why. Attestations made before stay until they are revoked.

        Scope: `attestations:write`.
        """
        return await self._send(
            Party,
            "POST",
            path("/identity/parties/{}/reject", party_id),
            query={"organization_id": organization_id},
            body=body,
            key=idempotency_key or new_key(),
        )

    def list_documents(
        self, party_id: Id, *, organization_id: Id | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Pages[DocumentList, Document]:
        """Documents of a party, newest first: what they are, not what is in them.

        Scope: `attestations:read`.
        """
        return self._pages(
            DocumentList,
            "documents",
            path("/identity/parties/{}/documents", party_id),
            {"organization_id": organization_id, "limit": limit, "cursor": cursor},
        )

    async def upload_document(
        self,
        party_id: Id,
        body: Content,
        *,
        kind: DocumentKind,
        name: str | None = None,
        organization_id: Id | None = None,
        idempotency_key: str | None = None,
    ) -> Document:
        """Add a document to a party: the body is the file itself, a PDF, PNG or JPEG of at most 10 MiB, told by how
        it begins. The first document of a party that is `created` begins its review: it is `verifying` then. A
        content is kept once in an organization, by its SHA-256 hash and sealed; the same file twice for one
        party is a 409.

        Scope: `attestations:write`.
        """
        return await self._send(
            Document,
            "POST",
            path("/identity/parties/{}/documents", party_id),
            query={"kind": kind, "name": name, "organization_id": organization_id},
            body=body,
            key=idempotency_key or new_key(),
        )

    def download_document(self, party_id: Id, document_id: Id, *, organization_id: Id | None = None) -> Download:
        """The file of a document, as a download and never as a page.

        Scope: `attestations:read`.
        """
        return self._download(
            path("/identity/parties/{}/documents/{}", party_id, document_id), query={"organization_id": organization_id}
        )

    def list_parties_csv(
        self, *, status: PartyStatus | None = None, search: str | None = None, organization_id: Id | None = None
    ) -> Download:
        """`/identity/parties` as CSV: every record that its filters leave, in one stream.

        Scope: `attestations:read`.
        """
        return self._download(
            "/identity/parties.csv", query={"status": status, "search": search, "organization_id": organization_id}
        )

    def list_documents_csv(self, party_id: Id, *, organization_id: Id | None = None) -> Download:
        """`/identity/parties/{partyId}/documents` as CSV: every record that its filters leave, in one stream.

        Scope: `attestations:read`.
        """
        return self._download(
            path("/identity/parties/{}/documents.csv", party_id), query={"organization_id": organization_id}
        )
