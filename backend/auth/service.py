"""Sign-in and sessions."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth import newcomers, password_checks, rate_limit, tokens
from backend.auth.address import group
from backend.auth.models import OneTimeSecretRow, RefreshTokenRow, SessionRow
from backend.auth.password_checks import Room
from backend.auth.principal import Context
from backend.auth.schemas import Login, Me, Reach, Tokens, User
from backend.auth.scopes import IDENTITY, ROLE_SCOPES, highest, scopes_of
from backend.auth.secrets import digest, token
from backend.auth.telling import tell_of_end
from backend.changes import proven
from backend.db import Write, now, paused, prove, see_oneself
from backend.errors import Forbidden, SecondFactorNeeded, Unauthenticated
from backend.factors import verifying
from backend.members.models import UserRow
from backend.members.schemas import Role
from backend.oauth import backchannel
from backend.settings import settings

REFRESH_IDLE = timedelta(days=30)
REFRESH_ABSOLUTE = timedelta(days=90)
WRONG = "Email or password is not right."
SIGN_IN = "sign-in"
"""Purpose of the secret between the two steps of a browser's sign-in."""


async def check_password(session: Write, email: str, password: str, address: str, device: str | None = None) -> UserRow:
    """The user, where the password fits. Unknown user and wrong password: the same 401 after the same time. `device`
    is the id of a browser that has signed in to this account before."""
    account = email.strip().lower()
    guesses = rate_limit.Guesses.of_password(account, address, device)
    await guesses.check()
    known = None if "\0" in account else await find_account(session, account)
    stored = known.password_hash if known else None
    room, names = (Room.DEVICES, (device, account)) if device else (Room.STRANGERS, (group(address),))
    async with paused(session):  # whoever waits for a check keeps no connection from the others
        fits = await password_checks.check(password, stored, room, *names)
    # Asked again: many guesses at once have all passed the first check, and none of them may learn more than one.
    await guesses.check()
    if not fits or known is None:
        await guesses.hit()
        raise Unauthenticated(WRONG)
    user = await themself(session, known.user_id)
    await _check_unchanged(session, account, known)
    user.last_login_at = now()
    return user


async def _check_unchanged(session: Write, account: str, known: Any) -> None:
    """401 where the password was changed while it was checked. The row stays locked, so that a later change ends the
    session that is opened now."""
    await session.execute(sa.text("select from users where id = :id for no key update"), {"id": known.user_id})
    now_known = await find_account(session, account)
    if now_known is None or now_known.password_hash != known.password_hash:
        raise Unauthenticated(WRONG)


async def find_account(session: Write, email: str) -> Any:
    """`user_id` and `password_hash` of the account with an address; None where there is none."""
    return (await session.execute(sa.text("select * from signum_sign_in(:email)"), {"email": email})).first()


async def themself(session: Write, user_id: UUID) -> UserRow:
    """The row of a person who has proven who they are."""
    await see_oneself(session, user_id)
    return await session.get_one(UserRow, user_id)


async def check_factor(session: Write, user_id: UUID, code: str | None, address: str) -> datetime | None:
    """When the person showed their second factor: now, by a code. None where they have none; 401 where the code is
    missing or wrong, 429 after too many wrong ones."""
    if not await verifying.has_factor(session, user_id):
        return None
    if code is None:
        raise SecondFactorNeeded(user_id)
    guesses = rate_limit.Guesses.of_code(user_id, address)
    if not await verifying.check(session, user_id, guesses, code=code):
        raise Unauthenticated(verifying.WRONG_CODE)
    return now()


async def open_session(
    session: Write,
    user: UserRow,
    kind: str,
    agent: str,
    address: str,
    lifetime: timedelta,
    factor_at: datetime | None = None,
) -> tuple[SessionRow, str]:
    """A new session and its secret. `factor_at`: when the person showed their second factor."""
    secret = token()
    row = SessionRow(
        user_id=user.id,
        kind=kind,
        token_hash=digest(secret),
        user_agent=agent[:300],
        address=address,
        factor_at=factor_at,
        idle_seconds=(settings().session_idle_minutes * 60 or None) if kind == "browser" else None,
        expires_at=now() + lifetime,
    )
    session.add(row)
    await session.flush()
    return row, secret


