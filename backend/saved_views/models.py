"""Table of saved views. Only the person sees their rows (backend/migrations/sql/policies.sql)."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from backend.core.columns import Row, organization_field, sort_indexes


class SavedViewRow(Row, table=True):
    """A person's view of a list in an organization."""

    __tablename__ = "saved_views"
    __table_args__ = (
        sa.UniqueConstraint("organization_id", "user_id", "page", "name"),
        *sort_indexes("saved_views", "created_at", by="user_id"),
    )

    organization_id: UUID = organization_field()
    user_id: UUID = Field(foreign_key="users.id")
    page: str
    name: str
    query: str
