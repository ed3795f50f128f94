"""`/v1/identity/parties`. The organization is not in the path: `organization_id`, else the credential's own."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response, status
from fastapi.responses import StreamingResponse

from backend.auth.principal import Context
from backend.auth.route import ANY_ORGANIZATION, Current, GuardedRoute, content, requires, takes
from backend.auth.scopes import Scope
from backend.errors import BadRequest, NotFound
from backend.fields import Name, Search
from backend.keyset import Page
from backend.parties import documents, service
from backend.parties.rules import MAGIC, UNTYPED
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

router = APIRouter(prefix="/identity/parties", tags=["Parties"], route_class=GuardedRoute)
Organization = Annotated[UUID | None, Query(description="Whose; default the key's or session's organization.")]


FILE: dict[str, Any] = {"type": "string", "format": "binary"}
BODY: dict[str, Any] = {
    "requestBody": {"required": True, "content": {kind: {"schema": FILE} for kind in (*MAGIC, UNTYPED)}}
}
DOWNLOAD: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file.", "content": {kind: {"schema": FILE} for kind in MAGIC}}
}


async def _reads(context: Current, organization_id: Organization = None) -> None:
    """Enter the organization a list is asked of, before anything else of the request is looked at."""
    await service.enter(context, organization_id, Scope.ATTESTATIONS_READ)


async def _reads_one(context: Current, partyId: UUID, organization_id: Organization = None) -> None:
    await service.enter(context, organization_id, Scope.ATTESTATIONS_READ, partyId)


async def _writes_one(context: Current, partyId: UUID, organization_id: Organization = None) -> None:
    await service.enter(context, organization_id, Scope.ATTESTATIONS_WRITE, partyId)


async def _check_upload(request: Request, context: Context) -> None:
    """Check that the caller may add documents to the party, before a file is read."""
    organization, party = request.query_params.get("organization_id"), request.path_params["partyId"]
    try:
        organization_id, party_id = UUID(organization) if organization else None, UUID(party)
    except ValueError as error:
        raise NotFound("There is nothing under this id.") from error
    await service.enter(context, organization_id, Scope.ATTESTATIONS_WRITE, party_id)
    await service.get(context, party_id)


@router.get("", dependencies=[Depends(_reads)])
@requires(Scope.ATTESTATIONS_READ, organization=ANY_ORGANIZATION)
async def list_parties(
    context: Current,
    page: Annotated[Page, Depends()],
    status: PartyStatus | None = None,
    search: Annotated[Search | None, Query(description="Part of name, email or wallet.")] = None,
) -> PartyList:
    """People and companies an organization knows, newest first."""
    return await service.page(context, page, status, search)


@router.post("", status_code=status.HTTP_201_CREATED)
@requires(Scope.ATTESTATIONS_WRITE, organization=ANY_ORGANIZATION)
async def create_party(
    context: Current, body: PartyCreate, response: Response, organization_id: Organization = None
) -> Party:
    """Write down a person or company. `organization_id` may be in the body or in the query."""
    if organization_id and body.organization_id and organization_id != body.organization_id:
        raise BadRequest("organization_id in the query and in the body are two.", pointer="/organization_id")
    await service.enter(context, body.organization_id or organization_id, Scope.ATTESTATIONS_WRITE)
    party = await service.create(context, body)
    response.headers["Location"] = f"/v1/identity/parties/{party.id}"
    return party


@router.get("/{partyId}", dependencies=[Depends(_reads_one)])
@requires(Scope.ATTESTATIONS_READ, organization=ANY_ORGANIZATION)
async def get_party(context: Current, partyId: UUID) -> Party:
    """One party."""
    return Party.model_validate(await service.get(context, partyId))


@router.patch("/{partyId}", dependencies=[Depends(_writes_one)])
@requires(Scope.ATTESTATIONS_WRITE, organization=ANY_ORGANIZATION)
async def update_party(context: Current, partyId: UUID, body: PartyUpdate) -> Party:
    """Change name, email or wallet (JSON merge patch). Attestations stay with the wallet they were made for."""
    return await service.update(context, partyId, body)


@router.post("/{partyId}/verify", status_code=status.HTTP_202_ACCEPTED, dependencies=[Depends(_writes_one)])
@requires(Scope.ATTESTATIONS_WRITE, organization=ANY_ORGANIZATION)
async def verify_party(context: Current, partyId: UUID, response: Response, body: PartyVerify | None = None) -> Party:
    """Decide that the identity is proven. It takes effect at once: the answer is the verified party."""
    response.headers["Location"] = f"/v1/identity/parties/{partyId}"
    return await service.verify(context, partyId, body or PartyVerify())


@router.post("/{partyId}/reject", status_code=status.HTTP_202_ACCEPTED, dependencies=[Depends(_writes_one)])
@requires(Scope.ATTESTATIONS_WRITE, organization=ANY_ORGANIZATION)
async def reject_party(context: Current, partyId: UUID, body: PartyReject, response: Response) -> Party:
    """Decide that the identity is not proven, and why. Attestations made before stay until they are revoked."""
    response.headers["Location"] = f"/v1/identity/parties/{partyId}"
    return await service.reject(context, partyId, body)


@router.get("/{partyId}/documents", dependencies=[Depends(_reads_one)])
@requires(Scope.ATTESTATIONS_READ, organization=ANY_ORGANIZATION)
async def list_documents(context: Current, partyId: UUID, page: Annotated[Page, Depends()]) -> DocumentList:
    """Documents of a party, newest first: what they are, not what is in them."""
    return await documents.page(context, partyId, page)


@router.post(
    "/{partyId}/documents",
    status_code=status.HTTP_201_CREATED,
    dependencies=[Depends(_writes_one)],
    openapi_extra=BODY,
)
@requires(Scope.ATTESTATIONS_WRITE, organization=ANY_ORGANIZATION)
@takes(*MAGIC, UNTYPED, check=_check_upload)
async def upload_document(
    context: Current,
    partyId: UUID,
    request: Request,
    response: Response,
    kind: Annotated[DocumentKind, Query(description="What it proves.")],
    name: Annotated[Name | None, Query(description="The file's name; default its kind.")] = None,
) -> Document:
    """Add a document to a party: the body is the file itself, a PDF, PNG or JPEG of at most 10 MiB, told by how it
    begins. The first document of a party that is `created` begins its review: it is `verifying` then. A content is kept
    once in an organization, by its SHA-256 hash and sealed; the same file twice for one party is a 409."""
    declared = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    document = await documents.add(context, partyId, kind, name, await content(request), declared)
    response.headers["Location"] = f"/v1/identity/parties/{partyId}/documents/{document.id}"
    return document


@router.get(
    "/{partyId}/documents/{documentId}",
    dependencies=[Depends(_reads_one)],
    response_class=StreamingResponse,
    responses=DOWNLOAD,
)
@requires(Scope.ATTESTATIONS_READ, organization=ANY_ORGANIZATION)
async def download_document(context: Current, partyId: UUID, documentId: UUID) -> StreamingResponse:
    """The file of a document, as a download and never as a page."""
    found = await documents.content(context, partyId, documentId)
    return StreamingResponse(documents.stream(found), headers=found.headers, media_type=found.media_type)
