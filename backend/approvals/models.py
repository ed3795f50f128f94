"""Table of comments on approvals."""

from uuid import UUID

from sqlmodel import Field

from backend.core.columns import Row, organization_field


class CommentRow(Row, table=True):
    """A comment of the requester or of a person who can decide, while the approval is pending."""

    __tablename__ = "approval_comments"

    organization_id: UUID = organization_field()
    approval_id: UUID = Field(foreign_key="approvals.id", index=True)
    user_id: UUID = Field(foreign_key="users.id")
    text: str
