"""Access tokens: RS256 JWTs as RFC 9068 has them."""

import time
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, RSAKey
from sqlmodel import col

from backend.auth.models import SigningKeyRow
from backend.db import Write, new_id
from backend.errors import Unauthenticated
from backend.settings import settings

ACCESS_SECONDS = 15 * 60
_keys: list[RSAKey] = []


async def load_keys(session: Write) -> None:
    """Read the signing keys; make the first one. Called at start."""
    rows = (await session.execute(sa.select(SigningKeyRow).order_by(col(SigningKeyRow.created_at)))).scalars().all()
    if not rows:
        key = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256"}, private=True, auto_kid=True)
        rows = [SigningKeyRow(jwk=key.as_dict(private=True))]
        session.add_all(rows)
    _keys[:] = [RSAKey.import_key(r.jwk) for r in rows if r.retired_at is None]


def issue(user_id: UUID, session_id: UUID, organization_id: UUID | None, scope: str) -> str:
    """An access token for a session, valid for 15 minutes."""
    key, now = _keys[-1], int(time.time())
    claims = {
        "iss": settings().base_url,
        "aud": settings().base_url,
        "sub": str(user_id),
        "iat": now,
        "exp": now + ACCESS_SECONDS,
        "jti": str(new_id()),
        "client_id": "signum",
        "scope": scope,
        "sid": str(session_id),
        "org_id": str(organization_id) if organization_id else None,
    }
    return jwt.encode({"alg": "RS256", "typ": "at+jwt", "kid": key.kid}, claims, key)


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
        UUID(decoded.claims["sid"])
    except (JoseError, ValueError, KeyError, TypeError) as error:
        raise Unauthenticated("The access token is not valid or has expired.", code="invalid_token") from error
    return dict(decoded.claims)
