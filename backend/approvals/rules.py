"""Rules of decisions on approvals. Pure functions."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from backend.core.errors import Conflict, Forbidden
from backend.requests.schemas import Action, ApprovalStatus


def standing(status: ApprovalStatus, expires_at: datetime, now: datetime) -> ApprovalStatus:
    """Return the current status, including an expiry that no sweep has recorded yet."""
    return ApprovalStatus.EXPIRED if status is ApprovalStatus.PENDING and expires_at <= now else status


def check_other(asked_by: UUID | None, deciding: Collection[UUID | None]) -> None:
    """Raise 403 where a decider (the person, or the creator of the API key sent with them) is the requester."""
    if asked_by is not None and asked_by in deciding:
        raise Forbidden("You requested this action. Another person must approve or deny it.")


def check_own(asked_by: UUID | None, person: UUID, requester: str) -> None:
    """Raise 403 where a person who withdraws a request did not make it."""
    if asked_by != person:
        raise Forbidden(f"{requester} requested this action. Only the requester can withdraw it.")


def is_withdrawn(status: ApprovalStatus, asked_by: UUID | None, decided_by: UUID | None) -> bool:
    """Return whether the requester ended the request: no one else's denial has the requester as its decider."""
    return status is ApprovalStatus.DENIED and asked_by is not None and asked_by == decided_by


def check_open(status: ApprovalStatus, decided_by: str, *, withdrawn: bool = False) -> None:
    """Raise 409 that names the decider, where the approval was already decided."""
    if status is ApprovalStatus.EXPIRED:
        raise Conflict("This approval expired before anyone decided. Request the action again.")
    if status is not ApprovalStatus.PENDING:
        raise Conflict(f"{decided_by} has already {'withdrawn' if withdrawn else status} this request.")


def is_lifted(policy: Collection[str], kind: str, includes: Collection[str]) -> bool:
    """Return whether an organization's policy no longer requires a second person for a kind of action that waits by it.
    Appointments wait by any rule."""
    by_policy = kind in set(Action) and not kind.startswith("member.")
    return by_policy and not any(action in policy for action in (kind, *includes))
