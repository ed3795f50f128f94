"""Passwords that are forgotten or changed. Whoever had a session before has none after."""

from datetime import timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth import password_checks, rate_limit
from backend.auth.accounts import check_password_form
from backend.auth.models import OneTimeSecretRow, SessionRow
from backend.auth.password_checks import Room
from backend.auth.principal import Context
from backend.auth.schemas import PasswordChange, PasswordReset
from backend.auth.secrets import digest, token
from backend.auth.service import end_sign_ins, find_account, reach, themself
from backend.auth.telling import tell_of_person
from backend.changes import proven
from backend.db import Write, now, prove, see_oneself, transaction, widen
from backend.errors import BadRequest, Unauthenticated
from backend.mail.models import mail
from backend.members.models import UserRow
from backend.oauth import backchannel
from backend.settings import settings

LIFETIME = timedelta(minutes=30)
PURPOSE = "password"
PAUSE = timedelta(minutes=1)
"""Between two mails to one person, whoever asks for them."""
BAD_LINK = "The link is not right, was used before, or is older than 30 minutes. Ask for a new one."
ACCOUNT = sa.text("select signum_account(:email)").columns(sa.column("id", sa.Uuid()))
SET = sa.text("select signum_set_password(:person, :hash, :link, :session)").bindparams(
    sa.bindparam("person", type_=sa.Uuid()),
    sa.bindparam("link", type_=sa.Text()),
    sa.bindparam("session", type_=sa.Uuid()),
)
SUBJECT = "A new password for Signum"
LETTER = (
    "Somebody, hopefully you, asked for a new password for your account.\n\nChoose it here: {link}\n\n"
    "The link works once, for 30 minutes. If it was not you, ignore this mail: your password stays as it is."
)


async def send_link(email: str) -> None:
    """Mail a link, if somebody has this address. Run after the answer was sent, so that its time tells nothing."""
    async with transaction() as session:
        user_id: UUID | None = await session.scalar(ACCOUNT, {"email": email})
        if user_id is None:
            return
        await see_oneself(session, user_id)  # who may be told nothing; the mail is theirs
        if await _has_fresh_link(session, user_id):
            return
        if places := await reach(session, user_id):
            await _write(session, user_id, email, places[0].id)


async def _has_fresh_link(session: Write, user_id: UUID) -> bool:
    mine = sa.and_(col(OneTimeSecretRow.user_id) == user_id, col(OneTimeSecretRow.purpose) == PURPOSE)
    await session.execute(sa.delete(OneTimeSecretRow).where(mine, col(OneTimeSecretRow.expires_at) < now()))
    fresh = sa.exists().where(mine, col(OneTimeSecretRow.created_at) > now() - PAUSE)
    return bool(await session.scalar(sa.select(fresh)))


async def _write(session: Write, user_id: UUID, email: str, organization_id: UUID) -> None:
    """The mail goes into the outbox of the outermost organization the person belongs to."""
    secret = token()
    session.add(
        OneTimeSecretRow(purpose=PURPOSE, secret_hash=digest(secret), user_id=user_id, expires_at=now() + LIFETIME)
    )
    await widen(session, organization_id)
    text = LETTER.format(link=f"{settings().origin}/reset-password?token={secret}")
    # Whoever has the link has the account, so no admin may read it in the outbox.
    session.add(mail(organization_id, email, SUBJECT, text, is_private=True, opens=digest(secret)))


async def reset(session: Write, body: PasswordReset) -> None:
    """Take a new password by a mailed link; 400 for a link that is not good (any more). Every session ends."""
    await prove(session, digest(body.token))
    query = sa.select(OneTimeSecretRow).where(
        col(OneTimeSecretRow.secret_hash) == digest(body.token), col(OneTimeSecretRow.purpose) == PURPOSE
    )
    row: OneTimeSecretRow | None = await session.scalar(query.with_for_update())
    if row is None or row.user_id is None or row.used_at is not None or row.expires_at < now():
        raise BadRequest(BAD_LINK, pointer="/token")
    proven(row.user_id)
    await see_oneself(session, row.user_id)
    await _set(session, row.user_id, body.password, "/password", link=row.secret_hash)
    if account := await session.scalar(sa.select(col(UserRow.email)).where(col(UserRow.id) == row.user_id)):
        await rate_limit.forgive(account)


async def change(context: Context, body: PasswordChange) -> None:
    """Take a new password for the old one; 400 where that is wrong. Every other session ends."""
    person = context.require_person()
    known = await find_account(context.session, person.email)
    await check_own(person.user_id, body.current_password, known.password_hash if known else None, "/current_password")
    await _set(context.session, person.user_id, body.new_password, "/new_password", keep=person.session_id)


async def check_own(user_id: UUID, password: str, stored: str | None, pointer: str) -> None:
    """400 where this is not the signed-in person's password; guesses are limited by person."""
    names = "password", str(user_id)
    await rate_limit.check(rate_limit.FAILED_LOGINS_PER_ACCOUNT, *names)
    fits = await password_checks.check(password, stored, Room.PEOPLE, str(user_id))
    # Asked again: many guesses at once have all passed the first check.
    await rate_limit.check(rate_limit.FAILED_LOGINS_PER_ACCOUNT, *names)
    if not fits:
        await rate_limit.hit(rate_limit.FAILED_LOGINS_PER_ACCOUNT, *names)
        raise BadRequest("The current password is not right.", pointer=pointer)


async def _set(
    session: Write, user_id: UUID, password: str, pointer: str, *, link: str | None = None, keep: UUID | None = None
) -> None:
    """Write a password; the link or the session that stays proves once more whose it is."""
    user = await themself(session, user_id)
    check_password_form(password, pointer, (user.email, user.display_name))
    new = {
        "person": user_id,
        "hash": await password_checks.hashed(password, str(user_id)),
        "link": link,
        "session": keep,
    }
    await end_sign_ins(session, user_id)  # before the person's row is locked, as a second step does
    if not await session.scalar(SET, new):
        raise BadRequest(BAD_LINK, pointer="/token") if link else Unauthenticated(code="invalid_token")
    links = sa.update(OneTimeSecretRow).where(
        col(OneTimeSecretRow.user_id) == user_id,
        col(OneTimeSecretRow.purpose) == PURPOSE,
        col(OneTimeSecretRow.used_at).is_(None),
    )
    await session.execute(links.values(used_at=now()))
    sessions = sa.update(SessionRow).where(col(SessionRow.user_id) == user_id, col(SessionRow.revoked_at).is_(None))
    if keep is not None:
        sessions = sessions.where(col(SessionRow.id) != keep)
    ended = (await session.scalars(sessions.values(revoked_at=now()).returning(col(SessionRow.id)))).all()
    for session_id in ended:
        await backchannel.notify(session, session_id)
    facts = {"sessions_ended": len(ended)}
    await tell_of_person(session, user_id, "user.password_changed", ("user", user_id), None, facts)
