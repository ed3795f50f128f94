"""`/v1/devnet`: embedded chains only."""

from fastapi import APIRouter, Depends

from backend.auth.guard import ANY_ORGANIZATION, Current, GuardedRoute, requires
from backend.core import db
from backend.devnet import service
from backend.devnet.schemas import ClockMove, Devnet, FaultBegin, ResetBegun

# Declared at import.
router = APIRouter(prefix="/devnet", tags=["Devnet"], route_class=GuardedRoute)


async def _check(context: Current) -> None:
    """Refuse other callers before the request itself is validated."""
    await service.check(context)


OPERATOR = (Depends(_check),)


@router.get("", responses={404: {}}, dependencies=OPERATOR)
@requires(organization=ANY_ORGANIZATION, person=True)
async def get_devnet(context: Current) -> Devnet:
    """Get the embedded chains, their clock and their faults.

    For admins of the operator's organization, the first one of the installation; 404 on public chains.
    """
    async with db.paused(context.session):
        return await service.state()


@router.post("/clock", responses={404: {}, 409: {}}, dependencies=OPERATOR)
@requires(organization=ANY_ORGANIZATION, person=True)
async def move_clock(context: Current, body: ClockMove) -> Devnet:
    """Move the time of all embedded chains forward: lock-ups end, attestations expire. It cannot go back."""
    async with db.paused(context.session):
        return await service.move_clock(body)


@router.post("/faults", responses={404: {}, 409: {}, 503: {}}, dependencies=OPERATOR)
@requires(organization=ANY_ORGANIZATION, person=True)
async def begin_fault(context: Current, body: FaultBegin) -> Devnet:
    """Make a chain slow, stop it, make it refuse packets, drop transactions or reorganize; `none` ends the fault.

    Pending work waits, fails with the reason, or is sent again, as on a public chain.
    """
    async with db.paused(context.session):
        return await service.fault(body)


@router.post("/reset", responses={404: {}, 409: {}, 503: {}}, dependencies=OPERATOR)
@requires(organization=ANY_ORGANIZATION, person=True)
async def reset_devnet(context: Current) -> ResetBegun:
    """Reset chains and database: the demo is created again, and its people keep their passwords.

    All sessions and keys end. The server restarts for this; 409 where it cannot.
    """
    async with db.paused(context.session):
        return await service.begin_again()
