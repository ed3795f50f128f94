"""`/v1/identity/parties`. The organization is not in the path: `organization_id` names it, otherwise the credential's
own."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response, status
from fastapi.responses import StreamingResponse

from backend.auth import versions
from backend.auth.guard import ANY_ORGANIZATION, Current, DryRun, GuardedRoute, content, requires, takes
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.core.content_rules import MAGIC, UNTYPED
from backend.core.errors import BadRequest, NotFound, UnsupportedMediaType
from backend.core.fields import Name
from backend.http.middleware import CSV, MAX_DOCUMENT, content_type
from backend.lists.pages import Page
from backend.parties import batches, documents, imports, service
from backend.parties.schemas import (
    Document,
    DocumentKind,
    DocumentList,
    OnDuplicate,
    Party,
    PartyBatch,
    PartyBatchVerified,
    PartyCreate,
    PartyImported,
    PartyImportPlan,
    PartyList,
    PartyRead,
    PartyReject,
    PartyStatus,
    PartyUpdate,
    PartyVerify,
)
from backend.requests.responses import planned

# Declared at import.
router = APIRouter(prefix="/identity/parties", tags=["Parties"], route_class=GuardedRoute)
Organization = Annotated[
    UUID | None, Query(description=("The organization. Default: the key's or session's organization."))
]
DIFFERS = "organization_id differs between query and body. Send one value."

FILE: dict[str, Any] = {"type": "string", "format": "binary", "maxLength": MAX_DOCUMENT}
BODY: dict[str, Any] = {
    "requestBody": {"required": True, "content": {kind: {"schema": FILE} for kind in (*MAGIC, UNTYPED)}}
}
DOWNLOAD: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file.", "content": {kind: {"schema": FILE} for kind in MAGIC}}
}


async def _reads(context: Current, organization_id: Organization = None) -> None:
    """Enter the organization of the list before anything else of the request is validated."""
    await service.enter(context, organization_id, Scope.ATTESTATIONS_READ)


async def _reads_one(request: Request, context: Current, partyId: UUID, organization_id: Organization = None) -> None:
    await service.enter(context, organization_id, Scope.ATTESTATIONS_READ, partyId)
    await versions.begin(request, context)


async def _writes_one(request: Request, context: Current, partyId: UUID, organization_id: Organization = None) -> None:
    await service.enter(context, organization_id, Scope.ATTESTATIONS_WRITE, partyId)
    await versions.begin(request, context)


async def _creates(context: Current, organization_id: Organization = None) -> None:
    """Enter the organization, which the query or the body names, before the body is validated."""
    sent = context.call.body if context.call else None
    named = sent.get("organization_id") if isinstance(sent, dict) else None
    try:
        in_body = UUID(named) if isinstance(named, str) else None
    except ValueError:
        in_body = None
    await service.enter(context, in_body or organization_id, Scope.ATTESTATIONS_WRITE)


async def _check_upload(request: Request, context: Context) -> None:
    """Check that the caller may add documents to the party, before a file is read."""
    organization, party = request.query_params.get("organization_id"), request.path_params["partyId"]
    try:
        organization_id, party_id = UUID(organization) if organization else None, UUID(party)
    except ValueError as error:
        raise NotFound("No resource has this ID.") from error
    await service.enter(context, organization_id, Scope.ATTESTATIONS_WRITE, party_id)
    await service.get(context, party_id)


@router.get("", response_model=PartyList, dependencies=[Depends(_reads)])
@requires(Scope.ATTESTATIONS_READ, organization=ANY_ORGANIZATION)
async def list_parties(
    context: Current,
    page: Annotated[Page, Depends(service.LIST.page)],
    status: PartyStatus | None = None,
) -> Response:
    """List the people and companies of an organization, newest first."""
    return await service.page(context, page, status)


@router.post("", status_code=status.HTTP_201_CREATED, dependencies=[Depends(_creates)])
@requires(Scope.ATTESTATIONS_WRITE, organization=ANY_ORGANIZATION)
async def create_party(
    context: Current, body: PartyCreate, response: Response, organization_id: Organization = None
) -> Party:
    """Create a person or company. `organization_id` may be in the body or in the query."""
    if organization_id and body.organization_id and organization_id != body.organization_id:
        raise BadRequest(DIFFERS, pointer="/organization_id")
    party = await service.create(context, body)
    response.headers["Location"] = f"/v1/identity/parties/{party.id}"
    return party


@router.post("/verify-batch", dependencies=[Depends(_creates)])
@requires(Scope.ATTESTATIONS_WRITE, organization=ANY_ORGANIZATION)
async def verify_parties(
    context: Current, body: PartyBatch, request: Request, organization_id: Organization = None
) -> PartyBatchVerified:
    """Verify up to 200 parties. Each decision takes effect on its own, immediately; a refused one has its problem and
    does not stop the others."""
    if organization_id and body.organization_id and organization_id != body.organization_id:
        raise BadRequest(DIFFERS, pointer="/organization_id")
    return await batches.verify(context, request, body)


async def _check_import(request: Request, context: Context) -> None:
    """Check that the caller may create parties, before a list is read."""
    organization = request.query_params.get("organization_id")
    try:
        organization_id = UUID(organization) if organization else None
    except ValueError as error:
        raise BadRequest("organization_id must be a UUID.") from error
    await service.enter(context, organization_id, Scope.ATTESTATIONS_WRITE)


@router.post(
    "/import", status_code=status.HTTP_201_CREATED, dependencies=[Depends(_creates)], openapi_extra=imports.BODY
)
@requires(Scope.ATTESTATIONS_WRITE, organization=ANY_ORGANIZATION)
@takes(CSV, check=_check_import)
async def import_parties(
    context: Current,
    request: Request,
    response: Response,
    on_duplicate: Annotated[
        OnDuplicate, Query(description="What happens to lines whose wallet or email is registered.")
    ] = OnDuplicate.REFUSE,
    organization_id: Organization = None,
    dry_run: DryRun = False,
) -> PartyImported | PartyImportPlan:
    """Import up to 2,000 parties from `text/csv`, all or none. The first line names the columns: `name` and `country`
    (ISO 3166 code), and optionally `kind`, `email`, `wallet_address`. Each party is created as if alone, with its own
    audit entry. A line that is invalid or repeats another one refuses the list, and the errors name the lines; a dry
    run lists them all. `on_duplicate=update` changes name, email and wallet of registered parties where the line has
    another value, and refuses another country or kind; its dry run has the changes of each line."""
    if content_type(request.scope) != CSV:
        raise UnsupportedMediaType("An import is sent as text/csv.")
    sent = await content(request)
    if dry_run:
        return planned(response, await imports.plan(context, sent, on_duplicate))
    return await imports.run(context, sent, on_duplicate)


@router.get("/{partyId:uuid}", dependencies=[Depends(_reads_one)])
@requires(Scope.ATTESTATIONS_READ, organization=ANY_ORGANIZATION)
async def get_party(context: Current, partyId: UUID) -> PartyRead:
    """Get a party."""
    return await service.read(context, partyId)


@router.patch("/{partyId:uuid}", dependencies=[Depends(_writes_one)])
@requires(Scope.ATTESTATIONS_WRITE, organization=ANY_ORGANIZATION)
async def update_party(context: Current, partyId: UUID, body: PartyUpdate) -> Party:
    """Update name, email or wallet (JSON merge patch). Attestations stay with the wallet they were made for."""
    return await service.update(context, partyId, body)


@router.post("/{partyId}/verify", dependencies=[Depends(_writes_one)])
@requires(Scope.ATTESTATIONS_WRITE, organization=ANY_ORGANIZATION)
async def verify_party(context: Current, partyId: UUID, body: PartyVerify | None = None) -> Party:
    """Verify the party's identity. It takes effect immediately: the response is the verified party."""
    return await service.verify(context, partyId, body or PartyVerify())


