"""Actions on the marked parties and attestations of a list: attest, renew, verify, reject."""

from collections.abc import Sequence
from datetime import tzinfo
from http import HTTPStatus
from typing import Any

import reflex as rx

from backend.attestations.schemas import AttestationBatch
from backend.client import ApiProblem, body
from backend.parties.schemas import PartyBatch, PartyReject
from state.attestations.bulk_items import (
    ATTEST,
    OMITTED,
    REJECT,
    RENEW,
    VERIFY,
    Subject,
    attestations,
    decisions,
    listed,
    subjects_of,
    waiting,
)
from state.attestations.case import LISTS, CaseList
from state.chains.lookup import Chains, options
from state.core.arguments import named, number, one_of, texts
from state.core.dates import end_of, in_days
from state.core.dialogs import DialogAbout
from state.core.events import Events
from state.core.outcomes import REFUSED, Outcome, accepted, counted, refused
from state.parties.detail import verification
from state.requests.tracker import Tracker

TOGETHER = 20
"""Items of one call: the page shows the outcomes of each before the next."""
CHAIN = "chain_"
"""The start of the names of the checkboxes for chains."""


class Bulk(Chains, DialogAbout, rx.State):
    """The dialog of an action on several records, and their outcomes."""

    kind: str = ""
    who: str = ""
    count: int = 0
    omitted: str = ""
    chain_options: list[dict[str, str]] = []
    first_day: str = ""
    last_day: str = ""
    outcomes: list[Outcome] = []
    known: int = 0
    refusals: int = 0
    running: bool = False
    _subjects: list[Subject] = []
    _items: list[dict[str, Any]] = []
    _unanswered: list[tuple[list[int], str]] = []
    """Groups of items whose call had no result, with its key: a repetition of the same call repeats no item."""

    @rx.event
    def rest(self) -> None:
        """Close the dialog when a page opens, also after an action that a restart interrupted."""
        self.is_open, self.running = False, False
        self._done()

    @rx.event
    async def begin(self, kind: str) -> Events:
        """Open the dialog for the marked rows of the page's list."""
        list_ = await self._listed()
        if list_ is None or self.running:
            return
        self.kind = one_of(kind, OMITTED)
        self._subjects, others = subjects_of(self.kind, list_._marked_rows())
        self._done()
        self.who, self.count = listed([s.name for s in self._subjects]), len(self._subjects)
        self.omitted = (
            f"{others} of the selected rows are {OMITTED.get(self.kind, '')} and are omitted." if others else ""
        )
        self.outcomes, self.known, self.refusals, self._items, self._unanswered = [], 0, 0, [], []
        zone = await self._zone()
        self.first_day, self.last_day, self.is_open = in_days(1, zone), in_days(365, zone), bool(self.kind)
        yield
        try:
            self.chain_options = options(await self._read_chains()) if self.kind == ATTEST else []
        except ApiProblem as problem:
            self._refused(problem)

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Send the action for every row; the outcomes appear as they arrive."""
        if self.saving or self.running or self.outcomes or not self._subjects:
            return
        self._begin()
        yield
        try:
            self._items = self._prepared(data, await self._zone())
        except ValueError as error:
            field, _, said = str(error).partition(": ")
            self.errors, self.saving = {field: said}, False
            return
        names = {s.party_id: s.name for s in self._subjects}
        places = {eid: chain.name for eid, chain in self._chains.items()} | {s.eid: s.chain for s in self._subjects}
        self.outcomes = waiting(self._items, names, places)
        async for events in self._send(self._groups(range(len(self._items)))):
            yield events

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

    def _groups(self, numbers: Sequence[int]) -> list[tuple[list[int], str]]:
        """Return items in groups of one call each, with its key."""
        starts = range(0, len(numbers), TOGETHER)
        return [(list(numbers[at : at + TOGETHER]), f"{self._form_key}:{at}") for at in starts]

    def _prepared(self, data: dict[str, Any], zone: tzinfo) -> list[dict[str, Any]]:
        """Return the items of the action. Raises ValueError with `field: message`."""
        said = named(data, "expires_at", "reason")
        if self.kind == VERIFY:
            return decisions(self._subjects, verification(data))
        if self.kind == REJECT:
            if not said["reason"]:
                raise ValueError("reason: Give a reason")
            return [{"party_id": s.party_id, "reason": said["reason"]} for s in self._subjects]
        chains = [number(name.removeprefix(CHAIN)) for name in texts(data) if name.startswith(CHAIN)]
        known = [eid for eid in chains if eid in self._chains]
        if self.kind == ATTEST and not known:
            raise ValueError("chains: Choose at least one chain")
        try:
            return attestations(self.kind, self._subjects, known, end_of(said["expires_at"][:20], zone))
        except ValueError as error:
            raise ValueError(f"expires_at: {error}") from error

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
                found = [refused(self.outcomes[i], _whole(problem)) for i in group]
            for i, outcome in zip(group, found, strict=True):
                self._note(i, outcome)
            yield
        self._done()
        self.running = False
        if list_ := await self._listed():
            list_.marked = []
            await list_._refresh()
        yield Tracker.watch

    def _note(self, number: int, outcome: Outcome) -> None:
        self.outcomes = [*self.outcomes[:number], outcome, *self.outcomes[number + 1 :]]
        self.known, self.refusals = counted(self.outcomes)

    async def _outcomes(self, group: Sequence[int], key: str) -> list[Outcome]:
        """Send some items in one call, or one after the other where the API has no batch; return their outcomes."""
        items, before = [dict(self._items[i]) for i in group], [self.outcomes[i] for i in group]
        if self.kind in (ATTEST, RENEW):
            return await self._attest(items, before, key)
        if self.kind == VERIFY:
            return await self._verify(items, before, key)
        return [await self._reject(item, one, f"{key}:{one.id}") for item, one in zip(items, before, strict=True)]

    async def _attest(self, items: list[dict[str, Any]], before: list[Outcome], key: str) -> list[Outcome]:
        org_id = self._org_id()
        answer = await self._api.create_attestations(
            org_id, body(AttestationBatch, {"items": items}), idempotency_key=key
        )
        return [
            accepted(one, made.request_id, made.message, org_id, waits=result.awaits_approval)
            if (made := result.acceptance)
            else refused(one, result.problem or {})
            for one, result in zip(before, answer.results, strict=True)
        ]

    async def _verify(self, items: list[dict[str, Any]], before: list[Outcome], key: str) -> list[Outcome]:
        wanted = body(PartyBatch, {"organization_id": self._org_id(), "items": items})
        answer = await self._api.verify_parties(wanted, idempotency_key=key)
        return [
            Outcome(one.id, one.name, status="verified", detail=f"KYC level {result.party.kyc_level}")
            if result.party
            else refused(one, result.problem or {})
            for one, result in zip(before, answer.results, strict=True)
        ]

    async def _reject(self, item: dict[str, Any], before: Outcome, key: str) -> Outcome:
        try:
            rejection = body(PartyReject, {"reason": item["reason"]})
            await self._api.reject_party(
                item["party_id"], rejection, organization_id=self._org_id(), idempotency_key=key
            )
        except ApiProblem as problem:
            return refused(before, _whole(problem))
        return Outcome(before.id, before.name, status="rejected")

    async def _listed(self) -> CaseList | None:
        """Return the list of the page."""
        wanted = LISTS.get(self.router.url.path.rstrip("/").rpartition("/")[2])
        return await self.get_state(wanted) if wanted is not None else None


def _whole(problem: ApiProblem) -> dict[str, Any]:
    """Return a problem of a whole call with its findings as the detail."""
    found = " ".join(f"{e.get('detail', '')}." for e in problem.errors)
    return problem.body | ({"detail": found} if found else {})
