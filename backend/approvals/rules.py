"""Who may decide, and what. Pure."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from backend.errors import Conflict, Forbidden
from backend.requests.schemas import ApprovalStatus


def standing(status: ApprovalStatus, expires_at: datetime, now: datetime) -> ApprovalStatus:
    """The status that counts now, also between two sweeps."""
    return ApprovalStatus.EXPIRED if status is ApprovalStatus.PENDING and expires_at <= now else status


def check_other(asked_by: UUID | None, deciding: Collection[UUID | None]) -> None:
    """403 where one of those who decide (the person, and who made the API key that came along) is who asked."""
    if asked_by is not None and asked_by in deciding:
        raise Forbidden("Who asked for an action cannot decide about it: it takes a second person.")


def check_open(status: ApprovalStatus, decided_by: str) -> None:
    """409 that says who decided, where it was decided already."""
    if status is ApprovalStatus.EXPIRED:
        raise Conflict("Nobody decided in time; it has expired. Ask for the action anew.")
    if status is not ApprovalStatus.PENDING:
        raise Conflict(f"{decided_by} has {status} it already.")
