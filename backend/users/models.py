"""Tables of people, their wallets and their memberships."""

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import deferred
from sqlmodel import Field

from backend.core.columns import Row, organization_field, record_time_field, sort_indexes, status_field, time_field
from backend.users.schemas import MemberStatus, Role

_PASSWORD_HASH = sa.Column("password_hash", sa.String())


class UserRow(Row, table=True):
    """A person. A placeholder user represents the unknown owner of the wallet of one pending membership: it is created
    with the membership, can see no one, and is deleted when the person accepts or the membership ends.

    backend/migrations/sql/people.sql defines who can see whom, and that no password hash can be read from a row.
    """

    __tablename__ = "users"
    __mapper_args__ = {"properties": {"password_hash": deferred(_PASSWORD_HASH, raiseload=True)}}

    email: str | None = Field(default=None, unique=True)
    display_name: str | None = None
    password_hash: str | None = Field(default=None, sa_column=_PASSWORD_HASH)
    """Set when the person is created. `signum_sign_in` reads it and `signum_set_password` replaces it."""
    is_placeholder: bool = False
    last_login_at: datetime | None = time_field(nullable=True)
    origin_id: UUID | None = None
    """The root organization that the account counts for, or the person that this root counts for: the origin of the
    organization that invited or added the person. Set at creation only."""


class UserWalletRow(Row, table=True):
    """A wallet whose ownership a person has proven with a signature."""

    __tablename__ = "user_wallets"
    __table_args__ = (sa.UniqueConstraint("address"),)

    user_id: UUID = Field(foreign_key="users.id", index=True)
    address: str
    chain_eid: int | None = Field(default=None, sa_type=sa.BigInteger)


class MemberRow(Row, table=True):
    """A person's role in an organization, and who appointed them.

    The organization entered `email`, `display_name` and `wallet_address` (with `chain_eid`) to identify the person.
    They are unverified and private to the organization, so they are never copied to the account. While the membership
    is pending, they are all that the organization sees of the person.
    """

    __tablename__ = "members"
    __table_args__ = (
        sa.UniqueConstraint("organization_id", "user_id"),
        *sort_indexes("members", "created_at", "updated_at"),
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
    """The id that the organization gave for a person who has not accepted yet.

    Not a foreign key: an unknown id looks the same as a known one.
    """
    added_by: UUID | None = Field(default=None, foreign_key="users.id")
    """Who added or invited the person; null for a founder."""
    appointed_by: UUID | None = Field(default=None, foreign_key="users.id")
    """Who last gave the person a role with more rights."""
    agreed_by: UUID | None = Field(default=None, foreign_key="users.id")
    """The second person who approved that appointment; null where none was needed."""
    placed_by: list[UUID] = Field(
        default_factory=list, sa_type=ARRAY(sa.Uuid()), sa_column_kwargs={"server_default": "{}"}
    )
    """People who may control this account: those who alone gave the role, and those who alone appointed them.

    Written by the database.
    """
    maker_key_id: UUID | None = Field(default=None, foreign_key="api_keys.id")
    maker_grant_id: UUID | None = None
    """The key and the application's grant that made the appointment.

    Until the person accepts, it ends with them. Not a foreign key for the grant: sessions are deleted some time after
    their end.
    """
    appointed_at: datetime = record_time_field(sa_column_kwargs={"server_default": sa.func.now()})
    """When the role took effect: from then on, the person may approve requests."""
