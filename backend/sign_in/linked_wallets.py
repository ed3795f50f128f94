"""The wallets with which a person signs in: list and unlink."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.models import SessionRow
from backend.auth.principal import Context
from backend.core.errors import Conflict, NotFound
from backend.sign_in import proofs
from backend.sign_in.account_events import publish_account_change
from backend.sign_in.schemas import LinkedWallet, LinkedWalletList
from backend.sign_in.service import end
from backend.users.models import UserWalletRow

MOST = 20
"""Maximum wallets of one person."""
LAST = "This wallet is your only way to sign in. Link another wallet before you unlink this one."


async def listed(context: Context) -> LinkedWalletList:
    """Return the person's wallets, the oldest first."""
    rows = await context.session.scalars(_of(context.require_person().user_id))
    return LinkedWalletList(wallets=[LinkedWallet.model_validate(row) for row in rows])


async def check_count(context: Context) -> None:
    """Raise 409 where the person has the maximum number of wallets."""
    rows = (await context.session.scalars(_of(context.require_person().user_id))).all()
    if len(rows) >= MOST:
        raise Conflict(f"An account has at most {MOST} wallets. Unlink one first.")


async def unlink(context: Context, wallet_id: UUID) -> None:
    """Remove a wallet; 404 where it is not the person's, 409 where they could no longer sign in.

    The person's token sessions end, because the wallet may have opened them, except the session of this request.
    """
    person, session = context.require_person(), context.session
    context.require_fresh_factor(by_token=True)
    context.require_fresh_proof()
    # Locked, so that only one of the last two wallets can be removed.
    rows = (await session.scalars(_of(person.user_id).with_for_update())).all()
    row = next((row for row in rows if row.id == wallet_id), None)
    if row is None:
        raise NotFound("You have no linked wallet with this ID.")
    if len(rows) == 1 and not await proofs.password_hash(context):
        raise Conflict(LAST)
    await session.delete(row)
    await session.flush()
    programs = (col(SessionRow.user_id) == person.user_id, col(SessionRow.kind) == "token")
    await end(session, *programs, col(SessionRow.id) != person.session_id)
    subject, unlinked = ("user", person.user_id), {"wallet_address": row.address}
    await publish_account_change(session, person.user_id, "user.wallet_unlinked", subject, unlinked)


def _of(user_id: UUID) -> sa.Select[UserWalletRow]:
    query = sa.select(UserWalletRow).where(col(UserWalletRow.user_id) == user_id)
    return query.order_by(col(UserWalletRow.created_at), col(UserWalletRow.id))
