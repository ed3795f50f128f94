"""`/v1/orgs/{orgId}/assets/{assetId}/evidence`."""

import io
from typing import Annotated, Any, BinaryIO
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from backend.assets import records
from backend.auth.guard import Current, GuardedRoute, requires, takes
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.core.errors import BadRequest, NotFound
from backend.evidence import review, service
from backend.evidence.schemas import EvidenceContents, EvidenceVerification
from backend.http.middleware import MAX_PACK, ZIP
from backend.http.uploads import Upload

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}/assets/{assetId}/evidence", tags=["Assets"], route_class=GuardedRoute)
PDF = "application/pdf"
RESPONSES: dict[int | str, dict[str, Any]] = {200: {"description": "The archive.", "content": {ZIP: {}}}}
FILE: dict[str, Any] = {"type": "string", "format": "binary", "maxLength": MAX_PACK}
BODY: dict[str, Any] = {"requestBody": {"required": True, "content": {ZIP: {"schema": FILE}}}}
PAPER: dict[int | str, dict[str, Any]] = {
    200: {"description": "The pack, A4.", "content": {PDF: {"schema": {"type": "string", "format": "binary"}}}}
}


async def _check_asset(request: Request, context: Context) -> None:
    """Check that the organization has the asset, before a file is read."""
    try:
        asset_id = UUID(request.path_params["assetId"])
    except ValueError as error:
        raise NotFound("No resource has this ID.") from error
    await records.asset(context.session, context.organization_id, asset_id)


@router.get("", response_class=StreamingResponse, responses=RESPONSES)
@requires(Scope.ASSETS_READ)
async def get_evidence(
    context: Current,
    orgId: UUID,
    assetId: UUID,
    block: Annotated[
        int | None, Query(ge=0, le=2**53, description=("The block of the holders. Default: the newest final block."))
    ] = None,
    chain_eid: Annotated[int | None, Query(ge=1, le=2**32 - 1, description="Holders on this chain only.")] = None,
) -> StreamingResponse:
    """Download a zip archive of compliance evidence for the asset: each token at a block, rules and their history,
    holders at the block, attestations with their state in the registry, the asset's audit entries, and `manifest.json`
    with the hash of every file. After unpacking, `sha256sum --check SHA256SUMS` detects changes. Files that need a
    scope the caller lacks are omitted and listed. The audit log has the hash of the manifest."""
    evidence = await service.prepare(context, assetId, block, chain_eid)
    headers = {
        "Content-Disposition": f'attachment; filename="{evidence.file_name}"',
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, no-store",
    }
    return StreamingResponse(service.stream(evidence), headers=headers, media_type=ZIP)


@router.post("/contents", openapi_extra=BODY)
@requires(Scope.ASSETS_READ)
@takes(ZIP, check=_check_asset)
async def read_evidence(context: Current, orgId: UUID, assetId: UUID, request: Request) -> EvidenceContents:
    """Read an evidence archive of the asset: the body is the zip file, of at most 16 MiB, and 32 MiB unpacked. The
    response has its files with their hashes, and its sections as tables of words, each with its first 200 records.
    Nothing is stored."""
    return await review.read(context, assetId, await _file(request))


@router.post("/verification", openapi_extra=BODY)
@requires(Scope.ASSETS_READ)
@takes(ZIP, check=_check_asset)
async def verify_evidence(context: Current, orgId: UUID, assetId: UUID, request: Request) -> EvidenceVerification:
    """Verify an evidence archive of the asset: every file against its hash, the manifest and the entries against the
    audit log, and what it says about each chain against the chain at the same block: token address, block, supply,
    balances, the hash of the rules, transactions and attestations. Each check is `ok`, `differs` with what was expected
    and found, or `unchecked` with the reason. Nothing is stored."""
    return await review.verify(context, assetId, await _file(request))


@router.post("/report", response_class=Response, responses=PAPER, openapi_extra=BODY)
@requires(Scope.ASSETS_READ)
@takes(ZIP, check=_check_asset)
async def print_evidence(context: Current, orgId: UUID, assetId: UUID, request: Request) -> Response:
    """Export an evidence archive of the asset as PDF: its verification, its files with their hashes, and its sections
    with up to 2,000 records each. The audit log records the SHA-256 hashes of the PDF and of the archive."""
    content, name = await review.as_pdf(context, assetId, await _file(request))
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "private, no-store"}
    return Response(content, media_type=PDF, headers=headers)


async def _file(request: Request) -> BinaryIO:
    """Return the sent file: a large one is on disk."""
    upload: Upload | None = request.state.upload
    if upload is not None:
        return upload.file
    if body := await request.body():
        return io.BytesIO(body)
    raise BadRequest("The body is empty. Send the zip file.")
