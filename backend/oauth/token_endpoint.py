"""The token endpoint: exchanges codes, refresh tokens and API keys for access tokens."""

import time
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from fastapi import Request
from sqlmodel import col

from backend.auth import tokens
from backend.auth.credential_owners import Key
from backend.auth.models import SessionRow
from backend.auth.oauth_models import OAuthCodeRow
from backend.auth.principal import Context
from backend.auth.secrets import digest, token
from backend.core.db import Write, now, prove
from backend.core.errors import Unauthenticated
from backend.core.settings import settings
from backend.oauth import rules
from backend.oauth.clients import Client, authenticate, check_address
from backend.oauth.errors import OAuthFault
from backend.oauth.schemas import TokenAnswer, TokenForm
from backend.oauth.service import GRANT_LIFETIME
from backend.sign_in import service as auth

GRANT_TYPES = ("authorization_code", "refresh_token", "client_credentials")
BAD_CODE = "The code is not valid, has expired, or was issued to another client or address."


async def exchange(context: Context, request: Request, form: TokenForm) -> TokenAnswer:
    """Answer a token request."""
    if not form.grant_type:
        raise OAuthFault("invalid_request", "grant_type is missing.")
    if form.grant_type not in GRANT_TYPES:
        raise OAuthFault("unsupported_grant_type", f"grant_type must be one of {', '.join(GRANT_TYPES)}.")
    caller = await authenticate(context.session, request, form)
    await check_address(context, caller)
    if isinstance(caller, Key) is not (form.grant_type == "client_credentials"):
        raise OAuthFault(
            "unauthorized_client", "client_credentials requires an API key, and API keys accept no other grant_type."
        )
    if isinstance(caller, Key):
        return _for_key(caller, form)
    if form.grant_type == "refresh_token":
        return await _by_refresh_token(context.session, caller, form)
    return await _by_code(context, request, caller, form)


def _for_key(key: Key, form: TokenForm) -> TokenAnswer:
    held = sorted(str(s) for s in key.scopes)
    scope = " ".join(_narrowed(form.scope, held))
    access = tokens.issue(
        key.key_id, scope, organization_id=key.organization_id, key_id=key.key_id, client_id=str(key.key_id)
    )
    return TokenAnswer(access_token=access, expires_in=tokens.ACCESS_SECONDS, scope=scope)


def _narrowed(wanted: str | None, held: list[str]) -> list[str]:
    """Return the requested scopes, all of which must be held; without a request, all that are held."""
    scopes = rules.unique(wanted.split()) if wanted else held
    if not scopes or not set(scopes) <= set(held):
        raise OAuthFault("invalid_scope", "A requested scope was not granted.")
    return scopes


async def _by_code(context: Context, request: Request, client: Client, form: TokenForm) -> TokenAnswer:
    session = context.session
    if not form.code or not form.code_verifier or not form.redirect_uri:
        raise OAuthFault("invalid_request", "code, code_verifier and redirect_uri are required.")
    await prove(session, digest(form.code))
    query = sa.select(OAuthCodeRow).where(col(OAuthCodeRow.code_hash) == digest(form.code))
    code: OAuthCodeRow | None = await session.scalar(query.with_for_update())
    if code is None or code.client_id != client.id:
        raise OAuthFault("invalid_grant", BAD_CODE)
    if code.grant_id is not None:
        await _end_alone(session, code.grant_id)
        raise OAuthFault("invalid_grant", "The code was already used. The session it was exchanged for has ended.")
    if code.expires_at < now() or code.redirect_uri != form.redirect_uri:
        raise OAuthFault("invalid_grant", BAD_CODE)
    if not rules.proves(form.code_verifier, code.code_challenge):
        raise OAuthFault("invalid_grant", "The code_verifier does not match the code_challenge.")
    if not await _is_live(session, code.session_id):
        raise OAuthFault("invalid_grant", "The person has signed out.")
    row = await _open_grant(session, client, code, context.address)
    code.grant_id = row.id
    return _answer(session, client, row, row.scope or "", code.nonce)


async def _end_alone(session: Write, session_id: UUID) -> None:
    """End a grant although this request fails.

    Its connection is returned first, so that concurrent requests do not wait for each other.
    """
    await session.rollback()
    await auth.revoke_alone(session_id, keeps_requests=True)


async def _is_live(session: Write, session_id: UUID) -> bool:
    await prove(session, session_id)
    row = await session.get_one(SessionRow, session_id)
    return row.revoked_at is None and row.expires_at > now()


async def _open_grant(session: Write, client: Client, code: OAuthCodeRow, address: str) -> SessionRow:
    row = SessionRow(
        user_id=code.user_id,
        organization_id=client.organization_id,
        kind="application",
        client_id=client.id,
        client_name=client.name,
        opened_in=code.session_id,
        scope=code.scope,
        token_hash=digest(token()),
        address=address,
        signed_in_at=code.signed_in_at,
        expires_at=now() + GRANT_LIFETIME,
    )
    session.add(row)
    await session.flush()
    return row


async def _by_refresh_token(session: Write, client: Client, form: TokenForm) -> TokenAnswer:
    if not form.refresh_token:
        raise OAuthFault("invalid_request", "refresh_token is missing.")
    try:
        row = await auth.rotate(session, form.refresh_token, client.id)
    except Unauthenticated as error:
        raise OAuthFault("invalid_grant", error.detail) from error
    scope = " ".join(_narrowed(form.scope, (row.scope or "").split()))
    return _answer(session, client, row, scope, None)


def _answer(session: Write, client: Client, row: SessionRow, scope: str, nonce: str | None) -> TokenAnswer:
    access = tokens.issue(
        row.user_id, scope, organization_id=row.organization_id, session_id=row.id, client_id=str(client.id)
    )
    return TokenAnswer(
        access_token=access,
        expires_in=tokens.ACCESS_SECONDS,
        scope=scope,
        refresh_token=auth.add_refresh_token(session, row),
        id_token=_id_token(client, row, access, nonce) if "openid" in scope.split() else None,
    )


def _id_token(client: Client, row: SessionRow, access: str, nonce: str | None) -> str:
    """Return an ID token (OIDC Core 2). Claims beyond `sub` come from UserInfo."""
    started = int(time.time())
    claims: dict[str, Any] = {
        "iss": settings().base_url,
        "sub": str(row.user_id),
        "aud": str(client.id),
        "iat": started,
        "exp": started + tokens.ACCESS_SECONDS,
        "auth_time": int(row.signed_in_at.timestamp()),
        "sid": str(row.id),
        "at_hash": rules.half_hash(access),
    }
    return tokens.sign(claims | ({"nonce": nonce} if nonce else {}), "JWT")
