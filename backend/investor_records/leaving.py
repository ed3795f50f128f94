"""An investor leaves an organization: access ends immediately; tokens and records stay."""

from backend.auth import investor_entry
from backend.auth.principal import Context
from backend.core import locks
from backend.core.errors import NotFound
from backend.core.locks import Purpose
from backend.members import service
from backend.users.models import MemberRow


async def leave(context: Context) -> None:
    """End the membership of the investor who has entered. No one has to agree to it."""
    await locks.wait(context.session, Purpose.MEMBERS, context.organization_id)
    await investor_entry.write(context.session, "membership")
    row = await context.session.get(MemberRow, context.investor)
    if row is None:
        raise NotFound(investor_entry.NONE)
    await service.end(context.session, row)
