"""Browser sign-in: cookies, and the second step for a person with a second factor.

No session exists between the two steps: only a one-time secret, valid for 10 minutes, in its own cookie.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any
from urllib.parse import parse_qs, quote, urlsplit
from uuid import UUID

import sqlalchemy as sa
from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from pydantic import ValidationError
from sqlmodel import col

from backend.auth.credentials import check_origin, client_address, cookie_name
from backend.auth.models import OneTimeSecretRow
from backend.auth.secrets import digest, token
from backend.core import db
from backend.core.changes import Who, acting
from backend.core.db import Write, now, prove
from backend.core.errors import SignumError, TooManyRequests, Unauthenticated
from backend.core.settings import settings
from backend.factors import passkeys, verification
from backend.factors.schemas import ShownPasskey
from backend.http.problems import respond
from backend.limits import rate_limits
from backend.sign_in import known_devices, new_device_mail, service
from backend.sign_in.return_paths import return_path
from backend.sign_in.schemas import EMAIL_COOKIE
from backend.users.models import UserRow

# Declared at import.
forms = APIRouter(include_in_schema=False)
LIFETIME = timedelta(minutes=10)


def own_path(target: str, otherwise: str = "/") -> str:
    """Return a path on this site; never another site through `//` or `/\\\\`."""
    is_ours = target.startswith("/") and target[1:2] not in ("/", "\\") and not any(ord(c) < 32 for c in target)
    return target if is_ours else otherwise


def target_of(request: Request, next: str) -> str:
    """Return the path to open after sign-in.

    The form has it once the page's script has run; before, the referring address has it.
    """
    if next == "/":
        query = urlsplit(request.headers.get("referer", "")).query
        next = parse_qs(query).get("next", ["/"])[0]
    return own_path(next)


def acting_in(request: Request) -> AbstractContextManager[None]:
    """Set a browser session as the actor of all changes inside."""
    return acting(Who(None, "session", request.state.request_id, client_address(request)))


@dataclass(frozen=True)
class Entry:
    """A completed sign-in: the session's secret, the account for which the browser becomes known, and its person."""

    secret: str
    account: str
    user_id: UUID


async def signed_in(request: Request, target: str, entry: Entry) -> Response:
    """Return the response to a sign-in: the cookies and a redirect."""
    answer = RedirectResponse(await return_path(target, entry.user_id), 303)
    _set_cookie(answer, cookie_name(), entry.secret, settings().session_days * 86_400)
    if email_name() in request.cookies:
        _forget(answer, email_name())
    known_devices.remember(request, answer, entry.account)
    return answer


async def enter(request: Request, session: Write, user: UserRow, factor_at: datetime | None = None) -> Entry:
    """Sign in a browser's person. The session that the browser presented ends, which prevents session fixation."""
    if old := request.cookies.get(cookie_name()):
        await service.end_by_cookie(session, old)
    account, agent, address = user.email or "", request.headers.get("user-agent", ""), client_address(request)
    if known_devices.known(request, account) is None:
        await new_device_mail.note_browser(session, user.id, agent, address)
    return Entry(await service.open_browser(session, user, agent, address, factor_at), account, user.id)


@dataclass(frozen=True)
class FirstStep:
    """A completed first step: the right password for an account with a second factor."""

    secret: str


def begin(session: Write, user: UserRow) -> FirstStep:
    """Write the first step of a sign-in, in the transaction that checked the password and locks the person's row.

    A concurrent password change waits for it, and then ends this sign-in.
    """
    secret, end = token(), now() + LIFETIME
    session.add(OneTimeSecretRow(purpose=service.SIGN_IN, secret_hash=digest(secret), user_id=user.id, expires_at=end))
    return FirstStep(secret)


def ask_for_factor(step: FirstStep, target: str) -> Response:
    """Return the response to a right password for an account with a second factor: the page that asks for it."""
    answer = _page(target)
    _set_cookie(answer, pending_name(), step.secret, int(LIFETIME.total_seconds()))
    return answer


