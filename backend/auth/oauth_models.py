"""Tables of applications, authorization codes and consents."""

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field

from backend.core.columns import SecurityRow, organization_field, sort_indexes, status_field, time_field
from backend.core.fields import ClientKind


class OAuthClientRow(SecurityRow, table=True):
    """An application of an organization. Its id is the `client_id`; only the SHA-256 of its secret is stored."""

    __tablename__ = "oauth_clients"
    __table_args__ = sort_indexes("oauth_clients", "created_at", "updated_at")

    organization_id: UUID = organization_field()
    name: str
    kind: ClientKind = status_field(ClientKind, ClientKind.CONFIDENTIAL)
    redirect_uris: list[str] = Field(sa_type=ARRAY(sa.Text))
    backchannel_logout_uri: str | None = None
    scopes: list[str] = Field(sa_type=ARRAY(sa.Text))
    secret_hash: str | None = None
    created_by: UUID | None = Field(default=None, foreign_key="users.id")
    maker_key_id: UUID | None = None
    maker_grant_id: UUID | None = None
    """The key and the application grant that created it and with which it ends (`signum_oauth_client`).

    Not foreign keys: keys reference their application, and sessions are deleted some time after their end.
    """
    revoked_at: datetime | None = time_field(nullable=True)


class OAuthCodeRow(SecurityRow, table=True):
    """An authorization code, valid once for 60 seconds.

    Using it again ends the session it was exchanged for (`grant_id`).
    """

    __tablename__ = "oauth_codes"

    code_hash: str = Field(unique=True)
    client_id: UUID = Field(foreign_key="oauth_clients.id")
    user_id: UUID = Field(foreign_key="users.id")
    session_id: UUID = Field(foreign_key="sessions.id")
    grant_id: UUID | None = Field(default=None, foreign_key="sessions.id")
    redirect_uri: str
    scope: str
    nonce: str | None = None
    code_challenge: str
    signed_in_at: datetime = time_field()
    expires_at: datetime = time_field(index=True)


class OAuthConsentRow(SecurityRow, table=True):
    """The scopes that a person has granted to an application."""

    __tablename__ = "oauth_consents"
    __table_args__ = (sa.UniqueConstraint("user_id", "client_id"),)

    user_id: UUID = Field(foreign_key="users.id")
    client_id: UUID = Field(foreign_key="oauth_clients.id")
    scopes: list[str] = Field(sa_type=ARRAY(sa.Text))
