"""`/v1/compliance`."""

from typing import Annotated

from fastapi import APIRouter, Depends

from backend.auth.guard import Current, GuardedRoute, public
from backend.compliance.presets import PRESETS
from backend.compliance.schemas import PresetList
from backend.lists.pages import SHORT, Page

# Declared at import.
router = APIRouter(prefix="/compliance", tags=["Compliance"], route_class=GuardedRoute)


@router.get("/presets")
@public
async def list_presets(context: Current, page: Annotated[Page, Depends(SHORT.page)]) -> PresetList:
    """List what each framework enforces here, what it leaves to the issuer, and its initial values.

    Configuration, not legal advice.
    """
    return PresetList(presets=page.kept(PRESETS))
