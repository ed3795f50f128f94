"""Browsers from which a person has signed in before, recorded in a sealed cookie that reveals no account.

A limit per account stops guesses of a password from many addresses. It must not lock out the owner, so a browser that
has signed in to the account before has its own count (OWASP's device cookies).
"""

import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode

import orjson
from fastapi import Request, Response

from backend.auth.secrets import digest
from backend.core.encryption import SECRETS, CannotUnseal
from backend.core.settings import settings

MOST = 5
"""Accounts that one browser remembers; the most recent ones."""
SECONDS = 365 * 86_400
PLACE = "device"


def device_cookie() -> str:
    """Return the cookie's name, with the same prefix rule as the session's."""
    return "__Host-signum_device" if settings().secure else "signum_device"


def known(request: Request, account: str) -> str | None:
    """Return the id under which this browser counts for an account; None where it has never signed in to it."""
    return _accounts(request).get(digest(account))


def remember(request: Request, answer: Response, account: str) -> None:
    """Mark the browser as known for an account."""
    accounts = _accounts(request)
    accounts.pop(digest(account), None)
    kept = dict([*accounts.items(), (digest(account), secrets.token_hex(16))][-MOST:])
    sealed = SECRETS.seal(orjson.dumps(kept), PLACE)
    text = urlsafe_b64encode(sealed).decode().rstrip("=")
    answer.set_cookie(
        device_cookie(), text, max_age=SECONDS, httponly=True, samesite="lax", secure=settings().secure, path="/"
    )


def _accounts(request: Request) -> dict[str, str]:
    """Return digests of accounts and the ids under which they count, the oldest first."""
    cookie = request.cookies.get(device_cookie())
    if not cookie:
        return {}
    try:
        sealed = urlsafe_b64decode(cookie + "=" * (-len(cookie) % 4))
        return dict(orjson.loads(SECRETS.unseal(sealed, PLACE)))
    except (CannotUnseal, ValueError):
        return {}
