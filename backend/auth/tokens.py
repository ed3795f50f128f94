"""JSON Web Tokens: access tokens as RFC 9068 has them, ID tokens, and the RS256 keys that sign both."""

import json
import logging
import time
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
from backend.db import Write, new_id, now
from backend.errors import Unauthenticated
from backend.sealing import SECRETS, CannotUnseal
from backend.settings import settings

log = logging.getLogger(__name__)
ACCESS_SECONDS = 15 * 60
OWN_CLIENT = "signum"
"""`client_id` of tokens that people get for themselves."""
OVERLAP = timedelta(hours=1)
"""How long a key that was replaced still verifies: longer than any token, and than a process takes to hear of it."""
_keys: list[RSAKey] = []
"""All that verify; the last one signs."""


async def load_keys(session: Write) -> None:
    """Read the keys that verify now; make one where none signs. At start, and every minute, so that a rotation is heard
    of. A key that does not open verifies nothing either: whoever can write into the table cannot sign as we do."""
    valid = sa.or_(col(SigningKeyRow.retired_at).is_(None), col(SigningKeyRow.retired_at) > now())
    query = sa.select(SigningKeyRow).where(valid)
    # Two transactions may have made keys at once: those without an end come last, the newest at the very end.
    query = query.order_by(col(SigningKeyRow.retired_at).is_(None), col(SigningKeyRow.created_at))
    rows = list((await session.execute(query)).scalars())
    opened = [(row, key) for row in rows if (key := _open(row.kid, row.sealed))]
    if all(row.retired_at for row, _ in opened):
        opened.append(_made(session))
    _keys[:] = [key for _, key in opened]


async def rotate(session: Write) -> str:
    """A new key signs from now on; those before it verify for another hour. The new key's id."""
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


@lru_cache(maxsize=64)
def _open(kid: str, sealed: str) -> RSAKey | None:
    """A key with its private part; None, and a warning once, where it is not sealed as ours are."""
    try:
        return RSAKey.import_key(json.loads(SECRETS.unseal_text(sealed, kid)))
    except CannotUnseal:
        log.warning("the signing key %s does not open with this installation's keystore password; another signs", kid)
        return None


def published() -> list[dict[str, Any]]:
    """The public halves, the signing key first."""
    return [dict(key.as_dict(private=False)) for key in reversed(_keys)]


def issue(
    subject: UUID,
    scope: str,
    *,
    organization_id: UUID | None,
    session_id: UUID | None = None,
    key_id: UUID | None = None,
    client_id: str = OWN_CLIENT,
) -> str:
    """An access token for a person's session or for an API key, valid for 15 minutes."""
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
    """A JWT of some claims; `kind` is its `typ`."""
    key = _keys[-1]
    return jwt.encode({"alg": "RS256", "typ": kind, "kid": key.kid}, claims, key)


def verify(token: str) -> dict[str, Any]:
    """The claims of a valid access token; anything else is a 401."""
    try:
        decoded = jwt.decode(token, KeySet(list(_keys)), algorithms=["RS256"])
        registry = jwt.JWTClaimsRegistry(
            iss={"essential": True, "value": settings().base_url},
            aud={"essential": True, "value": settings().base_url},
            exp={"essential": True},
            sub={"essential": True},
        )
        registry.validate(decoded.claims)
        if decoded.header.get("typ") != "at+jwt":
            raise ValueError("not an access token")
        UUID(decoded.claims["key_id"] if "key_id" in decoded.claims else decoded.claims["sid"])
    except (JoseError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unauthenticated("The access token is not valid or has expired.", code="invalid_token") from error
    return dict(decoded.claims)
