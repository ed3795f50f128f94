"""`/v1/compliance`."""

from fastapi import APIRouter

from backend.auth.route import Current, GuardedRoute, public
from backend.compliance.presets import PRESETS
from backend.compliance.schemas import PresetList

router = APIRouter(prefix="/compliance", tags=["Compliance"], route_class=GuardedRoute)


@router.get("/presets")
@public
async def list_presets(context: Current) -> PresetList:
    """What each framework enforces here, what it leaves to the issuer, and the values it starts from.

    Configuration, not legal advice.
    """
    return PresetList(presets=list(PRESETS))
