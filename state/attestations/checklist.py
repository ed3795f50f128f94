"""Issuing an attestation: the first attempt, its missing prerequisites, and the automatic retry."""

from collections.abc import Awaitable, Callable
from copy import copy
from dataclasses import replace
from typing import Any

import reflex as rx

from backend.attestations.schemas import AttestationAccepted, AttestationCreate
from backend.client import ApiProblem, body
from backend.issuers.schemas import IssuerRegister
from backend.parties.schemas import PartyUpdate, PartyVerify
from backend.requests.schemas import RequestStatus
from backend.wallets.schemas import WalletCreate
from state.attestations.case import Case
from state.core.dialogs import DialogAbout
from state.core.edits import Edits
from state.core.events import Events, Next
from state.core.prerequisites import Prerequisite, prerequisites_of
from state.issuers.temporary_key import RegistersIssuer
from state.parties.detail import party_view, values_of, verification
from state.requests.tracker import Tracker

PAUSE = 1.0
"""Seconds between two checks of the open prerequisites where changes cannot be followed."""
TITLES = {
    "party_exists": "Party exists",
    "party_verified": "Identity verified",
    "chain_enabled": "Chain enabled",
    "attestation_eligible": "Ready to attest",
}
KINDS = (
    ("/issuer", "register"), ("/enable", "enable"), ("/wallets", "wallet"), ("/verify", "verify"),
    ("/identity/parties/", "address"),
)  # fmt: skip
"""What a resolution does, by its path; the first match counts."""


