"""Sessions, refresh tokens, secrets that work once, idempotency keys."""

from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from backend.db import Row, json_field, time_field


class SessionRow(Row, table=True):
    """A signed-in person: one browser, or one chain of refresh tokens, of a program of theirs or of an application in
    their name (`client_id`, with the scopes it was given). Only hashes of secrets are kept."""

    __tablename__ = "sessions"

    user_id: UUID = Field(foreign_key="users.id", index=True)
    organization_id: UUID | None = Field(default=None, foreign_key="organizations.id")
    kind: str = "browser"
    client_id: UUID | None = Field(default=None, foreign_key="oauth_clients.id", index=True)
    client_name: str | None = None
    opened_in: UUID | None = Field(default=None, index=True)
    """The browser's session in which an application was given its code."""
    scope: str | None = None
    token_hash: str = Field(unique=True)
    user_agent: str | None = None
    address: str | None = None
    signed_in_at: datetime = time_field()
    factor_at: datetime | None = time_field(nullable=True)
    """When the person last showed a second factor in this session."""
    proven_at: datetime | None = time_field(nullable=True)
    """When the person last gave their password or a wallet's signature in this session, after signing in."""
    last_used_at: datetime = time_field()
    idle_seconds: int | None = None
    """A browser's session ends when it was not used for so long."""
    expires_at: datetime = time_field()
    revoked_at: datetime | None = time_field(nullable=True)


class RefreshTokenRow(Row, table=True):
    """A refresh token of a session; using one twice revokes the session."""

    __tablename__ = "refresh_tokens"

    session_id: UUID = Field(foreign_key="sessions.id", index=True)
    token_hash: str = Field(unique=True)
    expires_at: datetime = time_field()
    used_at: datetime | None = time_field(nullable=True)


class SigningKeyRow(Row, table=True):
    """A key that signs JWTs."""

    __tablename__ = "signing_keys"

    kid: str = Field(unique=True)
    sealed: str
    """The JWK with its private part, sealed for its `kid`."""
    retired_at: datetime | None = time_field(nullable=True)
    """From when nothing is verified with it any more; set when another has taken its place."""


class OneTimeSecretRow(Row, table=True):
    """A secret that works once: the link of a forgotten password, the nonce of a wallet's sign-in, a sign-in that still
    needs its second factor, the challenge of a passkey."""

    __tablename__ = "one_time_secrets"

    purpose: str
    secret_hash: str = Field(unique=True)
    user_id: UUID | None = Field(default=None, foreign_key="users.id", index=True)
    expires_at: datetime = time_field()
    used_at: datetime | None = time_field(nullable=True)


class IdempotencyRow(Row, table=True):
    """The answer to the first request with a key, for 24 hours."""

    __tablename__ = "idempotency_keys"
    __table_args__ = (
        sa.UniqueConstraint("principal", "method", "path", "key"),
        sa.Index("ix_idempotency_keys_age", "created_at"),
    )

    principal: str
    method: str
    path: str
    key: str
    digest: str
    status: int | None = None
    headers: dict[str, Any] = json_field(dict)
    body: str | None = None