async def open_browser_session(session: Write, email: str, password: str, agent: str, address: str) -> str:
    """Sign in a browser; the answer is the cookie's value. SecondFactorNeeded where the person has a factor."""
    return await open_browser(session, await by_password(session, email, password, address), agent, address)


async def by_password(session: Write, email: str, password: str, address: str, device: str | None = None) -> UserRow:
    """Whom a password alone signs in; SecondFactorNeeded where the person has a factor."""
    user = await check_password(session, email, password, address, device)
    if await verifying.has_factor(session, user.id):
        raise SecondFactorNeeded(user.id)
    return user


async def open_browser(
    session: Write, user: UserRow, agent: str, address: str, factor_at: datetime | None = None
) -> str:
    """A browser's session for somebody who has proven who they are; the cookie's value."""
    user.last_login_at = now()
    lifetime = timedelta(days=settings().session_days)
    _, secret = await open_session(session, user, "browser", agent, address, lifetime, factor_at)
    return secret


async def login(context: Context, body: Login, agent: str) -> Tokens:
    """Sign in a program: an access token for 15 minutes and a refresh token."""
    user = await check_password(context.session, body.email, body.password, context.address)
    proven(user.id)
    factor_at = await check_factor(context.session, user.id, body.code, context.address)
    return await open_token_session(context, user, agent, body.org_id, factor_at)


async def open_token_session(
    context: Context,
    user: UserRow,
    agent: str,
    organization_id: UUID | None = None,
    factor_at: datetime | None = None,
) -> Tokens:
    """Tokens for somebody who has proven who they are; 403 for a default organization where they have no role."""
    await newcomers.note_program(context.session, user.id, agent, context.address)
    row, _ = await open_session(context.session, user, "token", agent, context.address, REFRESH_ABSOLUTE, factor_at)
    organizations = await reach(context.session, user.id)
    if organization_id and not await _may(context.session, user.id, organization_id):
        raise Forbidden("You have no role in this organization.")
    if organization_id:
        await context.check_address(organization_id)
    row.organization_id = organization_id or (organizations[0].id if organizations else None)
    return await _tokens(context.session, user, row, organizations)


async def refresh(context: Context, secret: str) -> Tokens:
    """New tokens for a program's refresh token."""
    row = await rotate(context.session, secret)
    user = await themself(context.session, row.user_id)
    return await _tokens(context.session, user, row, await reach(context.session, user.id))


async def rotate(session: Write, secret: str, client_id: UUID | None = None) -> SessionRow:
    """Use up a refresh token; its session. One that was used before ends its session: somebody has a copy. That of an
    application is good for it only."""
    await prove(session, digest(secret))
    found: RefreshTokenRow | None = await session.scalar(
        sa.select(RefreshTokenRow).where(col(RefreshTokenRow.token_hash) == digest(secret)).with_for_update()
    )
    row = await _session_of(session, found) if found else None
    if found is None or row is None or row.client_id != client_id:
        raise Unauthenticated("The refresh token is not valid.", code="invalid_token")
    if found.used_at is not None:
        session_id = row.id
        await session.rollback()  # its connection goes back first: many at once would wait for each other's
        await revoke_alone(session_id)
        raise Unauthenticated("The refresh token was used before; its session has ended.", code="invalid_token")
    if row.revoked_at or min(found.expires_at, row.expires_at) < now():
        raise Unauthenticated("The session has ended.", code="invalid_token")
    found.used_at = now()
    return row


async def _session_of(session: Write, found: RefreshTokenRow) -> SessionRow | None:
    await prove(session, found.session_id)
    return await session.get(SessionRow, found.session_id)


def add_refresh_token(session: Write, row: SessionRow) -> str:
    """Another refresh token of a session: 30 days from now, and never longer than the session."""
    secret = token()
    session.add(RefreshTokenRow(session_id=row.id, token_hash=digest(secret), expires_at=now() + REFRESH_IDLE))
    return secret


async def revoke_alone(session_id: UUID) -> None:
    """End a session in a transaction of its own: it must hold although the request fails."""
    from backend.db import transaction

    async with transaction() as session:
        await revoke(session, session_id)


