"""The operator's way out for somebody who has lost every second factor and recovery code."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.bootstrap import outside
from backend.auth.models import SessionRow
from backend.auth.service import end
from backend.auth.telling import tell_of_person
from backend.changes import THE_OPERATOR, acting
from backend.db import Write
from backend.errors import CannotStart
from backend.factors.models import FactorRow, RecoveryCodeRow
from backend.members.models import UserRow
from backend.settings import Settings


async def remove(settings: Settings, email: str, reason: str) -> str:
    """Remove a person's factors and recovery codes and end their sessions; a line that says so. Refuses where the
    address has no account, or the account no factor."""
    async with outside(settings) as session:
        found: UUID | None = await session.scalar(
            sa.select(col(UserRow.id)).where(col(UserRow.email) == email.strip().lower())
        )
        if found is None:
            raise CannotStart(f"Nobody signs in as {email}.")
        return await _remove(session, found, email, reason)


async def _remove(session: Write, user_id: UUID, email: str, reason: str) -> str:
    gone = sa.delete(FactorRow).where(col(FactorRow.user_id) == user_id).returning(col(FactorRow.id))
    removed = (await session.scalars(gone)).all()
    if not removed:
        raise CannotStart(f"{email} has no second factor.")
    await session.execute(sa.delete(RecoveryCodeRow).where(col(RecoveryCodeRow.user_id) == user_id))
    with acting(THE_OPERATOR):
        await end(session, col(SessionRow.user_id) == user_id, col(SessionRow.client_id).is_(None))
        facts = {"factors": len(removed), "reason": reason}
        await tell_of_person(session, user_id, "user.factors_removed", ("user", user_id), facts)
    count = "1 second factor" if len(removed) == 1 else f"{len(removed)} second factors"
    return f"Removed {count} of {email}. Every session of theirs has ended; the password stays."
