"""Removal of second factors by the operator, for a person who has lost all of them and the recovery codes."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.models import SessionRow
from backend.cli.database import outside
from backend.core.changes import THE_OPERATOR, acting
from backend.core.db import Write
from backend.core.errors import CannotStart
from backend.core.settings import Settings
from backend.factors.models import FactorRow, RecoveryCodeRow
from backend.sign_in.account_events import publish_account_change
from backend.sign_in.service import end
from backend.users.models import UserRow


async def remove(settings: Settings, email: str, reason: str) -> str:
    """Remove a person's factors and recovery codes and end their sessions; return a line that reports it.

    Refuses where the address has no account, or the account no factor.
    """
    async with outside(settings) as session:
        found: UUID | None = await session.scalar(
            sa.select(col(UserRow.id)).where(col(UserRow.email) == email.strip().lower())
        )
        if found is None:
            raise CannotStart(f"No account has the address {email}.")
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
        await publish_account_change(session, user_id, "user.factors_removed", ("user", user_id), facts)
    count = "1 second factor" if len(removed) == 1 else f"{len(removed)} second factors"
    return f"Removed {count} of {email} and ended all sessions. The password is unchanged."
