"""Browsers from which a person has signed in before: a cookie says so, sealed, and names no account to anybody else.

Somebody who guesses passwords from many addresses is stopped by a limit per account. It must not stop the owner, so a
browser that has signed in to the account before is counted by itself (OWASP's device cookies).
"""

import asyncio
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode

import orjson
from fastapi import Request, Response

from backend.auth.secrets import digest
from backend.sealing import SECRETS, CannotUnseal
from backend.settings import settings

MOST = 5
"""Accounts that one browser remembers; the newest ones."""
SECONDS = 365 * 86_400
PLACE = "device"


def device_cookie() -> str:
    """The cookie's name, as the session's."""
    return "__Host-signum_device" if settings().secure else "signum_device"


async def known(request: Request, account: str) -> str | None:
    """The id under which this browser is counted for an account; None where it has never signed in to it."""
    return (await _accounts(request)).get(digest(account))


async def remember(request: Request, answer: Response, account: str) -> None:
    """Let the browser be known for an account from now on."""
    accounts = await _accounts(request)
    accounts.pop(digest(account), None)
    kept = dict([*accounts.items(), (digest(account), secrets.token_hex(16))][-MOST:])
    sealed = await asyncio.to_thread(SECRETS.seal, orjson.dumps(kept), PLACE)
    text = urlsafe_b64encode(sealed).decode().rstrip("=")
    answer.set_cookie(
        device_cookie(), text, max_age=SECONDS, httponly=True, samesite="lax", secure=settings().secure, path="/"
    )


async def _accounts(request: Request) -> dict[str, str]:
    """Digests of accounts and the ids under which they are counted, the oldest first."""
    cookie = request.cookies.get(device_cookie())
    if not cookie:
        return {}
    try:
        sealed = urlsafe_b64decode(cookie + "=" * (-len(cookie) % 4))
        return dict(orjson.loads(await asyncio.to_thread(SECRETS.unseal, sealed, PLACE)))
    except (CannotUnseal, ValueError):
        return {}