@forms.post("/session/factor")
async def show_factor(
    request: Request,
    code: Annotated[str, Form(max_length=40)] = "",
    credential: Annotated[str, Form(max_length=passkeys.MAX_CREDENTIAL)] = "",
    next: Annotated[str, Form(max_length=8000)] = "/",
) -> Response:
    """Finish a browser sign-in with a code or a passkey response. The session that the browser presented ends."""
    check_origin(request)
    target = target_of(request, next)
    try:
        with acting_in(request):
            async with db.transaction() as session:
                entry = await _finish(request, session, code, credential)
    except TooManyRequests:
        return _page(target, "slow")
    except Unauthenticated:
        return _page(target, "code")
    if entry is None:
        return RedirectResponse(f"/sign-in?error=expired&next={quote(target, safe='')}", 303)
    answer = await signed_in(request, target, entry)
    _forget(answer, pending_name())
    return answer


@forms.post("/session/factor/options")
async def ask_for_passkey(request: Request) -> Response:
    """Return options of `navigator.credentials.get` for a sign-in that needs its second factor."""
    try:
        check_origin(request)
        async with db.transaction() as session:
            pending = await _pending(request, session)
            if pending is None or pending.user_id is None:
                raise Unauthenticated("This sign-in has expired. Start again.")
            await db.see_oneself(session, pending.user_id)
            options = await passkeys.assertion_options(session, pending.user_id)
    except SignumError as error:
        return respond(request, error)
    return JSONResponse({"publicKey": options}, headers={"Cache-Control": "no-store"})


async def _finish(request: Request, session: Write, code: str, credential: str) -> Entry | None:
    """Return the completed sign-in; None where the first step has expired, 401 where the factor is wrong."""
    pending = await _pending(request, session)
    if pending is None or pending.user_id is None:
        return None
    user = await service.themself(session, pending.user_id)
    device = known_devices.known(request, user.email or "")
    guesses = rate_limits.Guesses.of_code(user.id, client_address(request), device)
    proof: dict[str, Any] = {"credential": _read(credential)} if credential else {"code": code}
    if not await verification.check(session, user.id, guesses, **proof):
        raise Unauthenticated(verification.WRONG_CODE)
    pending.used_at = now()
    return await enter(request, session, user, now())


async def _pending(request: Request, session: Write) -> OneTimeSecretRow | None:
    """Return the first step that this browser completed in the last 10 minutes."""
    presented = digest(request.cookies.get(pending_name(), ""))
    await prove(session, presented)
    query = sa.select(OneTimeSecretRow).where(
        col(OneTimeSecretRow.secret_hash) == presented,
        col(OneTimeSecretRow.purpose) == service.SIGN_IN,
        col(OneTimeSecretRow.used_at).is_(None),
        col(OneTimeSecretRow.expires_at) > now(),
    )
    found: OneTimeSecretRow | None = await session.scalar(query.with_for_update())
    return found


def _read(credential: str) -> dict[str, Any]:
    """Return a passkey's response from the page's script; empty where it is malformed."""
    try:
        return ShownPasskey.model_validate_json(credential).model_dump(exclude_none=True)
    except ValidationError:
        return {}


def pending_name() -> str:
    """Return the name of the cookie between the two steps. With https, `__Host-` binds it to this host."""
    return "__Host-signum_sign_in" if settings().secure else "signum_sign_in"


def email_name() -> str:
    """Return the name of the cookie that keeps the email of a failed sign-in; its prefix is as in `pending_name`."""
    return f"__Host-{EMAIL_COOKIE}" if settings().secure else EMAIL_COOKIE


def keep_email(answer: Response, email: str) -> None:
    """Keep the email of a failed sign-in for the form, for 5 minutes. It is not in the URL: logs have those."""
    _set_cookie(answer, email_name(), quote(email.strip(), safe=""), 300)


def _page(target: str, error: str = "") -> Response:
    query = f"error={error}&" if error else ""
    return RedirectResponse(f"/sign-in/factor?{query}next={quote(target, safe='')}", 303)


def _forget(answer: Response, name: str) -> None:
    answer.delete_cookie(name, path="/", secure=settings().secure, httponly=True, samesite="lax")


def _set_cookie(answer: Response, name: str, secret: str, seconds: int) -> None:
    answer.set_cookie(name, secret, max_age=seconds, httponly=True, samesite="lax", secure=settings().secure, path="/")
