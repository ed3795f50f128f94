"""`/v1/devnet`: embedded chains only."""

from fastapi import APIRouter

from backend import db
from backend.auth.route import ANY_ORGANIZATION, Current, GuardedRoute, requires
from backend.devnet import service
from backend.devnet.schemas import ClockMove, Devnet, FaultBegin, ResetBegun

router = APIRouter(prefix="/devnet", tags=["Devnet"], route_class=GuardedRoute)


@router.get("", responses={404: {}})
@requires(organization=ANY_ORGANIZATION, person=True)
async def get_devnet(context: Current) -> Devnet:
    """The embedded chains, their clock and their faults. For admins of the operator's organization, the first
    one of the installation; 404 on public chains."""
    await service.check(context)
    async with db.paused(context.session):
        return await service.state()


@router.post("/clock", responses={404: {}, 409: {}})
@requires(organization=ANY_ORGANIZATION, person=True)
async def move_clock(context: Current, body: ClockMove) -> Devnet:
    """Move the time of all embedded chains forward: lockups end, attestations expire. It cannot go back."""
    await service.check(context)
    async with db.paused(context.session):
        return await service.move_clock(body)


@router.post("/faults", responses={404: {}, 409: {}, 503: {}})
@requires(organization=ANY_ORGANIZATION, person=True)
async def begin_fault(context: Current, body: FaultBegin) -> Devnet:
    """Make a chain slow, stop it, have it refuse packets, drop transactions or reorganize; `none` ends that.

    What was on its way waits, fails with the reason, or is sent again, as it would on a public chain.
    """
    await service.check(context)
    async with db.paused(context.session):
        return await service.fault(body)


@router.post("/reset", responses={404: {}, 409: {}, 503: {}})
@requires(organization=ANY_ORGANIZATION, person=True)
async def reset_devnet(context: Current) -> ResetBegun:
    """Begin again from nothing, chains and database together: the demo is made anew, and its people keep their
    passwords. Every session and key ends. The server restarts for it; 409 where it cannot."""
    await service.check(context)
    async with db.paused(context.session):
        return await service.begin_again()
