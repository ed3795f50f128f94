"""The key and the application grant behind a request. Objects that they create end with them."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.core.db import Write

GRANT = sa.text("select * from signum_grant(:session)")


@dataclass(frozen=True)
class Maker:
    """The credential of a request that is not a person's own: a key, an application's grant (a session), or both."""

    key_id: UUID | None = None
    grant_id: UUID | None = None
    client_id: UUID | None = None
    client_name: str | None = None


async def maker_of(context: Context) -> Maker:
    """Return the key and the grant of a request."""
    person, key_id = context.person, context.key.key_id if context.key else None
    if person is None or person.granted is None:
        return Maker(key_id=key_id)
    grant = await grant_of(context.session, person.session_id)
    return Maker(key_id, person.session_id, grant.client_id, grant.client_name)


async def grant_of(session: Write, grant_id: UUID) -> Any:
    """Return a grant: `client_id`, `client_name`, `organization_id` of the application, `scope`, `expires_at`,
    `is_ended`.

    None where it was deleted, some time after its end.
    """
    return (await session.execute(GRANT, {"session": grant_id})).first()
