"""The end of an account: sessions, keys and memberships end as usual, then credentials are deleted."""

from collections import Counter
from typing import cast
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import SQLModel, col

from backend.api_keys.service import revoke_made_by
from backend.auth.models import SessionRow
from backend.core.db import Write
from backend.members import service as members
from backend.models import ApiKeyRow
from backend.sign_in.service import end
from backend.users.models import MemberRow, UserRow

PRIVATE = (
    "oauth_codes",
    "oauth_consents",
    "one_time_secrets",
    "factors",
    "recovery_codes",
    "user_wallets",
    "preferences",
    "form_drafts",
    "saved_views",
)
"""Tables whose rows belong to one person."""
_USERS = cast("sa.Table", sa.inspect(UserRow).local_table)
_REFRESH_TOKENS = sa.text(
    "delete from refresh_tokens where session_id in (select id from sessions where user_id = :person)"
)
_ORIGINS = sa.text("""
  update requests set origin = origin || '{"address": null}'
  where origin ->> 'actor' = cast(:person as text) and origin ->> 'address' is not null
""")
_CONTACTS = sa.text("update organizations set email = null where lower(email) = :email")


async def close(session: Write, person: UUID, word: str) -> Counter[str]:
    """Replace the account's name, and end its sessions, keys and memberships."""
    values = {"email": None, "display_name": word, "password_hash": None, "last_login_at": None}
    await session.execute(sa.update(_USERS).where(_USERS.c.id == person).values(values))
    await end(session, col(SessionRow.user_id) == person)
    made = col(ApiKeyRow.created_by) == person
    active = sa.select(col(ApiKeyRow.organization_id)).where(made, col(ApiKeyRow.revoked_at).is_(None))
    for organization_id in sorted(set(places := (await session.scalars(active)).all())):
        await revoke_made_by(session, organization_id, made)
    mine = sa.or_(col(MemberRow.user_id) == person, col(MemberRow.asked_user_id) == person)
    rows = (await session.scalars(sa.select(MemberRow).where(mine).with_for_update())).all()
    for row in rows:
        row.email = row.display_name = row.wallet_address = None
        await members.end(session, row)
    return +Counter({"api_keys": len(places), "members": len(rows)})


async def forget(session: Write, person: UUID, email: str) -> Counter[str]:
    """Delete what belongs to the person alone."""
    found = Counter({"organizations": await _count(session, _CONTACTS, email=email)})
    found["refresh_tokens"] = await _count(session, _REFRESH_TOKENS, person=person)
    for name in (*PRIVATE, "sessions"):
        table = SQLModel.metadata.tables[name]
        found[name] = await _count(session, sa.delete(table).where(table.c.user_id == person))
    found["requests"] = await _count(session, _ORIGINS, person=person)
    return +found


async def _count(session: Write, statement: sa.Executable, **values: object) -> int:
    done = await session.execute(statement, values)
    return int(getattr(done, "rowcount", 0))
