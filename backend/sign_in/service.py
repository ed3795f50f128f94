"""Sign-in and sessions."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth import tokens
from backend.auth.models import OneTimeSecretRow, RefreshTokenRow, SessionRow
from backend.auth.principal import Context
from backend.auth.scopes import IDENTITY, ROLE_SCOPES, highest, scopes_of
from backend.auth.secrets import digest, token
from backend.core.changes import proven
from backend.core.db import Write, now, paused, prove, see_oneself
from backend.core.errors import Forbidden, SecondFactorNeeded, Unauthenticated
from backend.core.settings import settings
from backend.factors import verification
from backend.limits import rate_limits
from backend.sign_in import backchannel_logout, new_device_mail, password_checks
from backend.sign_in.account_events import publish_session_end
from backend.sign_in.schemas import Login, Me, Reach, Tokens, User
from backend.users.models import UserRow
from backend.users.schemas import Role

REFRESH_IDLE = timedelta(days=30)
REFRESH_ABSOLUTE = timedelta(days=90)
WRONG = "Incorrect email or password."
MOST_OPEN = 100
"""Maximum open sessions of one kind per person. A further one ends the oldest."""
ENDED_PER_SIGN_IN = 20
SIGN_IN = "sign-in"
"""Purpose of the secret between the two steps of a browser sign-in."""


async def check_password(session: Write, email: str, password: str, address: str, device: str | None = None) -> UserRow:
    """Return the user if the password matches. An unknown user and a wrong password get the same 401 after the same
    time.

    `device` is the id of a browser that has signed in to this account before.
    """
    account = email.strip().lower()
    guesses = rate_limits.Guesses.of_password(account, address, device)
    await guesses.check()
    known = None if "\0" in account else await find_account(session, account)
    stored = known.password_hash if known else None
    async with paused(session):  # a caller that waits for a check must not hold a connection
        if device:
            fits = await password_checks.check_of_device(password, stored, device, account)
        else:
            fits = await password_checks.check_of_stranger(password, stored, address)
    # Checked again: many concurrent guesses may have passed the first check, and only one may learn its result.
    await guesses.check()
    if not fits or known is None:
        await guesses.hit()
        raise Unauthenticated(WRONG)
    user = await themself(session, known.user_id)
    await _check_unchanged(session, account, known)
    return user


async def _check_unchanged(session: Write, account: str, known: Any) -> None:
    """Raise 401 where the password was changed during the check.

    The row stays locked, so that a later change ends the session that is opened now.
    """
    await session.execute(sa.text("select from users where id = :id for no key update"), {"id": known.user_id})
    now_known = await find_account(session, account)
    if now_known is None or now_known.password_hash != known.password_hash:
        raise Unauthenticated(WRONG)


async def find_account(session: Write, email: str) -> Any:
    """Return `user_id` and `password_hash` of an address's account, or no row."""
    return (await session.execute(sa.text("select * from signum_sign_in(:email)"), {"email": email})).first()


async def themself(session: Write, user_id: UUID) -> UserRow:
    """Return the row of a person with a proven identity."""
    await see_oneself(session, user_id)
    return await session.get_one(UserRow, user_id)


async def check_factor(session: Write, user_id: UUID, code: str | None, address: str) -> datetime | None:
    """Return when the person confirmed their second factor: now, with a code. None where they have no factor.

    401 where the code is missing or wrong, 429 after too many wrong ones.
    """
    if not await verification.has_factor(session, user_id):
        return None
    if code is None:
        raise SecondFactorNeeded(user_id)
    guesses = rate_limits.Guesses.of_code(user_id, address)
    if not await verification.check(session, user_id, guesses, code=code):
        raise Unauthenticated(verification.WRONG_CODE)
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
    """Open a session; return it and its secret. The person's oldest session ends where they have too many.

    `factor_at`: when the person confirmed their second factor. 429 where the person has opened too many sessions
    recently.
    """
    await rate_limits.hit(rate_limits.SIGN_INS, "sign-ins", str(user.id))
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
    await _end_oldest(session, user.id, kind)
    return row, secret


