"""Resolutions of failed requests: the call that removes the cause, which the problem of the request then names.

Verticals know these calls. They register a finder here, because they are above requests.
"""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import structlog

from backend.core import db
from backend.core.errors import SignumError
from backend.core.problems.resolutions import with_addresses
from backend.core.settings import settings
from backend.requests.models import RequestRow

log = structlog.get_logger()
Finder = Callable[[db.Write, RequestRow, SignumError], Awaitable[dict[str, Any] | None]]
# Declared at import.
_finders: list[Finder] = []


def find_with(finder: Finder) -> None:
    """Register a finder: it returns the call that removes the cause of a failure, or None."""
    if finder not in _finders:
        _finders.append(finder)


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
