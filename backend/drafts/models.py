"""Table of drafts. Only the person sees their rows (backend/migrations/sql/policies.sql)."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from backend.core.columns import Row, organization_field, status_field
from backend.drafts.schemas import DraftKind


class DraftRow(Row, table=True):
    """The draft of a person in an organization, one per form."""

    __tablename__ = "form_drafts"
    __table_args__ = (sa.UniqueConstraint("organization_id", "user_id", "kind"),)

    organization_id: UUID = organization_field()
    user_id: UUID = Field(foreign_key="users.id", index=True)
    kind: DraftKind = status_field(DraftKind, DraftKind.MARKET)
    content: str
