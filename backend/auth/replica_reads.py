"""Operations that read much: they run on the replica, where the settings name one."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from fastapi import Request, Response

from backend.auth.permissions import F
from backend.auth.principal import Context
from backend.core import db, replica
from backend.core.connections import engines

MARK = "__from_replica__"


def from_replica(endpoint: F) -> F:
    """Declare that an operation only reads, and reads much."""
    setattr(endpoint, MARK, True)
    return endpoint


async def run(request: Request, operation: Callable[[Request], Awaitable[Response]]) -> Response:
    """Run an operation on the replica, while the request's own transaction is paused; on the primary where the replica
    is not current or fails."""
    context: Context = request.state.context
    if not replica.is_used():
        return await operation(request)
    written, seen = await replica.position(context.session), await engines.seen(context.session)
    async with db.paused(context.session):
        try:
            async with replica.reading(written, seen) as session:
                request.state.context = replace(context, session=session)
                return await operation(request)
        except replica.FAULTS as error:
            replica.note(error)
        finally:
            request.state.context = context
    return await operation(request)
