"""Tables of second factors and recovery codes. Only the person sees their rows (backend/migrations/sql/people.sql)."""

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field

from backend.core.columns import SecurityRow, status_field, time_field
from backend.factors.schemas import FactorKind


class FactorRow(SecurityRow, table=True):
    """An authenticator app or a passkey. It is active once it is confirmed."""

    __tablename__ = "factors"
    __table_args__ = (sa.UniqueConstraint("user_id", "credential_id"),)

    user_id: UUID = Field(foreign_key="users.id", index=True)
    kind: FactorKind = status_field(FactorKind)
    name: str
    sealed: str | None = None
    """The secret of an authenticator app, sealed for this row's id."""
    last_step: int | None = Field(default=None, sa_type=sa.BigInteger)
    """The time step of the last accepted code; that code and earlier ones are refused."""
    credential_id: str | None = None
    """Credential id of a passkey, in base64url, as its public key."""
    public_key: str | None = None
    sign_count: int = Field(default=0, sa_type=sa.BigInteger)
    transports: list[str] = Field(default_factory=list, sa_type=ARRAY(sa.Text))
    confirmed_at: datetime | None = time_field(nullable=True)
    last_used_at: datetime | None = time_field(nullable=True)


class RecoveryCodeRow(SecurityRow, table=True):
    """A code for a person who has lost their factors: 80 random bits, of which only the SHA-256 is stored."""

    __tablename__ = "recovery_codes"
    __table_args__ = (sa.UniqueConstraint("user_id", "code_hash"),)

    user_id: UUID = Field(foreign_key="users.id")
    code_hash: str
    used_at: datetime | None = time_field(nullable=True)
