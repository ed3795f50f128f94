"""Table of preferences. Only the person sees their row (backend/migrations/sql/people.sql)."""

from datetime import date
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field

from backend.core.columns import Row, json_field, status_field
from backend.preferences.schemas import Digest
from backend.preferences.time_zones import UTC


class PreferencesRow(Row, table=True):
    """What a person has set for themselves; without a row, everything is as in a new account."""

    __tablename__ = "preferences"

    user_id: UUID = Field(foreign_key="users.id", unique=True)
    time_zone: str = UTC
    digest: Digest = status_field(Digest, default=Digest.OFF)
    digest_on: date | None = None
    """The day (UTC) of the last daily email."""
    hidden: list[str] = Field(default_factory=list, sa_type=ARRAY(sa.Text))
    seen: dict[str, str] = json_field(dict)
    """By organization, until when the person has seen its notifications."""
