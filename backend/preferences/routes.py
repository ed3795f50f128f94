"""`/v1/auth/preferences`."""

from fastapi import APIRouter

from backend.auth.guard import ANY_ORGANIZATION, Current, GuardedRoute, requires
from backend.preferences import service
from backend.preferences.schemas import Preferences, PreferencesUpdate

# Declared at import.
router = APIRouter(prefix="/auth/preferences", tags=["Sign-in"], route_class=GuardedRoute)


@router.get("")
@requires(organization=ANY_ORGANIZATION, person=True)
async def get_preferences(context: Current) -> Preferences:
    """Get the preferences of the signed-in person: time zone, hidden cards, and seen notifications."""
    return await service.read(context)


@router.patch("")
@requires(organization=ANY_ORGANIZATION, person=True)
async def update_preferences(context: Current, body: PreferencesUpdate) -> Preferences:
    """Change preferences of the signed-in person. Omitted ones stay."""
    return await service.update(context, body)
