"""Security emails: a new device, password, factor, key or admin.

Published changes (`backend.core.changes`) trigger them; `backend.sign_in.known_devices` triggers those about sign-ins.
"""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend.core.changes import Change
from backend.core.db import now, widen
from backend.core.settings import settings
from backend.mail import outbox
from backend.mail.models import Cause, mail
from backend.mail.rules import unlinked
from backend.mail.schemas import MailKind

OF_PERSON = {
    "user.password_changed": ("Your Signum password was changed", "The password of your account was changed"),
    "user.factor_added": ("New second factor for Signum", "A second factor was added to your account"),
    "user.factor_removed": ("Second factor for Signum removed", "A second factor was removed from your account"),
    "user.factors_removed": (
        "Your second factors were removed",
        "The operator of this installation removed all second factors of your account",
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
"""Subject and event, by action."""
LETTER = (
    "{words}, on {time} UTC.\n\nIf this was you, no action is needed. If not, reset your password "
    "({origin}/forgot-password). Then open {origin}/account, unlink wallets that you do not recognize, and sign out "
    "everywhere. A linked wallet signs in without the password."
)
NEW_KEY = (
    "{who} created the API key “{name}” in {organization} on {time} UTC. It has {scopes}.\n\nIf this was not "
    "intended, revoke it: {origin}/o/{place}/api-keys"
)
NEW_ADMIN = (
    "{name} became an admin of {organization} on {time} UTC.\n\nIf this was not intended, remove the role: "
    "{origin}/o/{place}/members"
)
MOST = 50
"""Maximum number of admins who are emailed."""
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
    """Email the person whose account changed, or the admins of the organization."""
    if change.action in OF_PERSON:
        subject, words = OF_PERSON[change.action]
        await _once(session, change, subject, words)
    elif change.action == "api_key.created":
        await _of_key(session, change)
    elif change.action in ("member.added", "member.updated") and _may_be_admin(change):
        await _of_admin(session, change)


async def email_person(
    session: AsyncSession, user_id: UUID, topic: str, subject: str, letter: str, **facts: Any
) -> None:
    """Email a person about their account, from the outbox of their outermost organization. No one else can read it."""
    places = await session.execute(sa.text("select id from signum_memberships(:person)"), {"person": user_id})
    place = places.scalars().first()
    email = await session.scalar(sa.text("select email from users where id = :id"), {"id": user_id})
    if place is None or not email:
        return
    await widen(session, place)
    cause = Cause(MailKind.ACCOUNT, user_id)
    await outbox.write(session, topic, [mail(place, email, subject, _text(letter, **facts), cause, is_private=True)])


async def _once(session: AsyncSession, change: Change, subject: str, words: str) -> None:
    """Email a person once about a change that is published in each of their organizations."""
    sent = session.info.setdefault("alerts", set())
    if (name := (change.action, change.subject[1])) in sent:
        return
    sent.add(name)
    await email_person(session, UUID(str(change.subject[1])), change.action, subject, LETTER, words=words)


async def _of_key(session: AsyncSession, change: Change) -> None:
    after = change.after or {}
    who = await session.scalar(
        sa.text("select coalesce(display_name, email) from users where id = :id"), {"id": change.who.actor}
    )
    count = len(after.get("scopes") or [])
    facts = {
        "who": unlinked(who or "An API key"),
        "name": unlinked(after.get("name", "")),
        "scopes": "1 scope" if count == 1 else f"{count} scopes",
    }
    await _email_admins(session, change, "api_key.created", "New API key in Signum", NEW_KEY, facts)


def _may_be_admin(change: Change) -> bool:
    after = change.after or {}
    return after.get("role", "admin") == "admin" and ("role" in after or "status" in after)


async def _of_admin(session: AsyncSession, change: Change) -> None:
    await session.flush()
    name = await session.scalar(ADMIN_OF, {"id": UUID(str(change.subject[1]))})
    if name is not None:
        facts = {"name": unlinked(name)}
        await _email_admins(session, change, "member.admin", "New admin in Signum", NEW_ADMIN, facts)


async def _email_admins(
    session: AsyncSession, change: Change, topic: str, subject: str, letter: str, facts: dict[str, Any]
) -> None:
    organization_id = change.organization_id
    found: Iterable[str] = (await session.scalars(ADMINS, {"org": organization_id, "most": MOST})).all()
    named = sa.text("select name from organizations where id = :id")
    organization = await session.scalar(named, {"id": organization_id})
    text = _text(letter, **facts, organization=unlinked(str(organization)), place=organization_id)
    cause = Cause(MailKind.ALARM, change.who.actor)
    await outbox.write(session, topic, [mail(organization_id, email, subject, text, cause) for email in found])


def _text(letter: str, **facts: Any) -> str:
    at = now()
    return letter.format(**facts, time=f"{at.day} {at:%b %Y, %H:%M}", origin=settings().origin)
