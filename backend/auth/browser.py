"""A browser's way in: its cookies, and the second step of a sign-in where the person has a second factor.

Between the two steps there is no session: only a secret that works once, for 10 minutes, in a cookie of its own.
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

from backend import db
from backend.auth import devices, newcomers, rate_limit, service
from backend.auth.credentials import check_origin, client_address, cookie_name
from backend.auth.models import OneTimeSecretRow
from backend.auth.secrets import digest, token
from backend.changes import Who, acting
from backend.db import Write, now, prove
from backend.errors import SignumError, TooManyRequests, Unauthenticated
from backend.factors import passkeys, verifying
from backend.factors.schemas import ShownPasskey
from backend.members.models import UserRow
from backend.problems import respond
from backend.settings import settings

forms = APIRouter(include_in_schema=False)
LIFETIME = timedelta(minutes=10)


def own_path(target: str, otherwise: str = "/") -> str:
    """A path of ours: never another site, by `//` or `/\\\\`."""
    is_ours = target.startswith("/") and target[1:2] not in ("/", "\\") and not any(ord(c) < 32 for c in target)
    return target if is_ours else otherwise


def target_of(request: Request, next: str) -> str:
    """Where a sign-in leads. The form of a page knows it once the page's script runs; before, its address says it."""
    if next == "/":
        query = urlsplit(request.headers.get("referer", "")).query
        next = parse_qs(query).get("next", ["/"])[0]
    return own_path(next)


def acting_in(request: Request) -> AbstractContextManager[None]:
    """Say that a browser is behind what happens within."""
    return acting(Who(None, "session", request.state.request_id, client_address(request)))


@dataclass(frozen=True)
class Entry:
    """What a browser gets that has signed in: the session's cookie, and that it is known for the account."""

    secret: str
    account: str


async def signed_in(request: Request, target: str, entry: Entry) -> Response:
    """The answer to a sign-in: the cookies, and where to go."""
    answer = RedirectResponse(target, 303)
    _set_cookie(answer, cookie_name(), entry.secret, settings().session_days * 86_400)
    await devices.remember(request, answer, entry.account)
    return answer


async def enter(request: Request, session: Write, user: UserRow, factor_at: datetime | None = None) -> Entry:
    """Sign in a browser's person. The session it presented ends, so that nobody can plant one."""
    if old := request.cookies.get(cookie_name()):
        await service.end_by_cookie(session, old)
    account, agent, address = user.email or "", request.headers.get("user-agent", ""), client_address(request)
    if await devices.known(request, account) is None:
        await newcomers.note_browser(session, user.id, agent, address)
    return Entry(await service.open_browser(session, user, agent, address, factor_at), account)


async def ask_for_factor(user_id: UUID, target: str) -> Response:
    """The answer to a right password of somebody with a second factor: the page that asks for it."""
    secret = token()
    async with db.transaction() as session:
        session.add(
            OneTimeSecretRow(
                purpose=service.SIGN_IN, secret_hash=digest(secret), user_id=user_id, expires_at=now() + LIFETIME
            )
        )
    answer = _page(target)
    _set_cookie(answer, pending_name(), secret, int(LIFETIME.total_seconds()))
    return answer


@forms.post("/session/factor")
async def show_factor(
    request: Request,
    code: Annotated[str, Form(max_length=40)] = "",
    credential: Annotated[str, Form(max_length=passkeys.MAX_CREDENTIAL)] = "",
    next: Annotated[str, Form(max_length=8000)] = "/",
) -> Response:
    """Finish a browser's sign-in with a code or a passkey's answer. The session it presented ends."""
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
    answer.delete_cookie(pending_name(), path="/", secure=settings().secure, httponly=True, samesite="lax")
    return answer


@forms.post("/session/factor/options")
async def ask_for_passkey(request: Request) -> Response:
    """Options of `navigator.credentials.get` for a sign-in that needs its second factor."""
    try:
        check_origin(request)
        async with db.transaction() as session:
            pending = await _pending(request, session)
            if pending is None or pending.user_id is None:
                raise Unauthenticated("This sign-in has expired. Begin again.")
            await db.see_oneself(session, pending.user_id)
            options = await passkeys.assertion_options(session, pending.user_id)
    except SignumError as error:
        return respond(request, error)
    return JSONResponse({"publicKey": options}, headers={"Cache-Control": "no-store"})


async def _finish(request: Request, session: Write, code: str, credential: str) -> Entry | None:
    """What the browser gets; None where the first step is over, 401 where the factor is not right."""
    pending = await _pending(request, session)
    if pending is None or pending.user_id is None:
        return None
    user = await service.themself(session, pending.user_id)
    device = await devices.known(request, user.email or "")
    guesses = rate_limit.Guesses.of_code(user.id, client_address(request), device)
    proof: dict[str, Any] = {"credential": _read(credential)} if credential else {"code": code}
    if not await verifying.check(session, user.id, guesses, **proof):
        raise Unauthenticated(verifying.WRONG_CODE)
    pending.used_at = now()
    return await enter(request, session, user, now())


async def _pending(request: Request, session: Write) -> OneTimeSecretRow | None:
    """The first step of a sign-in, done by this browser in the last 10 minutes."""
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
    """A passkey's answer as the page's script wrote it; empty where it is something else."""
    try:
        return ShownPasskey.model_validate_json(credential).model_dump(exclude_none=True)
    except ValidationError:
        return {}


def pending_name() -> str:
    """The cookie between the two steps, bound to this host where we are reached by https."""
    return "__Host-signum_sign_in" if settings().secure else "signum_sign_in"


def _page(target: str, error: str = "") -> Response:
    told = f"error={error}&" if error else ""
    return RedirectResponse(f"/sign-in/factor?{told}next={quote(target, safe='')}", 303)


def _set_cookie(answer: Response, name: str, secret: str, seconds: int) -> None:
    answer.set_cookie(name, secret, max_age=seconds, httponly=True, samesite="lax", secure=settings().secure, path="/")
