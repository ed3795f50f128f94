"""People and their memberships."""

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from backend.db import Row, organization_field, status_field, time_field
from backend.members.schemas import MemberStatus, Role


class UserRow(Row, table=True):
    """A person. A placeholder user has no email and no password, only a linked wallet."""

    __tablename__ = "users"

    email: str | None = Field(default=None, unique=True)
    display_name: str | None = None
    password_hash: str | None = None
    is_placeholder: bool = False
    last_login_at: datetime | None = time_field(nullable=True)


class UserWalletRow(Row, table=True):
    """A wallet address a person has linked."""

    __tablename__ = "user_wallets"
    __table_args__ = (sa.UniqueConstraint("address"),)

    user_id: UUID = Field(foreign_key="users.id", index=True)
    address: str
    chain_eid: int | None = Field(default=None, sa_type=sa.BigInteger)


class MemberRow(Row, table=True):
    """A person's role in an organization. `email` and `display_name` are how the organization reaches and calls whoever
    has no account: they prove nothing and are no other organization's to read, so they never become the account's."""

    __tablename__ = "members"
    __table_args__ = (sa.UniqueConstraint("organization_id", "user_id"),)

    organization_id: UUID = organization_field()
    user_id: UUID = Field(foreign_key="users.id", index=True)
    role: Role = status_field(Role, Role.CLIENT)
    status: MemberStatus = status_field(MemberStatus, MemberStatus.ACTIVE)
    email: str | None = None
    display_name: str | None = None
