"""The page that opens after a sign-in: never one of an organization that the person cannot see."""

import re
from uuid import UUID

import sqlalchemy as sa

from backend.core import db

FIRST = "/"
"""The page that leads everyone to their own first organization."""
_PLACE = re.compile(r"/([oi])/([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(?=[/?#]|$)")
_STAFF = sa.text("select cardinality(signum_roles(:person, :place)) > 0")
_INVESTOR = sa.text("select count(*) > 0 from signum_enter_as_investor(:place, null)")


async def return_path(target: str, person: UUID) -> str:
    """Return a path of the console, or the first page in its place: the organization or the investor account that the
    path names can be deleted, or can belong to the person who used this browser before.
    """
    found = _PLACE.match(target)
    if found is None:
        return target
    query = _STAFF if found[1] == "o" else _INVESTOR
    async with db.transaction() as session:
        await db.see_oneself(session, person)
        is_own = await session.scalar(query, {"person": person, "place": UUID(found[2])})
    return target if is_own else FIRST
