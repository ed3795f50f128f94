"""Password reset and change. Both end the person's other sessions."""

from datetime import timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from backend.auth.models import OneTimeSecretRow, SessionRow
from backend.auth.principal import Context
from backend.auth.secrets import digest, token
from backend.core.changes import proven
from backend.core.db import Write, now, prove, see_oneself, transaction, widen
from backend.core.errors import BadRequest, Unauthenticated
from backend.core.settings import settings
from backend.limits import rate_limits
from backend.mail.models import Cause, mail
from backend.mail.schemas import MailKind
from backend.sign_in import backchannel_logout, password_checks
from backend.sign_in.account_events import publish_account_change
from backend.sign_in.accounts import check_password_form
from backend.sign_in.schemas import PasswordChange, PasswordReset
from backend.sign_in.service import deny_requests, end_sign_ins, find_account, reach, themself
from backend.users.models import UserRow

LIFETIME = timedelta(minutes=30)
PURPOSE = "password"
PAUSE = timedelta(minutes=1)
"""Minimum time between two emails to one person, from any requester."""
MOST = 20
"""Emails to one person in a day. Above it, a new one follows when the last link was used or has expired: strangers can
request links, so the person always has a valid one."""
BAD_LINK = "This link is invalid or has expired. Request a new one."
ACCOUNT = sa.text("select signum_account(:email)").columns(sa.column("id", sa.Uuid()))
SET = sa.text("select signum_set_password(:person, :hash, :link, :session)").bindparams(
    sa.bindparam("person", type_=sa.Uuid()),
    sa.bindparam("link", type_=sa.Text()),
    sa.bindparam("session", type_=sa.Uuid()),
)
SUBJECT = "Reset your Signum password"
LETTER = (
    "Someone requested a password reset for your account.\n\nChoose a new password: {link}\n\nThe link works once "
    "and expires after 30 minutes. If you did not request it, ignore this email: your password stays unchanged."
)


async def send_link(email: str) -> None:
    """Email a link if the address has an account. Runs after the response, so that its duration reveals nothing."""
    async with transaction() as session:
        user_id: UUID | None = await session.scalar(ACCOUNT, {"email": email})
        if user_id is None:
            return
        await see_oneself(session, user_id)  # the requester learns nothing; the email belongs to this person
        if await _has_fresh_link(session, user_id):
            return
        if places := await reach(session, user_id):
            await _write(session, user_id, email, places[0].id)


async def _has_fresh_link(session: Write, user_id: UUID) -> bool:
    mine = sa.and_(col(OneTimeSecretRow.user_id) == user_id, col(OneTimeSecretRow.purpose) == PURPOSE)
    made, at = col(OneTimeSecretRow.created_at), now()
    valid = sa.and_(col(OneTimeSecretRow.used_at).is_(None), col(OneTimeSecretRow.expires_at) > at)
    today, is_fresh, is_valid = sa.func.count(), sa.func.bool_or(made > at - PAUSE), sa.func.bool_or(valid)
    query = sa.select(is_fresh, sa.and_(today >= MOST, is_valid)).where(mine, made > at - timedelta(days=1))
    return any((await session.execute(query)).one())


async def _write(session: Write, user_id: UUID, email: str, organization_id: UUID) -> None:
    """Write the email to the outbox of the outermost organization of the person."""
    secret = token()
    session.add(
        OneTimeSecretRow(purpose=PURPOSE, secret_hash=digest(secret), user_id=user_id, expires_at=now() + LIFETIME)
    )
    await widen(session, organization_id)
    text = LETTER.format(link=f"{settings().origin}/reset-password?token={secret}")
    # The link gives access to the account, so no admin may read it in the outbox.
    cause = Cause(MailKind.ACCOUNT, user_id)
    session.add(mail(organization_id, email, SUBJECT, text, cause, is_private=True, opens=digest(secret)))


