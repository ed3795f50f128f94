"""`/v1/orgs/{orgId}/attempts`: attempts to break Signum, where the whole installation is a demo on this machine."""

from uuid import UUID

from fastapi import APIRouter, Depends

from backend.attempts import service
from backend.attempts.schemas import Attempt, AttemptKind, AttemptList
from backend.auth.guard import Current, GuardedRoute, requires
from backend.auth.scopes import Scope

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}/attempts", tags=["Devnet"], route_class=GuardedRoute)


async def _check(context: Current) -> None:
    """Refuse other callers before the request itself is validated."""
    await service.check(context)


OPERATOR = (Depends(_check),)


@router.get("", responses={404: {}}, dependencies=OPERATOR)
@requires(Scope.ASSETS_WRITE, person=True)
async def get_attempts(context: Current, orgId: UUID) -> AttemptList:
    """Get the newest attempt of each kind, while it runs and afterwards.

    For admins of the operator's organization, on an embedded installation that listens on loopback; 404 elsewhere.
    """
    return service.found()


@router.post("/{kind}", responses={404: {}, 409: {}}, dependencies=OPERATOR)
@requires(Scope.ASSETS_WRITE, person=True)
async def begin_attempt(context: Current, orgId: UUID, kind: AttemptKind) -> Attempt:
    """Begin an attempt: calls that bypass Signum are sent to the contracts, or a request is disturbed. One at a time.

    The accounts it needs are new; what they hold goes back to the treasury at the end.
    """
    return service.begin(context, kind)
