"""Outcomes of an action on several records: one for each, and which of them can be tried again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.core.dialogs import DialogAbout
from state.core.events import Events

TOGETHER = 20
"""Items of one call: the page shows the outcomes of each before the next."""
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


class SendsItems(DialogAbout, mixin=True):
    """Mixin of a dialog that sends an action for several records, and shows the outcome of each. Implement `_outcomes`
    and `_sent`; `submit` sets `_items` and `outcomes`, then sends `_groups`. It provides the handler `retry`."""

    outcomes: list[Outcome] = []
    known: int = 0
    refusals: int = 0
    running: bool = False
    _items: list[dict[str, Any]] = []
    _unanswered: list[tuple[list[int], str]] = []
    """Groups of items whose call had no result, with its key: a repetition of the same call repeats no item."""

    async def _outcomes(self, group: Sequence[int], key: str) -> list[Outcome]:
        """Send some items; return their outcomes. The key is that of the call."""
        raise NotImplementedError

    async def _sent(self) -> Any:
        """Update the page after the last item; return the event that follows."""
        raise NotImplementedError

    @rx.event
    def rest(self) -> None:
        """Close the dialog when a page opens, also after an action that a restart interrupted."""
        self.is_open, self.running = False, False
        self._done()

    @rx.event
    async def retry(self) -> Events:
        """Send the refused items again: those of a call without a result as the same call."""
        again = [i for i, outcome in enumerate(self.outcomes) if outcome.status == REFUSED]
        if self.running or len(self._items) != len(self.outcomes):
            return
        unanswered, self._unanswered = self._unanswered, []
        self._form_key = ""
        self._begin()
        for i in again:
            self._note(i, Outcome(self.outcomes[i].id, self.outcomes[i].name, self.outcomes[i].place))
        rest = [i for i in again if not any(i in group for group, _ in unanswered)]
        async for events in self._send([*unanswered, *self._groups(rest)]):
            yield events

    def _forget(self) -> None:
        self.outcomes, self.known, self.refusals, self._items, self._unanswered = [], 0, 0, [], []

    def _groups(self, numbers: Sequence[int]) -> list[tuple[list[int], str]]:
        """Return items in groups of one call each, with its key."""
        starts = range(0, len(numbers), TOGETHER)
        return [(list(numbers[at : at + TOGETHER]), f"{self._form_key}:{at}") for at in starts]

    async def _send(self, groups: Sequence[tuple[list[int], str]]) -> Events:
        """Send items in groups, and note the outcome of each."""
        self.running = True
        yield
        for group, key in groups:
            try:
                found = await self._outcomes(group, key)
            except ApiProblem as problem:
                if problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                    self._unanswered = [*self._unanswered, (group, key)]
                found = [refused(self.outcomes[i], whole(problem)) for i in group]
            for i, outcome in zip(group, found, strict=True):
                self._note(i, outcome)
            yield
        self._done()
        self.running = False
        yield await self._sent()

    def _note(self, number: int, outcome: Outcome) -> None:
        self.outcomes = [*self.outcomes[:number], outcome, *self.outcomes[number + 1 :]]
        self.known, self.refusals = counted(self.outcomes)


def whole(problem: ApiProblem) -> dict[str, Any]:
    """Return a problem of a whole call with its findings as the detail."""
    found = " ".join(f"{e.get('detail', '')}." for e in problem.errors)
    return problem.body | ({"detail": found} if found else {})
