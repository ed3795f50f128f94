"""Comments on an approval: what the requester and those who can decide say before the decision."""

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from backend.approvals.models import CommentRow
from backend.approvals.schemas import ApprovalComment
from backend.users.models import UserRow


async def of(session: AsyncSession, approval_id: UUID) -> list[ApprovalComment]:
    """Return the comments on an approval, oldest first."""
    query = (
        sa.select(
            col(CommentRow.id),
            col(CommentRow.user_id),
            sa.func.coalesce(col(UserRow.display_name), col(UserRow.email)).label("user_name"),
            col(CommentRow.text),
            col(CommentRow.created_at),
        )
        .outerjoin(UserRow, col(UserRow.id) == col(CommentRow.user_id))
        .where(col(CommentRow.approval_id) == approval_id)
        .order_by(col(CommentRow.created_at), col(CommentRow.id))
    )
    return [ApprovalComment.model_validate(dict(row._mapping)) for row in await session.execute(query)]
