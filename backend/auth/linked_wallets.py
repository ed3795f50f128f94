"""The wallets that a person signs in with: listed and unlinked."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth import proofs
from backend.auth.models import SessionRow
from backend.auth.principal import Context
from backend.auth.schemas import LinkedWallet, LinkedWalletList
from backend.auth.service import end
from backend.auth.telling import tell_of_person
from backend.errors import Conflict, NotFound
from backend.members.models import UserWalletRow

MOST = 20
"""Wallets of one person."""
LAST = "You can sign in with this wallet only. Link another wallet before you unlink this one."


async def listed(context: Context) -> LinkedWalletList:
    """The person's wallets, the oldest first."""
    rows = await context.session.scalars(_of(context.require_person().user_id))
    return LinkedWalletList(wallets=[LinkedWallet.model_validate(row) for row in rows])


async def check_count(context: Context) -> None:
    """409 where the person has as many wallets as an account can have."""
    rows = (await context.session.scalars(_of(context.require_person().user_id))).all()
    if len(rows) >= MOST:
        raise Conflict(f"An account has at most {MOST} wallets. Unlink one first.")


async def unlink(context: Context, wallet_id: UUID) -> None:
    """Remove a wallet; 404 where it is not the person's, 409 where they could not sign in any more.

    Programs of the person are signed out, because the wallet may have signed them in. The session that asks goes on.
    """
    person, session = context.require_person(), context.session
    context.require_fresh_factor(by_token=True)
    context.require_fresh_proof()
    # Locked, so that of the last two wallets only one goes.
    rows = (await session.scalars(_of(person.user_id).with_for_update())).all()
    row = next((row for row in rows if row.id == wallet_id), None)
    if row is None:
        raise NotFound("You have no such wallet.")
    if len(rows) == 1 and not await proofs.password_hash(context):
        raise Conflict(LAST)
    await session.delete(row)
    await session.flush()
    programs = (col(SessionRow.user_id) == person.user_id, col(SessionRow.kind) == "token")
    await end(session, *programs, col(SessionRow.id) != person.session_id)
    subject, unlinked = ("user", person.user_id), {"wallet_address": row.address}
    await tell_of_person(session, person.user_id, "user.wallet_unlinked", subject, unlinked)


def _of(user_id: UUID) -> sa.Select[UserWalletRow]:
    query = sa.select(UserWalletRow).where(col(UserWalletRow.user_id) == user_id)
    return query.order_by(col(UserWalletRow.created_at), col(UserWalletRow.id))
