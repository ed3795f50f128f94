"""The callers under whose names limits count a request body."""

from fastapi import Request

from backend.auth import callers
from backend.auth.credentials import authenticate, cookie_name
from backend.core import db, fair_places
from backend.limits.concurrency import Holder


def has_credential(request: Request) -> bool:
    """Return whether a request has a credential, valid or not."""
    return any(name in request.headers for name in ("authorization", "x-api-key")) or cookie_name() in request.cookies


async def holder_of(request: Request) -> Holder:
    """Look up the credential of a request in a separate transaction.

    Raises the errors with which the operation would refuse the credential: Unauthenticated, Forbidden or
    AddressNotAllowed.
    """
    with fair_places.called_by(callers.name_of(request)):
        return await _holder(request)


async def _holder(request: Request) -> Holder:
    async with db.transaction() as session:
        return await callers.holder(await authenticate(request, session))
