"""Introspection and revocation of tokens by their client (RFC 7662, RFC 7009)."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth import tokens
from backend.auth.credential_owners import Key
from backend.auth.models import RefreshTokenRow, SessionRow
from backend.auth.secrets import digest
from backend.core.db import Write, now, prove
from backend.core.errors import Unauthenticated
from backend.core.fields import ClientKind
from backend.core.settings import settings
from backend.oauth.clients import Client
from backend.oauth.errors import OAuthFault
from backend.oauth.schemas import Introspection
from backend.sign_in import service as auth

OVER = Introspection(active=False)


async def introspect(session: Write, caller: Client | Key, text: str) -> Introspection:
    """Return the state of a token: an application may query its own, an API key those of its organization's
    applications.
    """
    if isinstance(caller, Client) and caller.kind is ClientKind.PUBLIC:
        raise OAuthFault("invalid_client", "Introspection requires a client secret.", status=401)
    claims = await _claims(session, text)
    if claims is None or not _is_of(caller, claims):
        return OVER
    return Introspection(active=True, token_type="Bearer", **claims)  # noqa: S106  (a token type, not a token)


async def _claims(session: Write, text: str) -> dict[str, Any] | None:
    """Return the claims of a valid access token or refresh token."""
    try:
        claims = tokens.verify(text)
    except Unauthenticated:
        return await _of_refresh_token(session, text)
    if "key_id" in claims:
        row = (await session.execute(sa.text("select 1 from signum_api_key_of(:id)"), {"id": claims["key_id"]})).first()
        return _known(claims) if row else None
    await prove(session, claims["sid"])
    query = sa.select(SessionRow).where(col(SessionRow.id) == UUID(claims["sid"]), *_live())
    return _known(claims) if await session.scalar(query) else None


def _known(claims: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in claims.items() if k in Introspection.model_fields}


def _live() -> tuple[sa.ColumnElement[bool], ...]:
    return col(SessionRow.revoked_at).is_(None), col(SessionRow.expires_at) > now()


async def _of_refresh_token(session: Write, text: str) -> dict[str, Any] | None:
    await _find(session, text)
    query = (
        sa.select(SessionRow, col(RefreshTokenRow.expires_at))
        .join(RefreshTokenRow, col(RefreshTokenRow.session_id) == col(SessionRow.id))
        .where(
            col(RefreshTokenRow.token_hash) == digest(text),
            col(RefreshTokenRow.used_at).is_(None),
            col(RefreshTokenRow.expires_at) > now(),
            *_live(),
        )
    )
    found = (await session.execute(query)).first()
    if found is None:
        return None
    row: SessionRow = found[0]
    return {
        "scope": row.scope,
        "client_id": str(row.client_id),
        "sub": str(row.user_id),
        "iss": settings().base_url,
        "exp": int(min(found[1], row.expires_at).timestamp()),
        "org_id": str(row.organization_id),
    }


def _is_of(caller: Client | Key, claims: dict[str, Any]) -> bool:
    if isinstance(caller, Client):
        return bool(claims["client_id"] == str(caller.id))
    is_own = claims["client_id"] not in (tokens.OWN_CLIENT, "None")
    return is_own and bool(claims["org_id"] == str(caller.organization_id))


async def revoke(session: Write, caller: Client | Key, text: str) -> None:
    """End the grant of a token, with all its tokens. An unknown token counts as revoked (RFC 7009 2.2)."""
    claims = await _raw(session, text)
    if claims is None:
        return
    if isinstance(caller, Key) or "key_id" in claims:
        raise OAuthFault(
            "unsupported_token_type", "Tokens of an API key end with the key. Revoke the key, or wait 15 minutes."
        )
    if claims["client_id"] != str(caller.id):
        raise OAuthFault("invalid_grant", "The token was issued to another client.")
    await auth.revoke(session, UUID(claims["sid"]), keeps_requests=True)


async def _raw(session: Write, text: str) -> dict[str, Any] | None:
    try:
        return tokens.verify(text)
    except Unauthenticated:
        found = await _find(session, text)
    if found is None:
        return None
    row = await session.get_one(SessionRow, found.session_id)
    return {"client_id": str(row.client_id), "sid": str(row.id)}


async def _find(session: Write, text: str) -> RefreshTokenRow | None:
    """Return a refresh token from its text; its session becomes visible in the transaction."""
    await prove(session, digest(text))
    query = sa.select(RefreshTokenRow).where(col(RefreshTokenRow.token_hash) == digest(text))
    found: RefreshTokenRow | None = await session.scalar(query)
    if found is not None:
        await prove(session, found.session_id)
    return found
