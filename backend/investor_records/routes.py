"""`/v1/investor/{membershipId}`: the investor's documents, their data, and the end of the membership."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response, status
from fastapi.responses import StreamingResponse

from backend.auth.guard import ANY_ORGANIZATION, Current, GuardedRoute, content, requires, takes
from backend.auth.principal import Context
from backend.core.content_rules import MAGIC, UNTYPED
from backend.core.errors import NotFound
from backend.core.fields import Name
from backend.http.middleware import MAX_DOCUMENT, content_type
from backend.investor_records import data, documents, leaving
from backend.investor_records.schemas import InvestorData, InvestorDocument, InvestorDocuments
from backend.parties.schemas import DocumentKind

FILE: dict[str, Any] = {"type": "string", "format": "binary", "maxLength": MAX_DOCUMENT}
BODY: dict[str, Any] = {
    "requestBody": {"required": True, "content": {kind: {"schema": FILE} for kind in (*MAGIC, UNTYPED)}}
}
DOWNLOAD: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file.", "content": {kind: {"schema": FILE} for kind in MAGIC}}
}
DATA: dict[int | str, dict[str, Any]] = {200: {"description": "One JSON file.", "model": InvestorData}}

# Declared at import.
router = APIRouter(prefix="/investor/{membershipId}", tags=["Investor"], route_class=GuardedRoute)


async def _check_upload(request: Request, context: Context) -> None:
    """Check that the document can be for a party of the caller, before a file is read."""
    named = request.query_params.get("party_id")
    try:
        membership, party = UUID(request.path_params["membershipId"]), UUID(named) if named else None
    except ValueError as error:
        raise NotFound("No resource has this ID.") from error
    await context.enter_as_investor(membership)
    await documents.party_of(context, party)


@router.get("/documents", responses={404: {}})
@requires(organization=ANY_ORGANIZATION, browser=True)
async def get_investor_documents(context: Current, membershipId: UUID) -> InvestorDocuments:
    """Get the documents of the signed-in investor's parties, newest first, without their content: what they uploaded,
    and what the organization did."""
    await context.enter_as_investor(membershipId)
    return await documents.of(context)


@router.post("/documents", status_code=status.HTTP_201_CREATED, responses={404: {}, 409: {}}, openapi_extra=BODY)
@requires(organization=ANY_ORGANIZATION, browser=True)
@takes(*MAGIC, UNTYPED, check=_check_upload)
async def upload_investor_document(
    context: Current,
    membershipId: UUID,
    request: Request,
    response: Response,
    kind: Annotated[DocumentKind, Query(description="What it proves.")],
    name: Annotated[Name | None, Query(description="The file's name. Default: its kind.")] = None,
    party_id: Annotated[UUID | None, Query(description="The party it is for. Required if there are several.")] = None,
) -> InvestorDocument:
    """Upload a document of the signed-in investor: the body is the file itself, a PDF, PNG or JPEG of at most 10 MiB,
    detected by its first bytes. The organization's staff can read it, and see who uploaded it. The first document of a
    party that is `created` starts its review.

    409 for the same file twice, and above 50 documents or 100 MiB of one party that the investor uploaded."""
    await context.enter_as_investor(membershipId)
    party = await documents.party_of(context, party_id)
    sent = await content(request)
    document = await documents.add(context, party, kind, name, sent, content_type(request.scope))
    response.headers["Location"] = f"/v1/investor/{membershipId}/documents/{document.id}"
    return document


@router.get("/documents/{documentId}", response_class=StreamingResponse, responses={404: {}, **DOWNLOAD})
@requires(organization=ANY_ORGANIZATION, browser=True)
async def download_investor_document(context: Current, membershipId: UUID, documentId: UUID) -> StreamingResponse:
    """Download the file of a document of the signed-in investor. Browsers never render it."""
    await context.enter_as_investor(membershipId)
    found = await documents.content(context, documentId)
    return StreamingResponse(documents.stream(context, found), headers=found.headers, media_type=found.media_type)


@router.get("/data", response_class=StreamingResponse, responses={404: {}, **DATA})
@requires(organization=ANY_ORGANIZATION, browser=True)
async def export_investor_data(context: Current, membershipId: UUID) -> StreamingResponse:
    """Export everything that is stored about the signed-in investor in the organization, as one JSON file: account,
    membership, consent, parties, wallets, attestations, documents (without their content), transfers, orders, trades,
    claims, and what they did. The reasons of reviews are the organization's own, and are not in it."""
    found = await data.prepare(context, membershipId)
    headers = {"Content-Disposition": f'attachment; filename="{found.name}"', "Cache-Control": "no-store"}
    return StreamingResponse(data.stream(context, found), headers=headers, media_type="application/json")


@router.post("/leave", status_code=status.HTTP_204_NO_CONTENT, responses={404: {}})
@requires(organization=ANY_ORGANIZATION, browser=True, fresh=True)
async def leave_organization(context: Current, membershipId: UUID) -> None:
    """Leave the organization: the signed-in investor's membership ends, and with it all their access there, in
    all sessions. Tokens, orders and records stay. The organization can invite them again."""
    await context.enter_as_investor(membershipId)
    await leaving.leave(context)
