"""Approvals as pages show them."""

from dataclasses import dataclass

from backend.approvals.schemas import Approval, ApprovalDetail
from state.core.dates import stamp


@dataclass
class ApprovalView:
    """One approval; empty strings where the API has null."""

    id: str = ""
    request_id: str = ""
    action: str = ""
    title: str = ""
    status: str = ""
    subject_type: str = ""
    subject_id: str = ""
    asked_by: str = ""
    created_at: str = ""
    expires_at: str = ""
    decided_by: str = ""
    decided_at: str = ""
    reason: str = ""
    cause: str = ""
    can_decide: bool = False


def approval_view(approval: Approval) -> ApprovalView:
    """Convert the API's approval."""
    asked_with = f" with {approval.asked_with}" if approval.asked_with else ""
    return ApprovalView(
        id=str(approval.id),
        request_id=str(approval.request_id),
        action=approval.action,
        title=approval.title,
        status=approval.status,
        subject_type=approval.subject.type,
        subject_id=str(approval.subject.id),
        asked_by=(approval.asked_by_name or "Someone") + asked_with,
        created_at=stamp(approval.created_at),
        expires_at=stamp(approval.expires_at),
        decided_by=approval.decided_by_name or "",
        decided_at=stamp(approval.decided_at),
        reason=approval.reason or "",
        cause=approval.cause or "",
        can_decide=approval.can_decide,
    )


@dataclass
class ArgumentView:
    """One argument of the requested call."""

    name: str = ""
    label: str = ""
    text: str = ""


def argument_views(approval: ApprovalDetail) -> list[ArgumentView]:
    """Convert the arguments of the API's approval."""
    return [ArgumentView(one.name, one.label, one.text) for one in approval.arguments]
