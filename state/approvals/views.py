"""Approvals as pages show them."""

from dataclasses import dataclass
from datetime import tzinfo

from backend.approvals.schemas import Approval, ApprovalComment, ApprovalDetail, Argument
from state.core.dates import stamp, times_in
from state.core.units import with_short_amounts
from state.distributions.check import named
from state.parties.document import KINDS
from state.requests.kinds import kind_words


@dataclass
class ApprovalView:
    """One approval; empty strings where the API has null. `status` is "withdrawn" where its requester ended it, and
    `who` says who can approve it, in a drawer."""

    id: str = ""
    request_id: str = ""
    action: str = ""
    action_words: str = ""
    title: str = ""
    status: str = ""
    subject_type: str = ""
    subject_id: str = ""
    asked_by: str = ""
    asked_by_id: str = ""
    scope: str = ""
    created_at: str = ""
    expires_at: str = ""
    decided_by: str = ""
    decided_at: str = ""
    reason: str = ""
    cause: str = ""
    rule_lifted: bool = False
    can_decide: bool = False
    who: str = ""


def approval_view(approval: Approval) -> ApprovalView:
    """Convert the API's approval."""
    asked_with = f" with {approval.asked_with}" if approval.asked_with else ""
    return ApprovalView(
        id=str(approval.id),
        request_id=str(approval.request_id),
        action=approval.action,
        action_words=kind_words(approval.action),
        title=approval.title,
        status="withdrawn" if approval.is_withdrawn else approval.status,
        subject_type=approval.subject.type,
        subject_id=str(approval.subject.id),
        asked_by=(approval.asked_by_name or "Someone") + asked_with,
        asked_by_id=str(approval.asked_by or ""),
        scope=approval.scope,
        created_at=stamp(approval.created_at),
        expires_at=stamp(approval.expires_at),
        decided_by=approval.decided_by_name or "",
        decided_at=stamp(approval.decided_at),
        reason=approval.reason or "",
        cause=approval.cause or "",
        rule_lifted=approval.rule_lifted and approval.status == "pending",
        can_decide=approval.can_decide,
    )


@dataclass
class ArgumentView:
    """One argument of the requested call; of an account its name, what its wallet is, and its address."""

    name: str = ""
    label: str = ""
    text: str = ""
    wallet: str = ""
    address: str = ""


def argument_views(approval: ApprovalDetail, zone: tzinfo) -> list[ArgumentView]:
    """Convert the arguments of the API's approval."""
    return [_argument_view(one, zone) for one in approval.arguments]


def _argument_view(one: Argument, zone: tzinfo) -> ArgumentView:
    if one.account is None:
        return ArgumentView(one.name, one.label, times_in(one.text, zone))
    return ArgumentView(one.name, one.label, *named(one.account), one.account.address)


@dataclass
class CommentView:
    """A comment, and who wrote it when."""

    id: str = ""
    by: str = ""
    at: str = ""
    text: str = ""


def comment_view(comment: ApprovalComment) -> CommentView:
    """Convert the API's comment."""
    return CommentView(str(comment.id), comment.user_name or "A former member", stamp(comment.created_at), comment.text)


@dataclass
class DocumentView:
    """A document of a party that the action concerns; `href` downloads it with the user's own session."""

    id: str = ""
    name: str = ""
    kind: str = ""
    party: str = ""
    at: str = ""
    href: str = ""


def document_views(approval: ApprovalDetail) -> list[DocumentView]:
    """Convert the documents of the API's approval."""
    return [
        DocumentView(
            id=str(one.id),
            name=one.name,
            kind=KINDS.get(one.kind, one.kind),
            party=one.party_name,
            at=stamp(one.created_at),
            href=f"/v1/identity/parties/{one.party_id}/documents/{one.id}?organization_id={approval.organization_id}",
        )
        for one in approval.documents
    ]


def changed_since(approval: ApprovalDetail) -> list[dict[str, str]]:
    """Convert what has changed since the request, with the exact amounts for the hover."""
    return [
        {
            "name": one.label,
            "old": with_short_amounts(one.at_request),
            "new": with_short_amounts(one.now),
            "old_full": one.at_request,
            "new_full": one.now,
        }
        for one in approval.changed_since
    ]
