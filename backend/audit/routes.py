"""`/v1/orgs/{orgId}/audit`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends
from fastapi.responses import StreamingResponse

from backend.audit import exporting, service, verifying
from backend.audit.schemas import AuditList, AuditVerification
from backend.audit.service import Filter
from backend.auth.route import Current, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.keyset import Page

router = APIRouter(prefix="/orgs/{orgId}", tags=["Audit"], route_class=GuardedRoute)
Wanted = Annotated[Filter, Depends()]


class Csv(StreamingResponse):
    """Lines of CSV (RFC 4180), in UTF-8."""

    media_type = "text/csv"


@router.get("/audit")
@requires(Scope.ORGS_READ)
async def list_audit(context: Current, orgId: UUID, page: Annotated[Page, Depends()], wanted: Wanted) -> AuditList:
    """Who changed what, and how: every change of the organization, newest first.

    Each entry carries the hash of the one before it, so that none can be altered or taken out unseen. What was changed
    is shown to a credential that may read such records; `withheld` says where it may not.
    """
    return await service.page(context, page, wanted)


@router.get("/audit/verify")
@requires(Scope.ORGS_READ)
async def verify_audit(context: Current, orgId: UUID) -> AuditVerification:
    """Compute every hash of the log again, and say whether the chain is whole, or where it is first broken and why."""
    return await verifying.verify(context.session, orgId)


@router.get("/audit.csv", response_class=Csv)
@requires(Scope.ORGS_READ)
async def export_audit(context: Current, orgId: UUID, wanted: Wanted) -> Csv:
    """The log as CSV, streamed, newest first, with the same filters and as much of each entry as the list shows.

    `before` and `after` are JSON. A cell that a spreadsheet would take for a formula begins with an apostrophe.
    """
    headers = {"Content-Disposition": 'attachment; filename="audit.csv"'}
    return Csv(exporting.lines(orgId, wanted, context.scopes), headers=headers)