class Checklist(RegistersIssuer, Edits, DialogAbout, rx.State):
    """The dialog of missing prerequisites. It follows what happens, and issues the attestation once all are met."""

    who: str = ""
    items: list[Prerequisite] = []
    kinds: dict[str, str] = {}
    done: int = 0
    percent: int = 0
    opened: str = ""
    waits: bool = False
    _attestation: AttestationCreate | None = None
    _chain_id: str = ""
    _request_id: str = ""

    async def _attempt(self, attestation: AttestationCreate, who: str, key: str) -> AttestationAccepted | None:
        """Request the attestation: return the API's acceptance, or None after opening the checklist.

        Raises ApiProblem for every other refusal.
        """
        self._attestation = attestation
        try:
            return await self._api.create_attestation(self._org_id(), attestation, idempotency_key=key)
        except ApiProblem as problem:
            if not problem.prerequisites:
                raise
            self.who, self.is_open, self.opened, self.waits, self._request_id = who, True, "", False, ""
            self._done()
            self._list(problem)
            return None

    def _list(self, problem: ApiProblem) -> None:
        """Show the prerequisites of a refusal; unchanged ones are not sent to the browser again."""
        items = [
            replace(item, title=TITLES.get(item.name, item.title), call="" if item.state == "done" else item.call)
            for item in prerequisites_of(problem, self._org_id())
        ]
        paths = {entry["state"]: str(entry["resolution"]["path"]) for entry in problem.prerequisites}
        self._chain_id = next((path.split("/")[-2] for path in paths.values() if path.endswith("/enable")), "")
        kinds = {name: next((kind for part, kind in KINDS if part in path), "") for name, path in paths.items()}
        if items != self.items or kinds != self.kinds:
            self.items, self.kinds = items, kinds
            self.done = sum(item.state == "done" for item in items)
            self.percent = round(100 * self.done / max(1, len(items)))
            open_kind = next((kinds[item.name] for item in items if item.state == "open"), "")
            self.opened = self.opened if self.opened == open_kind else ""
        self.waits = any(entry["resolution"]["method"] == "GET" for entry in problem.prerequisites)

    @rx.event(background=True, supersedes=True)
    async def watch(self) -> Events:
        """Check the prerequisites after each event of the organization, until all are met; then issue the attestation.

        A failed registration is no event, so the request that was started here is followed too.
        """
        async with self:
            path, org_id, request_id = self.router.url.path, self._org_id(), self._request_id or None
        async with self._api.changes(org_id, request_id, events=True) as changes:
            while (is_met := await self._are_met(path)) is False:
                await self._check_registration()
                await changes.wait(PAUSE)
        if is_met:
            yield Checklist.finish

    async def _are_met(self, path: str) -> bool | None:
        """Return whether every prerequisite is met; None if the dialog is closed or the attestation is refused."""
        async with self:
            attestation = self._wanted()
            if not self.is_open or attestation is None or self.router.url.path != path:
                return None
        try:
            await self._api.create_attestation(self._org_id(), attestation, dry_run=True)
        except ApiProblem as problem:
            async with self:
                if not self.is_open or self.router.url.path != path:
                    return None
                if not problem.prerequisites:
                    self.form_problem = problem.detail or problem.title
                    return None
                self._list(problem)
            return False
        return True

    async def _check_registration(self) -> None:
        """Report a failed registration that was started here."""
        if not self._request_id:
            return
        request = await self._api.get_request(self._org_id(), self._request_id)
        if request.status is RequestStatus.FAILED:
            async with self:
                self.form_problem = (request.problem or {}).get("detail") or "The registration failed."
                self.waits, self._request_id = False, ""

    @rx.event
    async def finish(self) -> Events:
        """Issue the attestation; every prerequisite is met."""
        attestation = self._wanted()
        if not self.is_open or self.saving or attestation is None:
            return
        self.items = [replace(item, state="done", call="") for item in self.items]
        self.done, self.percent, self.opened = len(self.items), 100, ""
        self._begin()
        yield
        try:
            accepted = await self._api.create_attestation(self._org_id(), attestation, idempotency_key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at()
            return
        self._close()
        yield await self._issued(accepted, self.who)

    async def _issued(self, accepted: AttestationAccepted, who: str) -> list[Next]:
        """Show and follow the attestation; return the events to yield."""
        await self._accepted(f"Attesting {who}", accepted.request_id)
        case = await self.get_state(Case)
        await case._open_attestation(str(accepted.attestationId))
        await case._refresh_list()
        return [Tracker.watch, case._follow(accepted.request_id)]

    @rx.event
    async def open_form(self, kind: str) -> None:
        """Show the form of an open prerequisite; those of the party begin with its current version."""
        self.errors, self.form_problem, self.others = {}, "", []
        self.opened = kind if kind in ("verify", "address", "register") else ""
        if self.opened in ("verify", "address") and self._attestation:
            try:
                await self._start()
            except ApiProblem as problem:
                self._refused(problem)

    async def _current(self) -> dict[str, str]:
        return values_of(party_view(await self._api.get_party(self._party_id(), organization_id=self._org_id())))

    @rx.event
    async def verify(self, data: dict[str, Any]) -> Events:
        """Verify the party from within the checklist."""
        fields = verification(data)
        async for event in self._resolve(
            "verify",
            lambda: self._api.verify_party(self._party_id(), body(PartyVerify, fields), if_match=self._version),
        ):
            yield event

    @rx.event
    async def write_address(self, data: dict[str, Any]) -> Events:
        """Save the party's wallet from within the checklist."""
        fields = {"wallet_address": str(data.get("wallet_address", "")).strip()[:100]}
        async for event in self._resolve(
            "address",
            lambda: self._api.update_party(self._party_id(), body(PartyUpdate, fields), if_match=self._version),
        ):
            yield event

    @rx.event
    async def enable_chain(self) -> Events:
        """Enable the required chain."""
        async for event in self._resolve("enable", lambda: self._api.enable_chain(self._org_id(), self._chain_id)):
            yield event

    @rx.event
    async def create_wallet(self) -> Events:
        """Create the organization's first server wallet."""
        async for event in self._resolve(
            "wallet", lambda: self._api.create_wallet(self._org_id(), WalletCreate(label="Treasury"))
        ):
            yield event

    def _wanted(self) -> AttestationCreate | None:
        """Return the attestation to issue, as a copy: pydantic cannot serialize the proxy around a state's variable."""
        return copy(self._attestation)

    def _party_id(self) -> str:
        return str(self._attestation.party_id) if self._attestation else ""

    async def _resolve(self, kind: str, write: Callable[[], Awaitable[object]]) -> Events:
        """Make the call that resolves a prerequisite, if the API named this kind of call. Its ids come from the API."""
        if kind not in self.kinds.values() or self.saving or not self.is_open:
            return
        self._begin()
        yield
        try:
            await write()
        except ApiProblem as problem:
            await self._reject(problem, "kyc_level", "reason", "wallet_address")
            return
        self._done()
        self.opened = ""
        await (await self.get_state(Case))._refresh()
        yield Checklist.watch

    @rx.event
    async def register(self, data: dict[str, Any]) -> Events:
        """Register as an issuer with a key that is valid for 5 minutes, to which the user has agreed."""
        if not data.get("consent"):
            self.errors = {"consent": "The console creates the key only with your consent"}
            return
        self._begin()
        yield
        try:
            self._request_id = await self._register_issuer(IssuerRegister())
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at()
            return
        self._done()
        self.waits, self.opened = True, ""
        yield [Tracker.watch, Checklist.watch]