async def revoke(session: Write, session_id: UUID) -> None:
    """End a session that was proven: its cookie, tokens and refresh tokens stop at once."""
    await prove(session, session_id)
    await end(session, col(SessionRow.id) == session_id)


async def end(session: Write, *which: sa.ColumnElement[bool]) -> bool:
    """End whichever of some sessions have not ended; whether there was one."""
    ended = sa.update(SessionRow).where(*which, col(SessionRow.revoked_at).is_(None)).values(revoked_at=now())
    rows = (await session.scalars(ended.returning(SessionRow))).all()
    for row in rows:
        await tell_of_end(session, row)
        await backchannel.notify(session, row.id)
    return bool(rows)


async def end_everywhere(context: Context) -> None:
    """End every session of the caller: browsers, programs, and applications in their name. Pending sign-ins end too."""
    user_id = context.require_person().user_id
    await end_sign_ins(context.session, user_id)
    await end(context.session, col(SessionRow.user_id) == user_id)


async def end_sign_ins(session: Write, user_id: UUID) -> None:
    """End a person's sign-ins that still wait for the second factor: their passwords were checked before.

    Call it before the person's sessions end. A second step that is under way then either finds its first step used up,
    or has opened a session that ends with the others.
    """
    await see_oneself(session, user_id)
    pending = sa.update(OneTimeSecretRow).where(
        col(OneTimeSecretRow.user_id) == user_id,
        col(OneTimeSecretRow.purpose) == SIGN_IN,
        col(OneTimeSecretRow.used_at).is_(None),
    )
    await session.execute(pending.values(used_at=now()))


async def end_by_cookie(session: Write, cookie: str, *, everywhere: bool = False) -> None:
    """End the session of a presented cookie, if it is one; with `everywhere`, and if it is alive, all of its person."""
    mine = col(SessionRow.token_hash) == digest(cookie)
    await prove(session, digest(cookie))
    if person := await session.scalar(sa.select(col(SessionRow.user_id)).where(mine)):
        proven(person)
    if everywhere:
        row = (
            await session.execute(sa.text("select user_id from signum_session(:h, null)"), {"h": digest(cookie)})
        ).first()
        if row is not None:
            await end_sign_ins(session, row.user_id)
            await end(session, col(SessionRow.user_id) == row.user_id)
    await end(session, mine)


async def me(context: Context) -> Me:
    """The caller."""
    person = context.require_person()
    user = User(id=person.user_id, email=person.email, display_name=person.display_name)
    organizations = await reach(context.session, person.user_id)
    default = person.organization_id or (organizations[0].id if organizations else None)
    may_write = any(not s.endswith(":read") for s in scopes_of([o.role for o in organizations]))
    return Me(
        user=user,
        organizations=organizations,
        org_id=default,
        has_second_factor=person.has_factor,
        should_add_second_factor=may_write and not person.has_factor,
        ip_address=context.ip_address,
    )


async def reach(session: Write, user_id: UUID) -> list[Reach]:
    """Where a person has a role of their own, outermost first; roles reach down from there."""
    rows = await session.execute(sa.text("select * from signum_memberships(:person)"), {"person": user_id})
    return [Reach.model_validate(r, from_attributes=True) for r in rows]


async def _may(session: Write, user_id: UUID, organization_id: UUID) -> bool:
    roles = await session.scalar(sa.text("select signum_roles(:p, :o)"), {"p": user_id, "o": organization_id})
    return bool(roles)


async def _tokens(session: Write, user: UserRow, row: SessionRow, organizations: list[Reach]) -> Tokens:
    role = highest([Role(o.role) for o in organizations if o.id == row.organization_id])
    scope = " ".join(sorted(IDENTITY | (ROLE_SCOPES[role] if role else frozenset())))
    return Tokens(
        access_token=tokens.issue(user.id, scope, organization_id=row.organization_id, session_id=row.id),
        expires_in=tokens.ACCESS_SECONDS,
        refresh_token=add_refresh_token(session, row),
        scope=scope,
        organizations=organizations,
        user=User(id=user.id, email=user.email or "", display_name=user.display_name or user.email or ""),
    )
