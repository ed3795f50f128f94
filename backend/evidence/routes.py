"""`/v1/orgs/{orgId}/assets/{assetId}/evidence`."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from backend.auth.guard import Current, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.evidence import service

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}/assets/{assetId}/evidence", tags=["Assets"], route_class=GuardedRoute)
ZIP = "application/zip"
RESPONSES: dict[int | str, dict[str, Any]] = {200: {"description": "The archive.", "content": {ZIP: {}}}}


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
    """Download a zip archive of compliance evidence for the asset: rules and their history, holders at a block,
    attestations with their state in the registry, the asset's audit entries, and `manifest.json` with the hash of every
    file. After unpacking, `sha256sum --check SHA256SUMS` detects changes. Files that need a scope the caller lacks are
    omitted and listed."""
    evidence = await service.prepare(context, assetId, block, chain_eid)
    headers = {
        "Content-Disposition": f'attachment; filename="{evidence.file_name}"',
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, no-store",
    }
    return StreamingResponse(service.stream(evidence), headers=headers, media_type=ZIP)
