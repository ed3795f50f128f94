"""JSON Web Tokens: access tokens (RFC 9068), ID tokens, and the RS256 keys that sign both."""

import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, RSAKey
from sqlmodel import col

from backend.auth.models import SigningKeyRow
from backend.core.db import Write, new_id, now
from backend.core.encryption import SECRETS, CannotUnseal
from backend.core.errors import Unauthenticated
from backend.core.runtime import runtime
from backend.core.settings import settings

log = logging.getLogger(__name__)
ACCESS_SECONDS = 15 * 60
OWN_CLIENT = "signum"
"""`client_id` of tokens that people create for themselves."""
OVERLAP = timedelta(hours=1)
"""How long a replaced key still verifies: longer than any token lives, and than a process takes to load a rotation."""


@dataclass
class SigningKeys:
    """The keys that this process has loaded."""

    valid: list[RSAKey] = field(default_factory=list, repr=False)
    """All keys that verify; the last one signs."""
    open: Callable[[str, str], RSAKey | None] = field(default_factory=lambda: lru_cache(maxsize=64)(_open))


async def load_keys(session: Write) -> None:
    """Load the keys that verify; create one where none signs.

    Runs at start and every minute, to notice rotations. A key that cannot be unsealed is ignored, so write access to
    the table does not suffice to sign tokens.
    """
    valid = sa.or_(col(SigningKeyRow.retired_at).is_(None), col(SigningKeyRow.retired_at) > now())
    query = sa.select(SigningKeyRow).where(valid)
    # Two transactions may have created keys concurrently: those without an end come last, the newest at the very end.
    query = query.order_by(col(SigningKeyRow.retired_at).is_(None), col(SigningKeyRow.created_at))
    rows = list((await session.execute(query)).scalars())
    keys = runtime.part(SigningKeys)
    opened = [(row, key) for row in rows if (key := keys.open(row.kid, row.sealed))]
    if all(row.retired_at for row, _ in opened):
        opened.append(_made(session))
    keys.valid = [key for _, key in opened]


async def rotate(session: Write) -> str:
    """Create a new signing key and return its id. Earlier keys verify for another hour."""
    await session.execute(sa.text("lock table signing_keys in share row exclusive mode"))
    await session.execute(
        sa.update(SigningKeyRow).where(col(SigningKeyRow.retired_at).is_(None)).values(retired_at=now() + OVERLAP)
    )
    row, _ = _made(session)
    await session.flush()
    return row.kid


def _made(session: Write) -> tuple[SigningKeyRow, RSAKey]:
    key = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256"}, private=True, auto_kid=True)
    kid = str(key.kid)
    row = SigningKeyRow(kid=kid, sealed=SECRETS.seal_text(json.dumps(key.as_dict(private=True)), kid))
    session.add(row)
    return row, key


def _open(kid: str, sealed: str) -> RSAKey | None:
    """Return a key with its private part; None, with one warning, where it cannot be unsealed."""
    try:
        return RSAKey.import_key(json.loads(SECRETS.unseal_text(sealed, kid)))
    except CannotUnseal:
        log.warning("the signing key %s cannot be decrypted with the keys of this installation; another key signs", kid)
        return None


def published() -> list[dict[str, Any]]:
    """Return the public keys, the signing key first."""
    return [dict(key.as_dict(private=False)) for key in reversed(runtime.part(SigningKeys).valid)]


def issue(
    subject: UUID,
    scope: str,
    *,
    organization_id: UUID | None,
    session_id: UUID | None = None,
    key_id: UUID | None = None,
    client_id: str = OWN_CLIENT,
) -> str:
    """Return an access token for a person's session or for an API key, valid for 15 minutes."""
    started = int(time.time())
    claims = {
        "iss": settings().base_url,
        "aud": settings().base_url,
        "sub": str(subject),
        "iat": started,
        "exp": started + ACCESS_SECONDS,
        "jti": str(new_id()),
        "client_id": client_id,
        "scope": scope,
        "org_id": str(organization_id) if organization_id else None,
    }
    claims |= {"sid": str(session_id)} if session_id else {}
    claims |= {"key_id": str(key_id)} if key_id else {}
    return sign(claims, "at+jwt")


def sign(claims: dict[str, Any], kind: str) -> str:
    """Return a signed JWT; `kind` is its `typ`."""
    key = runtime.part(SigningKeys).valid[-1]
    return jwt.encode({"alg": "RS256", "typ": kind, "kid": key.kid}, claims, key)


def verify(token: str) -> dict[str, Any]:
    """Return the claims of a valid access token; 401 for any other."""
    try:
        decoded = jwt.decode(token, KeySet(list(runtime.part(SigningKeys).valid)), algorithms=["RS256"])
        required = jwt.JWTClaimsRegistry(
            iss={"essential": True, "value": settings().base_url},
            aud={"essential": True, "value": settings().base_url},
            exp={"essential": True},
            sub={"essential": True},
        )
        required.validate(decoded.claims)
        if decoded.header.get("typ") != "at+jwt":
            raise ValueError("not an access token")
        UUID(decoded.claims["key_id"] if "key_id" in decoded.claims else decoded.claims["sid"])
    except (JoseError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unauthenticated(
            "The access token is not valid or has expired. Refresh it, or sign in again.", code="invalid_token"
        ) from error
    return dict(decoded.claims)
