"""Resolutions of failed requests: the call that removes the cause, which the problem of the request then names, and
whether the cause is gone since.

Verticals know these calls. They register a finder and a checker here, because they are above requests.
"""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from backend.core import db
from backend.core.errors import SignumError
from backend.core.problems.resolutions import with_addresses
from backend.core.settings import settings
from backend.requests.models import RequestRow
from backend.requests.schemas import Request, RequestStatus

log = structlog.get_logger()
Finder = Callable[[db.Write, RequestRow, SignumError], Awaitable[dict[str, Any] | None]]
# Declared at import.
_finders: list[Finder] = []
Checker = Callable[[AsyncSession, Request], Awaitable[bool]]
# Declared at import.
_checkers: list[Checker] = []


def find_with(finder: Finder) -> None:
    """Register a finder: it returns the call that removes the cause of a failure, or None."""
    if finder not in _finders:
        _finders.append(finder)


def check_with(checker: Checker) -> None:
    """Register a checker: it returns whether the cause of a request's failure is gone."""
    if checker not in _checkers:
        _checkers.append(checker)


async def is_gone(session: AsyncSession, request: Request) -> bool:
    """Return whether the cause that a failed request names is gone, so that its resolution is no longer needed."""
    if request.status is not RequestStatus.FAILED or "resolution" not in (request.problem or {}):
        return False
    return any([await checker(session, request) for checker in _checkers])


async def found(organization_id: UUID, request_id: UUID, error: SignumError) -> dict[str, Any]:
    """Return the member `resolution` of a failed request's problem; nothing where no call removes the cause.

    A fault here is logged: the request fails with its reason in any case.
    """
    try:
        async with db.step(organization_id) as session:
            row = await session.get_one(RequestRow, request_id)
            for finder in _finders:
                if (call := await finder(session, row, error)) is not None:
                    return dict(with_addresses({"resolution": call}, settings().base_url))
    except Exception:
        log.exception("request.resolution_failed", request=str(request_id))
    return {}