async def reset(session: Write, body: PasswordReset) -> None:
    """Set a new password with an emailed link; 400 where the link is invalid or has expired. All sessions end."""
    user_id = await check_link(session, body.token, is_used=True)
    proven(user_id)
    await see_oneself(session, user_id)
    await _set(session, user_id, body.password, "/password", link=digest(body.token))
    if account := await session.scalar(sa.select(col(UserRow.email)).where(col(UserRow.id) == user_id)):
        await rate_limits.forgive(account)


async def check_link(session: AsyncSession, secret: str, *, is_used: bool = False) -> UUID:
    """Return the person whose password an emailed link sets; 400 where it is invalid, was used or has expired. A link
    that `is_used` now is locked."""
    await prove(session, digest(secret))
    query = sa.select(OneTimeSecretRow).where(
        col(OneTimeSecretRow.secret_hash) == digest(secret), col(OneTimeSecretRow.purpose) == PURPOSE
    )
    row: OneTimeSecretRow | None = await session.scalar(query.with_for_update() if is_used else query)
    if row is None or row.user_id is None or row.used_at is not None or row.expires_at < now():
        raise BadRequest(BAD_LINK, pointer="/token")
    return row.user_id


async def change(context: Context, body: PasswordChange) -> None:
    """Set a new password with the current one; 400 where that is wrong. All other sessions end."""
    person = context.require_person()
    known = await find_account(context.session, person.email)
    await check_own(person.user_id, body.current_password, known.password_hash if known else None, "/current_password")
    await _set(context.session, person.user_id, body.new_password, "/new_password", keep=person.session_id)


async def check_own(user_id: UUID, password: str, stored: str | None, pointer: str) -> None:
    """Raise 400 where this is not the signed-in person's password; guesses are limited by person.

    429 after 30 passwords within an hour, including correct ones.
    """
    names = "password", str(user_id)
    await rate_limits.check(rate_limits.FAILED_LOGINS_PER_ACCOUNT, *names)
    fits = await password_checks.check_of_person(password, stored, str(user_id))
    # Checked again: many concurrent guesses may have passed the first check.
    await rate_limits.check(rate_limits.FAILED_LOGINS_PER_ACCOUNT, *names)
    if not fits:
        await rate_limits.hit(rate_limits.FAILED_LOGINS_PER_ACCOUNT, *names)
        raise BadRequest("The current password is incorrect.", pointer=pointer)


async def _set(
    session: Write, user_id: UUID, password: str, pointer: str, *, link: str | None = None, keep: UUID | None = None
) -> None:
    """Write a password. The database verifies the link, or the session that stays open."""
    user = await themself(session, user_id)
    check_password_form(password, pointer, (user.email, user.display_name))
    new = {
        "person": user_id,
        "hash": await password_checks.hashed(password, str(user_id)),
        "link": link,
        "session": keep,
    }
    await end_sign_ins(session, user_id)  # before the person's row is locked, in the order of the second step
    if not await session.scalar(SET, new):
        raise BadRequest(BAD_LINK, pointer="/token") if link else Unauthenticated(code="invalid_token")
    # Again: a sign-in that checked the old password held the row until it had written its first step.
    await end_sign_ins(session, user_id)
    links = sa.update(OneTimeSecretRow).where(
        col(OneTimeSecretRow.user_id) == user_id,
        col(OneTimeSecretRow.purpose) == PURPOSE,
        col(OneTimeSecretRow.used_at).is_(None),
    )
    await session.execute(links.values(used_at=now()))
    await deny_requests(session, col(SessionRow.user_id) == user_id)
    sessions = sa.update(SessionRow).where(col(SessionRow.user_id) == user_id, col(SessionRow.revoked_at).is_(None))
    if keep is not None:
        sessions = sessions.where(col(SessionRow.id) != keep)
    ended = (await session.scalars(sessions.values(revoked_at=now()).returning(col(SessionRow.id)))).all()
    for session_id in ended:
        await backchannel_logout.notify(session, session_id)
    facts = {"sessions_ended": len(ended)}
    await publish_account_change(session, user_id, "user.password_changed", ("user", user_id), None, facts)
