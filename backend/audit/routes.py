"""`/v1/orgs/{orgId}/audit`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends
from fastapi.responses import StreamingResponse

from backend.audit import export, service, verification
from backend.audit.schemas import AuditList, AuditVerification
from backend.audit.service import Filter
from backend.auth.guard import Current, GuardedRoute, requires
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.core import db
from backend.core.errors import TooManyRequests
from backend.core.fair_places import Places
from backend.core.runtime import runtime
from backend.limits import rate_limits
from backend.limits.concurrency import Quota
from backend.lists.pages import Page

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}", tags=["Audit"], route_class=GuardedRoute)
Wanted = Annotated[Filter, Depends()]


@dataclass
class Verifications:
    """The verifications under way in this process."""

    quota: Quota = field(default_factory=lambda: Quota(1, 1_000))
    """One of an organization and by a person."""
    hashing: Places = field(default_factory=lambda: Places(2, 60.0))
    """Parts of logs that are hashed at the same time; verifications take turns."""


class Csv(StreamingResponse):
    """Lines of CSV (RFC 4180), in UTF-8."""

    media_type = "text/csv"


@router.get("/audit")
@requires(Scope.ORGS_READ)
async def list_audit(
    context: Current, orgId: UUID, page: Annotated[Page, Depends(service.LIST.page)], wanted: Wanted
) -> AuditList:
    """List every change of the organization, newest first: who changed what, and how.

    Each entry has the hash of the previous one, so that alterations and deletions are detectable. The changed values
    are shown to credentials that may read such records; `withheld` marks entries where they are hidden.
    """
    return await service.page(context, page, wanted)


@router.get("/audit/verify")
@requires(Scope.ORGS_READ)
async def verify_audit(context: Current, orgId: UUID) -> AuditVerification:
    """Compute every hash of the log again, and say whether the chain is intact (`whole`), or where it is first broken
    and why."""
    await rate_limits.hit(rate_limits.AUDIT_VERIFICATIONS, "audit verification", str(orgId), _person(context))
    names, quota = (f"of {orgId}", f"by {_person(context)}"), runtime.part(Verifications).quota
    if not quota.take(*names):
        raise TooManyRequests(5)
    try:
        return await verification.verify(context.session, orgId, partial(_turn, context))
    finally:
        quota.give_back(*names)


def _person(context: Context) -> str:
    return str(context.user_id or context.name)


@asynccontextmanager
async def _turn(context: Context) -> AsyncIterator[None]:
    """Without a connection, while few others hash."""
    hashing = runtime.part(Verifications).hashing
    async with db.paused(context.session):
        await hashing.take(_person(context))
        try:
            yield
        finally:
            hashing.give_back(_person(context))


@router.get("/audit.csv", response_class=Csv)
@requires(Scope.ORGS_READ)
async def export_audit(
    context: Current, orgId: UUID, page: Annotated[Page, Depends(service.LIST.export)], wanted: Wanted
) -> Csv:
    """Export the log as CSV, streamed, with the filters, order and visibility of the list.

    `before` and `after` are JSON. An apostrophe precedes a cell that a spreadsheet would treat as a formula.
    """
    headers = {"Content-Disposition": 'attachment; filename="audit.csv"'}
    return Csv(export.lines(context, page, wanted), headers=headers)
