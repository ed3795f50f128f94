"""Versions of data keys."""

from datetime import datetime

import sqlalchemy as sa
from sqlmodel import Field, SQLModel

from backend.core.columns import time_field


class DataKeyRow(SQLModel, table=True):
    """A version of the key of a purpose (`backend.core.secret_keys.keyring.Purpose`)."""

    __tablename__ = "data_keys"

    purpose: str = Field(primary_key=True)
    version: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    wrapped: bytes | None = Field(default=None, sa_type=sa.LargeBinary)
    """Encrypted under the secret key. Deleted some days after the version was retired."""
    wrapped_by: str
    """Fingerprint of that secret key."""
    created_at: datetime = time_field(sa_column_kwargs={"server_default": sa.func.now()})
    retired_at: datetime | None = time_field(nullable=True)
    """When no content was left that this version had sealed."""