async def _end_oldest(session: Write, user_id: UUID, kind: str) -> None:
    same = (col(SessionRow.user_id) == user_id, col(SessionRow.kind) == kind, col(SessionRow.client_id).is_(None))
    beyond = (
        sa.select(col(SessionRow.id))
        .where(*same, col(SessionRow.revoked_at).is_(None), col(SessionRow.expires_at) > now())
        .order_by(col(SessionRow.created_at).desc(), col(SessionRow.id).desc())
        .offset(MOST_OPEN)
        .limit(ENDED_PER_SIGN_IN)
    )
    if oldest := (await session.scalars(beyond)).all():
        await end(session, col(SessionRow.id).in_(oldest), keeps_requests=True)


async def open_browser(
    session: Write, user: UserRow, agent: str, address: str, factor_at: datetime | None = None
) -> str:
    """Open a browser session for a person with a proven identity; return the cookie's value."""
    user.last_login_at = now()
    lifetime = timedelta(days=settings().session_days)
    _, secret = await open_session(session, user, "browser", agent, address, lifetime, factor_at)
    return secret


async def login(context: Context, body: Login, agent: str) -> Tokens:
    """Sign in a program: an access token for 15 minutes and a refresh token."""
    user = await check_password(context.session, body.email, body.password, context.address)
    proven(user.id)
    factor_at = await check_factor(context.session, user.id, body.code, context.address)
    user.last_login_at = now()
    return await open_token_session(context, user, agent, body.org_id, factor_at)


async def open_token_session(
    context: Context,
    user: UserRow,
    agent: str,
    organization_id: UUID | None = None,
    factor_at: datetime | None = None,
) -> Tokens:
    """Return tokens for a person with a proven identity; 403 for a default organization where they have no role."""
    await new_device_mail.note_program(context.session, user.id, agent, context.address)
    row, _ = await open_session(context.session, user, "token", agent, context.address, REFRESH_ABSOLUTE, factor_at)
    organizations = await reach(context.session, user.id)
    if organization_id and not await _may(context.session, user.id, organization_id):
        raise Forbidden("You have no role in this organization.")
    if organization_id:
        await context.check_address(organization_id)
    row.organization_id = organization_id or (organizations[0].id if organizations else None)
    return await _tokens(context.session, user, row, organizations)


async def refresh(context: Context, secret: str) -> Tokens:
    """Return new tokens for a program's refresh token."""
    row = await rotate(context.session, secret)
    user = await themself(context.session, row.user_id)
    return await _tokens(context.session, user, row, await reach(context.session, user.id))


async def rotate(session: Write, secret: str, client_id: UUID | None = None) -> SessionRow:
    """Consume a refresh token and return its session.

    Reuse of a token ends its session, because the token has been copied. An application's token is valid only for that
    application.
    """
    await prove(session, digest(secret))
    found: RefreshTokenRow | None = await session.scalar(
        sa.select(RefreshTokenRow).where(col(RefreshTokenRow.token_hash) == digest(secret)).with_for_update()
    )
    row = await _session_of(session, found) if found else None
    if found is None or row is None or row.client_id != client_id:
        raise Unauthenticated("The refresh token is not valid. Sign in again.", code="invalid_token")
    if found.used_at is not None:
        session_id = row.id
        await session.rollback()  # returns its connection first: many concurrent requests would wait for each other's
        await revoke_alone(session_id, keeps_requests=True)
        raise Unauthenticated(
            "The refresh token was already used. Its session has ended; sign in again.", code="invalid_token"
        )
    if row.revoked_at or min(found.expires_at, row.expires_at) < now():
        raise Unauthenticated("The session has ended. Sign in again.", code="invalid_token")
    found.used_at = now()
    return row


async def _session_of(session: Write, found: RefreshTokenRow) -> SessionRow | None:
    await prove(session, found.session_id)
    return await session.get(SessionRow, found.session_id)


def add_refresh_token(session: Write, row: SessionRow) -> str:
    """Add a refresh token to a session: valid for 30 days, but never longer than the session."""
    secret = token()
    session.add(RefreshTokenRow(session_id=row.id, token_hash=digest(secret), expires_at=now() + REFRESH_IDLE))
    return secret


