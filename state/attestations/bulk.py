"""Actions on the marked parties and attestations of a list: attest, renew, verify, reject."""

from collections.abc import Sequence
from datetime import tzinfo
from typing import Any

import reflex as rx

from backend.attestations.schemas import AttestationBatch, AttestationStatus
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
    obstacles,
    omission,
    subjects_of,
    waiting,
)
from state.attestations.case import LISTS, CaseList
from state.attestations.detail import AttestationView, attestation_view
from state.attestations.revoked import read_revoked
from state.chains.lookup import Chains, options
from state.core.arguments import named, number, one_of, texts
from state.core.dates import end_of, in_days
from state.core.events import Events, call
from state.core.outcomes import Outcome, SendsItems, accepted, refused, whole
from state.parties.detail import verification
from state.requests.tracker import Tracker

CHAIN = "chain_"
"""The start of the names of the checkboxes for chains."""


NOBODY = {"id": "", "name": ""}


class Bulk(Chains, SendsItems, rx.State):
    """The dialog of an action on several records, and their outcomes."""

    kind: str = ""
    who: str = ""
    count: int = 0
    omitted: str = ""
    obstacles: str = ""
    """Why none of the marked parties can be attested."""
    undecided: dict[str, str] = NOBODY
    """The first marked party whose identity is not decided: what comes next if nothing can be attested."""
    revoked: list[AttestationView] = []
    """Latest attestations that were revoked: their parties are not attested there by an action on several rows."""
    chain_options: list[dict[str, str]] = []
    first_day: str = ""
    last_day: str = ""
    _subjects: list[Subject] = []

    @rx.event
    async def begin(self, kind: str) -> Events:
        """Open the dialog for the marked rows of the page's list."""
        list_ = await self._listed()
        if list_ is None or self.running:
            return
        self.kind = one_of(kind, OMITTED)
        marked = list_._marked_rows()
        self._subjects, others = subjects_of(self.kind, marked)
        self._done()
        self.who, self.count = listed([s.name for s in self._subjects]), len(self._subjects)
        self.omitted, self.revoked = omission(self.kind, others, len(marked)), []
        self.obstacles = obstacles(self.kind, marked)
        self.undecided = next(({"id": row.id, "name": row.name} for row in marked if _is_undecided(row)), NOBODY)
        self._forget()
        zone = await self._zone()
        self.first_day, self.last_day = in_days(1, zone), in_days(365, zone)
        try:  # before it opens, so that the focus starts in the first chain
            chains = options(await self._read_chains()) if self.kind == ATTEST else []
            self.chain_options = [chain | {"attested": ""} for chain in chains]
            await self._read_revoked()
        except ApiProblem as problem:
            self._refused(problem)
        self.is_open = bool(self.kind)
        yield
        if self.kind == ATTEST:
            await self._read_attested()

    @rx.event
    async def review(self) -> Events:
        """Close the dialog and open the case that must be decided first."""
        list_, wanted = await self._listed(), self.undecided["id"]
        self.is_open = False
        if list_ is not None and wanted:
            yield call(type(list_).choose, wanted)

    async def _read_attested(self) -> None:
        """Say at each chain which of the parties are attested there."""
        by_chain: dict[int, list[str]] = {}
        for subject in self._subjects:
            active = self._api.list_attestations(
                self._org_id(), party_id=subject.party_id, status=AttestationStatus.ACTIVE
            )
            try:
                page = await active
            except ApiProblem:
                return  # the page also works without it
            for one in page.attestations:
                by_chain.setdefault(one.chain_eid, []).append(subject.name)
        self.chain_options = [
            option | {"attested": listed(by_chain.get(int(option["value"]), []))} for option in self.chain_options
        ]

    async def _read_revoked(self) -> None:
        """Read which of the parties have a revoked attestation that this action could issue again."""
        if self.kind not in (ATTEST, RENEW):
            return
        if not self._chains:
            await self._read_chains()
        places = {s.party_id: {one.eid for one in self._subjects if one.party_id == s.party_id} for s in self._subjects}
        for party_id, eids in places.items():
            found = await read_revoked(self._api, self._org_id(), party_id)
            shown = [one for one in found if self.kind == ATTEST or one.chain_eid in eids]
            self.revoked = [*self.revoked, *(attestation_view(one, self) for one in shown)]

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
            items = attestations(self.kind, self._subjects, known, end_of(said["expires_at"][:20], zone))
        except ValueError as error:
            raise ValueError(f"expires_at: {error}") from error
        revoked = {(one.party_id, one.eid) for one in self.revoked}
        if not (left := [item for item in items if (item["party_id"], item["chain_eid"]) not in revoked]):
            raise ValueError("chains: Every one of these attestations was revoked. Attest the parties from their cases")
        return left

    async def _sent(self) -> Any:
        if list_ := await self._listed():
            list_.marked = []
            await list_._refresh()
        return Tracker.watch

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
            return refused(before, whole(problem))
        return Outcome(before.id, before.name, status="rejected")

    async def _listed(self) -> CaseList | None:
        """Return the list of the page."""
        wanted = LISTS.get(self.router.url.path.rstrip("/").rpartition("/")[2])
        return await self.get_state(wanted) if wanted is not None else None


def _is_undecided(row: Any) -> bool:
    return row.status in ("created", "verifying")
