"""Getting started: the steps from an empty organization to its first market, each performed in place."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

import reflex as rx

from backend.assets.schemas import AssetCreate
from backend.attestations.schemas import AttestationCreate
from backend.client import ApiProblem, body
from backend.core.fields import Acceptance
from backend.invitations.schemas import InvitationCreate
from backend.issuers.schemas import IssuerRegister
from backend.parties.schemas import PartyCreate, PartyStatus, PartyVerify
from backend.setup.schemas import Setup
from backend.wallets.schemas import WalletCreate
from state.attestations.revoked import refusal_to_attest
from state.chains.lookup import Chains
from state.compliance.rules import Rules, asset_body, checked
from state.core.api import Form
from state.core.arguments import id_of, number, texts
from state.core.countries import country_code
from state.core.dates import end_of, in_days
from state.core.events import Events
from state.core.units import to_base
from state.issuers.temporary_key import RegistersIssuer
from state.organizations.setup_words import COMPLETE_AT, FORMS, SetupStepView, step_view
from state.requests.tracker import Tracker

PAUSE = 2.0
"""Seconds between two checks where changes cannot be followed."""
YEAR = 365


class GettingStarted(RegistersIssuer, Chains, Form, rx.State):
    """The card of the overview. It follows what happens, here or elsewhere."""

    steps: list[SetupStepView] = []
    done: int = 0
    percent: int = 0
    opened: str = ""
    busy: str = ""
    options: list[dict[str, str]] = []
    waiting_party: str = ""
    _party_id: str = ""
    _of: str = ""

    async def _read(self) -> None:
        """Read the steps; without permission, and after the last one, the list is empty."""
        if self._of != self._org_id():
            self._of, self.steps, self.opened, self.busy = self._org_id(), [], "", ""
            self._done()
        try:
            self._show(await self._api.get_setup(self._org_id()))
        except ApiProblem:
            self.steps = []

    def _show(self, setup: Setup) -> None:
        """Show the steps; unchanged ones are not sent to the browser again."""
        counts = {status.step: status.count for status in setup.steps}
        is_over = setup.is_complete or any(counts[step] >= least for step, least in COMPLETE_AT.items())
        steps = [] if is_over else [step_view(status) for status in setup.steps]
        if steps != self.steps:
            self.steps = steps
            self.done = sum(step.state == "done" for step in steps)
            self.percent = round(100 * self.done / max(1, len(steps)))
        if self.opened and not any(self.opened in FORMS.get(s.name, ()) and s.state == "open" for s in steps):
            self.opened = ""

    @rx.event(background=True, supersedes=True)
    async def watch(self) -> None:
        """Read the steps after each event of the organization, as long as one is in progress on a chain."""
        async with self:
            path, org_id = self.router.url.path, self._org_id()
            if not self._is_busy():
                return
        async with self._api.changes(org_id, events=True) as changes:
            while await self._looked(path, org_id):
                await changes.wait(PAUSE)

    async def _looked(self, path: str, org_id: str) -> bool:
        try:
            setup = await self._api.get_setup(org_id)
        except ApiProblem:
            return False
        async with self:
            if self.router.url.path != path:
                return False
            self._show(setup)
            return self._is_busy()

    def _is_busy(self) -> bool:
        return any(step.state == "busy" for step in self.steps)

    @rx.event
    async def open_form(self, kind: str) -> None:
        """Open the form of a step, with the choices that it needs."""
        kind = next((k for kinds in FORMS.values() for k in kinds if k == kind), "")
        self._done()
        self.opened, self.options = "" if kind == self.opened else kind, []
        try:
            await self._prepare()
        except ApiProblem as problem:
            self._refused(problem)

    async def _prepare(self) -> None:
        if self.opened == "chain":
            chains = (await self._api.list_organization_chains(self._org_id())).chains
            usable = [chain for chain in chains if chain.market_factory_address and not chain.enabled]
            self.options = [{"value": str(c.id), "label": c.display_name or c.chain_name or str(c.id)} for c in usable]
        elif self.opened in ("attestation", "asset"):
            chains_by_eid = await self._read_chains()
            self.options = [{"value": str(c.eid), "label": c.name} for c in chains_by_eid.values() if c.enabled]
        if self.opened in ("verify", "attestation"):
            await self._find_party(PartyStatus.VERIFIED if self.opened == "attestation" else PartyStatus.CREATED)

    async def _find_party(self, status: PartyStatus) -> None:
        """Take the newest party in a status: the one that was just added."""
        page = await self._api.list_parties(organization_id=self._org_id(), status=status, limit=1)
        party = next(iter(page.parties), None)
        self._party_id, self.waiting_party = (str(party.id), party.name) if party else ("", "")
        if party is None:
            self.form_problem = "No party waits for this step. Open the parties."

    @rx.event
    async def create_treasury(self) -> Events:
        """Create the organization's first server wallet, which is the treasury."""
        async for event in self._do(
            "treasury", lambda: self._api.create_wallet(self._org_id(), WalletCreate(label="Treasury"))
        ):
            yield event

    @rx.event
    async def enable_chain(self, data: dict[str, Any]) -> Events:
        """Enable a chain."""
        chain_id = id_of(str(data.get("chain_id", "")))
        async for event in self._do("chain", lambda: self._api.enable_chain(self._org_id(), chain_id)):
            yield event

    @rx.event
    async def register(self, data: dict[str, Any]) -> Events:
        """Register as an issuer with a key that is valid for 5 minutes, to which the user has agreed."""
        if not data.get("consent"):
            self.errors = {"consent": "The console creates the key only with your consent"}
            return

        async def write() -> None:
            await self._accepted("Registering the issuer", await self._register_issuer(IssuerRegister()))

        async for event in self._do("register", write):
            yield event

    @rx.event
    async def add_party(self, data: dict[str, Any]) -> Events:
        """Add the first investor."""
        given = texts(data)
        fields = {
            "organization_id": self._org_id(),
            "kind": "company" if given.get("kind") == "company" else "person",
            "name": given.get("name", ""),
            "country": country_code(given.get("country", "")[:100]),
            "wallet_address": given.get("wallet_address", "").strip() or None,
        }
        async for event in self._do("party", lambda: self._api.create_party(body(PartyCreate, fields))):
            yield event

    @rx.event
    async def verify(self, data: dict[str, Any]) -> Events:
        """Verify the identity of the party that waits."""
        fields = {"kyc_level": number(data.get("kyc_level")), "accredited": bool(data.get("accredited"))}
        party_id = self._party_id
        async for event in self._do("verify", lambda: self._api.verify_party(party_id, body(PartyVerify, fields))):
            yield event

    @rx.event
    async def attest(self, data: dict[str, Any]) -> Events:
        """Attest the newest verified party, for a year."""
        eid = number(data.get("chain_eid"))
        fields = {
            "party_id": self._party_id,
            "chain_eid": eid,
            "expires_at": end_of(in_days(YEAR)),
        }

        async def write() -> None:
            why = await refusal_to_attest(self._api, self._org_id(), self._party_id, eid)
            if why:
                raise ApiProblem({"title": "Conflict", "status": HTTPStatus.CONFLICT, "detail": why})
            accepted = await self._api.create_attestation(self._org_id(), body(AttestationCreate, fields))
            await self._accepted(f"Attesting {self.waiting_party}", accepted.request_id)

        async for event in self._do("attestation", write):
            yield event

    @rx.event
    async def create_asset(self, data: dict[str, Any]) -> Events:
        """Create an asset for verified investors; its other rules can be changed at any time."""
        given = texts(data)
        try:
            supply = to_base(given.get("initial_supply") or "0", 18)
        except ValueError as error:
            self.errors = {"initial_supply": str(error)}
            return
        fields = asset_body(checked(Rules(level=1), 18)) | {
            "name": given.get("name", ""),
            "symbol": given.get("symbol", "").strip().upper(),
            "chain_eid": number(given.get("chain_eid")),
            "decimals": 18,
            "initial_supply": supply,
        }

        async def write() -> None:
            accepted = await self._api.create_asset(self._org_id(), body(AssetCreate, fields))
            await self._accepted(f"Deploying {fields['symbol']}", accepted.request_id)

        async for event in self._do("asset", write):
            yield event

    @rx.event
    async def invite(self, data: dict[str, Any]) -> Events:
        """Invite the first colleague."""
        fields = {name: str(data.get(name, "")).strip() for name in ("email", "role")}

        async def write() -> None:
            answer = await self._api.invite(self._org_id(), body(InvitationCreate, fields))
            if isinstance(answer, Acceptance):
                await self._accepted(f"Inviting {fields['email']}", answer.request_id)

        async for event in self._do("invitation", write):
            yield event

    async def _do(self, kind: str, write: Callable[[], Awaitable[object]]) -> Events:
        """Make a step's call: only one at a time, and only while its form is open."""
        if self.saving or (kind not in ("treasury", self.opened)):
            return
        self._begin()
        self.busy = kind
        yield
        try:
            await write()
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at(*FIELDS)
            self.busy = ""
            return
        self._done()
        self.busy, self.opened = "", ""
        await self._read()
        yield [Tracker.watch, GettingStarted.watch]


FIELDS = (
    "chain_id",
    "name",
    "country",
    "wallet_address",
    "kyc_level",
    "chain_eid",
    "symbol",
    "initial_supply",
    "email",
)
"""Fields of the forms; findings about any other are shown below."""