async def revoke_alone(session_id: UUID, *, keeps_requests: bool = False) -> None:
    """End a session in a separate transaction: its end must be committed although the request fails."""
    from backend.core.db import transaction

    async with transaction() as session:
        await revoke(session, session_id, keeps_requests=keeps_requests)


async def revoke(session: Write, session_id: UUID, *, keeps_requests: bool = False) -> None:
    """End a proven session: its cookie, tokens and refresh tokens stop working immediately."""
    await prove(session, session_id)
    await end(session, col(SessionRow.id) == session_id, keeps_requests=keeps_requests)


async def end(session: Write, *which: sa.ColumnElement[bool], keeps_requests: bool = False) -> bool:
    """End the active ones of some sessions; return whether there was one.

    Unless `keeps_requests`, their requests that have not started are denied, also those of sessions that ended before
    and kept their requests: a thief could sign out first.
    """
    if not keeps_requests:
        await deny_requests(session, *which)
    ended = sa.update(SessionRow).where(*which, col(SessionRow.revoked_at).is_(None))
    values = {"revoked_at": now(), "keeps_requests": keeps_requests}
    rows = (await session.scalars(ended.values(values).returning(SessionRow))).all()
    for row in rows:
        await publish_session_end(session, row)
        await backchannel_logout.notify(session, row.id)
    return bool(rows)


async def deny_requests(session: Write, *which: sa.ColumnElement[bool]) -> None:
    """Deny the requests that have not started of sessions that were ended before."""
    kept = sa.update(SessionRow).where(*which, col(SessionRow.keeps_requests))
    await session.execute(kept.values(keeps_requests=False))


async def end_everywhere(context: Context) -> None:
    """End every session of the caller: browsers, tokens, and applications that act for them.

    Pending sign-ins end too.
    """
    user_id = context.require_person().user_id
    await end_sign_ins(context.session, user_id)
    await end(context.session, col(SessionRow.user_id) == user_id)


async def end_sign_ins(session: Write, user_id: UUID) -> None:
    """End a person's sign-ins that still await the second factor: their passwords were checked earlier.

    Call it before the person's sessions end. A concurrent second step then either finds its first step consumed, or has
    opened a session that ends with the others.
    """
    await see_oneself(session, user_id)
    pending = sa.update(OneTimeSecretRow).where(
        col(OneTimeSecretRow.user_id) == user_id,
        col(OneTimeSecretRow.purpose) == SIGN_IN,
        col(OneTimeSecretRow.used_at).is_(None),
    )
    await session.execute(pending.values(used_at=now()))


async def end_by_cookie(session: Write, cookie: str, *, everywhere: bool = False) -> None:
    """End the session of a presented cookie, if it exists; with `everywhere`, and if it is active, all sessions of its
    person.
    """
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
    await end(session, mine, keeps_requests=True)


async def me(context: Context) -> Me:
    """Return the caller."""
    person = context.require_person()
    user = User(id=person.user_id, email=person.email or None, display_name=person.display_name)
    organizations = await reach(context.session, person.user_id)
    default = person.organization_id or (organizations[0].id if organizations else None)
    may_write = any(not s.endswith(":read") for s in scopes_of([o.role for o in organizations]))
    # A one-click sign-in of the demo counts as confirmed in advance: no one signs in with the password of that person.
    is_demo = person.proven_at is not None and person.proven_at > now()
    return Me(
        user=user,
        organizations=organizations,
        org_id=default,
        has_second_factor=person.has_factor,
        should_add_second_factor=may_write and not person.has_factor and not is_demo,
        ip_address=context.ip_address,
    )


async def reach(session: Write, user_id: UUID) -> list[Reach]:
    """Return the organizations where a person has their own role, outermost first. Roles apply to everything below."""
    rows = await session.execute(sa.text("select * from signum_memberships(:person)"), {"person": user_id})
    return [Reach.model_validate({**row, "scopes": sorted(ROLE_SCOPES[Role(row["role"])])}) for row in rows.mappings()]


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
        user=User(id=user.id, email=user.email, display_name=user.display_name or user.email or ""),
    )
