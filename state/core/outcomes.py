"""Outcomes of an action on several records: one for each, and which of them can be tried again."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

OPEN, REFUSED = "waiting", "refused"


@dataclass(frozen=True)
class Outcome:
    """What happened to one record. `status` is a key of `components.ui.status`; `href` leads to its request."""

    id: str
    name: str
    place: str = ""
    status: str = OPEN
    detail: str = ""
    href: str = ""


def accepted(outcome: Outcome, request_id: object, detail: str, org_id: str, *, waits: bool) -> Outcome:
    """Return the outcome of a record whose request was accepted, or waits for a second person."""
    status = "awaiting_approval" if waits else "accepted"
    return replace(outcome, status=status, detail=detail, href=f"/o/{org_id}/requests?id={request_id}")


def refused(outcome: Outcome, problem: Mapping[str, Any]) -> Outcome:
    """Return the outcome of an item that was refused: every missing prerequisite, or the problem's detail."""
    missing = [str(p.get("detail", "")) for p in problem.get("prerequisites") or [] if not p.get("satisfied")]
    said = " ".join(missing) or str(problem.get("detail") or problem.get("title") or "")
    return replace(outcome, status=REFUSED, detail=said)


def counted(outcomes: list[Outcome]) -> tuple[int, int]:
    """Return how many outcomes are known, and how many of those are refusals."""
    known = [outcome for outcome in outcomes if outcome.status != OPEN]
    return len(known), sum(outcome.status == REFUSED for outcome in known)
