"""Requests and their steps as pages show them."""

from dataclasses import dataclass, field
from typing import Protocol

from backend.requests.schemas import Request, RequestStatus, RequestStep
from state.core.dates import stamp
from state.core.units import brief
from state.requests.fixes import Fix, fix_of, page_of
from state.requests.kinds import kind_words

WAITING = "awaiting_approval"
SETTLING = "Waiting until its transactions are final"


@dataclass
class StepView:
    """One step of a request; empty strings for null."""

    name: str = ""
    title: str = ""
    status: str = "waiting"
    started_at: str = ""
    finished_at: str = ""
    chain_name: str = ""
    tx_hash: str = ""
    explorer_url: str = ""
    finality: str = ""
    detail: str = ""
    detail_full: str = ""


@dataclass
class RequestView:
    """A request as pages show it. `asset_id` and `market_id` are those of an order. `line` describes its current step,
    `percent` its progress, `notice` what a disabled chain means for it, `scope` what a retry needs. `kind_words` is
    its kind for people, and `status` is "withdrawn" where its requester ended it. Texts with shortened addresses and
    amounts have the whole ones beside them (`title_full`, `problem_full`). `fix` is the next step after its failure,
    `fix_href` the page where it can be taken."""

    id: str = ""
    kind: str = ""
    kind_words: str = ""
    title: str = ""
    title_full: str = ""
    status: str = ""
    subject_type: str = ""
    subject_id: str = ""
    asset_id: str = ""
    market_id: str = ""
    problem: str = ""
    problem_full: str = ""
    fix: Fix = field(default_factory=Fix)
    fix_href: str = ""
    can_retry: bool = False
    scope: str = ""
    awaits_finality: bool = False
    notice: str = ""
    reason: str = ""
    approval_id: str = ""
    created_by: str = ""
    created_by_id: str = ""
    created_at: str = ""
    updated_at: str = ""
    line: str = ""
    done_steps: int = 0
    percent: int = 0
    steps: list[StepView] = field(default_factory=list)


class Waits(Protocol):
    """A record whose request may wait for a second person."""

    @property
    def status(self) -> str:
        """Its own status."""

    @property
    def awaits_approval(self) -> bool | None:
        """Whether the request waits."""


def shown_status(record: Waits) -> str:
    """Return the status that lists show of a record: its own, or that its request waits for a second person."""
    return WAITING if record.awaits_approval else record.status


def request_view(data: Request) -> RequestView:
    """Convert the API's request."""
    steps = [_step_view(step) for step in data.steps]
    done = sum(step.status == "succeeded" for step in steps)
    current = next((step for step in steps if step.status in ("running", "failed")), None)
    problem = data.problem or {}
    words = problem.get("detail") or problem.get("title") or ""
    for step in steps:
        # The reason stands below the steps, once.
        if step.status == "failed" and step.detail_full == words:
            step.detail = step.detail_full = ""
    fix = fix_of(data) if data.status is RequestStatus.FAILED else Fix()
    here = f"/o/{data.organization_id}/requests?id={data.id}"
    return RequestView(
        id=str(data.id),
        kind=data.kind,
        kind_words=kind_words(data.kind),
        title=brief(data.title),
        title_full=data.title,
        status="withdrawn" if data.is_withdrawn else data.status,
        subject_type=data.subject.type,
        subject_id=str(data.subject.id),
        asset_id=str(data.subject.asset_id or ""),
        market_id=str(data.subject.market_id or ""),
        problem=brief(words),
        problem_full=words,
        fix=fix,
        fix_href=page_of(fix, here),
        can_retry=data.can_retry,
        scope=data.scope,
        awaits_finality=data.awaits_finality,
        notice=data.notice or "",
        reason=data.reason or "",
        approval_id=str(data.approval_id or ""),
        created_by=data.created_by_name or "",
        created_by_id=str(data.created_by or ""),
        created_at=stamp(data.created_at),
        updated_at=stamp(data.updated_at),
        line=brief(words) or (SETTLING if data.awaits_finality else _line(data.status, steps, done, current)),
        done_steps=done,
        percent=100
        if data.status is RequestStatus.SUCCEEDED
        else round(
            100 * (done + (data.status is RequestStatus.RUNNING and current is not None) / 2) / max(1, len(steps))
        ),
        steps=steps,
    )


def _step_view(step: RequestStep) -> StepView:
    return StepView(
        name=step.name,
        title=step.title,
        status=step.status,
        started_at=stamp(step.started_at),
        finished_at=stamp(step.finished_at),
        chain_name=step.chain_name or "",
        tx_hash=step.tx_hash or "",
        explorer_url=step.explorer_url or "",
        finality=step.finality or "",
        detail=brief(step.detail or ""),
        detail_full=step.detail or "",
    )


def _line(status: str, steps: list[StepView], done: int, current: StepView | None) -> str:
    """Return the current state of a request as text."""
    if status == WAITING:
        return "Waiting for a second person"
    return f"Step {done + 1} of {len(steps)}, {current.title}" if current else ""