@router.post("/{partyId}/reject", dependencies=[Depends(_writes_one)])
@requires(Scope.ATTESTATIONS_WRITE, organization=ANY_ORGANIZATION)
async def reject_party(context: Current, partyId: UUID, body: PartyReject) -> Party:
    """Reject the party's identity, with a reason. It takes effect immediately. Earlier attestations stay valid until
    they are revoked."""
    return await service.reject(context, partyId, body)


@router.get("/{partyId}/documents", response_model=DocumentList, dependencies=[Depends(_reads_one)])
@requires(Scope.ATTESTATIONS_READ, organization=ANY_ORGANIZATION)
async def list_documents(
    context: Current, partyId: UUID, page: Annotated[Page, Depends(documents.LIST.page)]
) -> Response:
    """List documents of a party, newest first, without their content."""
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
    name: Annotated[Name | None, Query(description="The file's name. Default: its kind.")] = None,
) -> Document:
    """Upload a document of a party: the body is the file itself, a PDF, PNG or JPEG of at most 10 MiB, detected by its
    first bytes. The first document of a party that is `created` starts its review: it becomes `verifying`. A content is
    stored once per organization, by its SHA-256 hash and encrypted; the same file twice for one party returns 409."""
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
    """Download the file of a document. Browsers never render it."""
    found = await documents.content(context, partyId, documentId)
    return StreamingResponse(documents.stream(found), headers=found.headers, media_type=found.media_type)
