"""Mails about what opens an account or an organization: a new device, password, factor, key or admin.

Changes that are told (`backend.changes`) lead to them; where a person has signed in, `backend.auth.devices` does.
"""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend.auth import rate_limit
from backend.changes import Change
from backend.db import now, widen
from backend.mail.models import mail
from backend.mail.rules import unlinked
from backend.settings import settings

OF_PERSON = {
    "user.password_changed": ("Your Signum password was changed", "The password of your account was changed"),
    "user.factor_added": ("A new second factor for Signum", "A second factor was added to your account"),
    "user.factor_removed": ("A second factor for Signum was removed", "A second factor was removed from your account"),
    "user.factors_removed": (
        "Your second factors were removed",
        "The operator of this installation removed every second factor of your account",
    ),
    "user.recovery_codes_created": ("New recovery codes for Signum", "Your recovery codes were replaced"),
    "user.wallet_linked": (
        "A wallet was linked to your Signum account",
        "A wallet that can sign in was linked to your account",
    ),
    "user.wallet_unlinked": (
        "A wallet was unlinked from your Signum account",
        "A wallet that could sign in was unlinked from your account",
    ),
}
"""By action: subject, and what happened."""
LETTER = (
    "{words}, on {time} UTC.\n\nIf it was you, you do not need to do anything. If not, choose another password "
    "({origin}/forgot-password). Then open {origin}/account, unlink the wallets that are not yours, and sign out "
    "everywhere. A linked wallet signs in without the password."
)
NEW_KEY = (
    "{who} made the API key “{name}” in {organization}, on {time} UTC. It has {scopes}.\n\n"
    "If nobody should have, revoke it: {origin}/o/{place}/api-keys"
)
NEW_ADMIN = (
    "{name} is an admin of {organization} since {time} UTC.\n\n"
    "If nobody should have made them one, take the role away: {origin}/o/{place}/members"
)
MOST = 50
"""Admins who are mailed."""
ADMINS = sa.text(
    "select distinct email from signum_access(:org) where role = 'admin' and email is not null "
    "order by email limit :most"
)
ADMIN_OF = sa.text(
    "select coalesce(u.display_name, u.email, m.display_name, m.email, 'A person') "
    "from members m left join users u on u.id = m.user_id "
    "where m.id = :id and m.role = 'admin' and m.status = 'active'"
)


async def on_change(session: AsyncSession, change: Change) -> None:
    """Mail the person whose account it is about, or the admins of the organization."""
    if change.action in OF_PERSON:
        subject, words = OF_PERSON[change.action]
        await _once(session, change, subject, words)
    elif change.action == "api_key.created":
        await _of_key(session, change)
    elif change.action in ("member.added", "member.updated") and _may_be_admin(change):
        await _of_admin(session, change)


async def tell_person(session: AsyncSession, user_id: UUID, subject: str, letter: str, **facts: Any) -> None:
    """Mail a person about their account, from the outermost organization they belong to; nobody else reads it."""
    places = await session.execute(sa.text("select id from signum_memberships(:person)"), {"person": user_id})
    place = places.scalars().first()
    email = await session.scalar(sa.text("select email from users where id = :id"), {"id": user_id})
    if place is None or not email:
        return
    await widen(session, place)
    session.add(mail(place, email, subject, _text(letter, **facts), is_private=True))


async def _once(session: AsyncSession, change: Change, subject: str, words: str) -> None:
    """What concerns a person is told in each of their organizations, and mailed once."""
    told = session.info.setdefault("alerts", set())
    if (name := (change.action, change.subject[1])) in told:
        return
    told.add(name)
    await tell_person(session, UUID(str(change.subject[1])), subject, LETTER, words=words)


async def _of_key(session: AsyncSession, change: Change) -> None:
    if not await rate_limit.allows(rate_limit.KEY_MAILS, "key mails", str(change.organization_id)):
        return
    after = change.after or {}
    who = await session.scalar(
        sa.text("select coalesce(display_name, email) from users where id = :id"), {"id": change.who.actor}
    )
    count = len(after.get("scopes") or [])
    facts = {
        "who": unlinked(who or "A program"),
        "name": unlinked(after.get("name", "")),
        "scopes": "1 scope" if count == 1 else f"{count} scopes",
    }
    await _tell_admins(session, change.organization_id, "A new API key in Signum", NEW_KEY, facts)


def _may_be_admin(change: Change) -> bool:
    after = change.after or {}
    return after.get("role", "admin") == "admin" and ("role" in after or "status" in after)


async def _of_admin(session: AsyncSession, change: Change) -> None:
    await session.flush()
    name = await session.scalar(ADMIN_OF, {"id": UUID(str(change.subject[1]))})
    if name is not None:
        facts = {"name": unlinked(name)}
        await _tell_admins(session, change.organization_id, "A new admin in Signum", NEW_ADMIN, facts)


async def _tell_admins(
    session: AsyncSession, organization_id: UUID, subject: str, letter: str, facts: dict[str, Any]
) -> None:
    found: Iterable[str] = (await session.scalars(ADMINS, {"org": organization_id, "most": MOST})).all()
    named = sa.text("select name from organizations where id = :id")
    organization = await session.scalar(named, {"id": organization_id})
    text = _text(letter, **facts, organization=unlinked(str(organization)), place=organization_id)
    session.add_all(mail(organization_id, email, subject, text) for email in found)


def _text(letter: str, **facts: Any) -> str:
    return letter.format(**facts, time=now().strftime("%Y-%m-%d %H:%M"), origin=settings().origin)
