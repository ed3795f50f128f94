"""`/v1/compliance`."""

from fastapi import APIRouter
from pydantic import BaseModel

from backend.auth.route import Current, GuardedRoute, public
from backend.compliance.presets import PRESETS
from backend.compliance.schemas import Preset

router = APIRouter(prefix="/compliance", tags=["Compliance"], route_class=GuardedRoute)


class PresetList(BaseModel):
    """The frameworks."""

    presets: list[Preset]


@router.get("/presets")
@public
async def list_presets(context: Current) -> PresetList:
    """What each framework enforces here, what it leaves to the issuer, and the values it starts from.

    Configuration, not legal advice.
    """
    return PresetList(presets=list(PRESETS))
