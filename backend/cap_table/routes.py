"""`/v1/orgs/{orgId}/assets/{assetId}/cap-table`."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Response

from backend.auth.guard import Current, GuardedRoute, from_replica, requires
from backend.auth.scopes import Scope
from backend.cap_table import export, service
from backend.cap_table.schemas import CapTable, HoldingChange
from backend.cap_table.service import Question
from backend.core.fields import Moment
from backend.lists.pages import Page

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}/assets/{assetId}/cap-table", tags=["Assets"], route_class=GuardedRoute)
AsOf = Annotated[Moment | None, Query(description="The time of the cap table. Default: now.")]
PDF = "application/pdf"
PAPER: dict[int | str, dict[str, Any]] = {
    200: {"description": "The cap table, A4.", "content": {PDF: {"schema": {"type": "string", "format": "binary"}}}}
}
Compared = Annotated[Moment | None, Query(description="An earlier time with which holdings are compared.")]


@router.get("")
@requires(Scope.ASSETS_READ)
@from_replica
async def get_cap_table(
    context: Current,
    orgId: UUID,
    assetId: UUID,
    page: Annotated[Page, Depends(service.LIST.page)],
    as_of: AsOf = None,
    compare_with: Compared = None,
    change: Annotated[
        HoldingChange | None, Query(description="Only investors whose holding changed like this since `compare_with`.")
    ] = None,
) -> CapTable:
    """Get the cap table at a time: holders on all chains, largest first, concentration, countries, and sums per chain
    compared with the token's supply at the same block. Everything is read at the last block of each chain up to that
    time. Tokens that a market holds for a seller count as the seller's."""
    return await service.read(context, assetId, Question(as_of, compare_with, change), page)


@router.get(".pdf", response_class=Response, responses=PAPER)
@requires(Scope.ASSETS_READ)
async def print_cap_table(
    context: Current, orgId: UUID, assetId: UUID, as_of: AsOf = None, compare_with: Compared = None
) -> Response:
    """Export the cap table at a time as PDF: the numbers of the JSON, up to 2,000 holders, and the block at which each
    chain was read. The audit log records the export with the SHA-256 hash of the file."""
    content, name = await export.as_pdf(context, assetId, Question(as_of, compare_with))
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "private, no-store"}
    return Response(content, media_type=PDF, headers=headers)
