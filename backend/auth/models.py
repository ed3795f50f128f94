"""Tables of sessions, refresh tokens, one-time secrets, signing keys and idempotency keys."""

from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from backend.core.columns import SecurityRow, json_field, sort_indexes, time_field


class SessionRow(SecurityRow, table=True):
    """A session: a browser, or a chain of refresh tokens of the person's own program or of an application that acts for
    them (`client_id`, with the granted scopes).

    Only hashes of secrets are stored.
    """

    __tablename__ = "sessions"
    __table_args__ = sort_indexes("sessions", "created_at", by="user_id")

    user_id: UUID = Field(foreign_key="users.id", index=True)
    organization_id: UUID | None = Field(default=None, foreign_key="organizations.id")
    kind: str = "browser"
    client_id: UUID | None = Field(default=None, foreign_key="oauth_clients.id", index=True)
    client_name: str | None = None
    opened_in: UUID | None = Field(default=None, index=True)
    """The browser session in which an application received its code."""
    scope: str | None = None
    token_hash: str = Field(unique=True)
    user_agent: str | None = None
    address: str | None = None
    signed_in_at: datetime = time_field()
    factor_at: datetime | None = time_field(nullable=True)
    """When the person last used a second factor in this session."""
    proven_at: datetime | None = time_field(nullable=True)
    """When the person last confirmed with a password or a wallet signature in this session, after signing in."""
    last_used_at: datetime = time_field()
    idle_seconds: int | None = None
    """Idle seconds after which a browser session ends."""
    expires_at: datetime = time_field()
    revoked_at: datetime | None = time_field(nullable=True)
    keeps_requests: bool = Field(default=False, sa_column_kwargs={"server_default": sa.false()})
    """Whether requests that it made continue after its revocation."""


class RefreshTokenRow(SecurityRow, table=True):
    """A refresh token of a session. Using one twice revokes the session."""

    __tablename__ = "refresh_tokens"

    session_id: UUID = Field(foreign_key="sessions.id", index=True)
    token_hash: str = Field(unique=True)
    expires_at: datetime = time_field()
    used_at: datetime | None = time_field(nullable=True)


class SigningKeyRow(SecurityRow, table=True):
    """A key that signs JWTs."""

    __tablename__ = "signing_keys"

    kid: str = Field(unique=True)
    sealed: str
    """The JWK with its private part, sealed for its `kid`."""
    retired_at: datetime | None = time_field(nullable=True)
    """When the key stops verifying; set when another key has replaced it."""


class OneTimeSecretRow(SecurityRow, table=True):
    """A one-time secret: a password reset link, the nonce of a wallet sign-in, a sign-in that still needs its second
    factor, or the challenge of a passkey.
    """

    __tablename__ = "one_time_secrets"

    purpose: str
    secret_hash: str = Field(unique=True)
    user_id: UUID | None = Field(default=None, foreign_key="users.id", index=True)
    expires_at: datetime = time_field()
    used_at: datetime | None = time_field(nullable=True)


class IdempotencyRow(SecurityRow, table=True):
    """The response to the first request with a key, for 24 hours."""

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
