"""The application that asked for what waits: it acts for its person within its grant, and only while that lasts."""

from dataclasses import replace
from typing import Any

from backend import db
from backend.auth.makers import grant_of
from backend.auth.principal import Person
from backend.errors import Conflict

ENDED = "The application {name}, which asked for it, was disconnected or has expired since."


async def acting(session: db.Write, approval: Any, person: Person | None) -> Person | None:
    """The person as the application acts for them, with the scopes and in the organizations of its grant; the person
    unchanged where no application asked. 409 where the grant has ended."""
    if approval.asked_grant is None or person is None:
        return person
    grant = await grant_of(session, approval.asked_grant)
    if grant is None or grant.is_ended:
        raise Conflict(ENDED.format(name=approval.asked_application))
    granted = frozenset((grant.scope or "").split())
    return replace(person, session_id=approval.asked_grant, granted=granted, within=grant.organization_id)
