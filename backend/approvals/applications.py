"""Applications that made a pending request: each acts for its person within its grant, and only while the grant is
active.
"""

from dataclasses import replace
from typing import Any

from backend.auth.credential_owners import Person
from backend.auth.makers import grant_of
from backend.core import db
from backend.core.errors import Conflict

ENDED = (
    "The application {name} made this request, and has since been disconnected or expired. Deny it; the requester can "
    "repeat it."
)


async def acting(session: db.Write, approval: Any, person: Person | None) -> Person | None:
    """Return the person as represented by the requesting application, with its grant's scopes and organizations.

    Returns the person unchanged where no application made the request. 409 where the grant has ended.
    """
    if approval.asked_grant is None or person is None:
        return person
    grant = await grant_of(session, approval.asked_grant)
    if grant is None or grant.is_ended:
        raise Conflict(ENDED.format(name=approval.asked_application))
    granted = frozenset((grant.scope or "").split())
    return replace(person, session_id=approval.asked_grant, granted=granted, within=grant.organization_id)
