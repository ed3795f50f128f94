"""People and their memberships."""

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import deferred
from sqlmodel import Field

from backend.db import Row, organization_field, status_field, time_field
from backend.members.schemas import MemberStatus, Role

_PASSWORD_HASH = sa.Column("password_hash", sa.String())


class UserRow(Row, table=True):
    """A person. A placeholder user stands in for whoever has the wallet of one pending membership: it is made with it,
    knows nothing of anybody, and goes when the person agrees or the membership ends.

    Who may see whom, and that nobody reads a password's hash out of a row, is in backend/migrations/sql/people.sql.
    """

    __tablename__ = "users"
    __mapper_args__ = {"properties": {"password_hash": deferred(_PASSWORD_HASH, raiseload=True)}}

    email: str | None = Field(default=None, unique=True)
    display_name: str | None = None
    password_hash: str | None = Field(default=None, sa_column=_PASSWORD_HASH)
    """Given when the person is made. `signum_sign_in` reads it and `signum_set_password` writes another one."""
    is_placeholder: bool = False
    last_login_at: datetime | None = time_field(nullable=True)


class UserWalletRow(Row, table=True):
    """A wallet that a person has proven to own, by signing with it."""

    __tablename__ = "user_wallets"
    __table_args__ = (sa.UniqueConstraint("address"),)

    user_id: UUID = Field(foreign_key="users.id", index=True)
    address: str
    chain_eid: int | None = Field(default=None, sa_type=sa.BigInteger)


class MemberRow(Row, table=True):
    """A person's role in an organization, and who appointed them to it.

    `email`, `display_name` and `wallet_address` (with `chain_eid`) are what the organization gave to say whom it means:
    they prove nothing and are no other organization's to read, so they never become the account's. While the membership
    is pending they are all that the organization sees of the person.
    """

    __tablename__ = "members"
    __table_args__ = (
        sa.UniqueConstraint("organization_id", "user_id"),
        sa.Index("ix_members_page", "organization_id", "created_at", "id"),
        sa.Index(
            "uq_members_pending_wallet",
            "wallet_address",
            "organization_id",
            unique=True,
            postgresql_where=sa.text("status = 'pending'"),
        ),
        sa.Index(
            "uq_members_pending_user",
            "asked_user_id",
            "organization_id",
            unique=True,
            postgresql_where=sa.text("status = 'pending'"),
        ),
    )

    organization_id: UUID = organization_field()
    user_id: UUID = Field(foreign_key="users.id", index=True)
    role: Role = status_field(Role, Role.CLIENT)
    status: MemberStatus = status_field(MemberStatus, MemberStatus.ACTIVE)
    email: str | None = None
    display_name: str | None = None
    wallet_address: str | None = None
    chain_eid: int | None = Field(default=None, sa_type=sa.BigInteger)
    asked_user_id: UUID | None = None
    """The id the organization gave for a person who has not agreed yet. No foreign key: an unknown id looks the same
    as a known one."""
    added_by: UUID | None = Field(default=None, foreign_key="users.id")
    """Who added or invited the person; null for a founder."""
    appointed_by: UUID | None = Field(default=None, foreign_key="users.id")
    """Who last gave the person a role with more rights."""
    agreed_by: UUID | None = Field(default=None, foreign_key="users.id")
    """The second person who agreed to that appointment; null where it needed none."""
    placed_by: list[UUID] = Field(
        default_factory=list, sa_type=ARRAY(sa.Uuid()), sa_column_kwargs={"server_default": "{}"}
    )
    """Whose account it may be: who alone gave the role, and who alone had placed them. The database writes it."""
    maker_key_id: UUID | None = Field(default=None, foreign_key="api_keys.id")
    maker_grant_id: UUID | None = None
    """The key and the application's grant with which the appointment was made: until the person has agreed, it ends
    with them. No foreign key for the grant: sessions are deleted some time after their end."""
    appointed_at: datetime = time_field(sa_column_kwargs={"server_default": sa.func.now()})
    """Since when the role counts: from then on the person may be a second person."""
