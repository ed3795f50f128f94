"""Issuing an attestation: the first try, what it asks for beforehand, and going on by itself."""

import asyncio
from dataclasses import replace
from typing import Any

import reflex as rx
from pydantic import ValidationError

from backend.attestations.schemas import AttestationCreate
from backend.client import ApiProblem
from backend.parties.schemas import PartyUpdate, PartyVerify
from state.api import Form
from state.case import Case
from state.fields import findings
from state.issuer_key import RegistersIssuer
from state.prerequisites import Prerequisite, prerequisites_of
from state.requests import Tracker

PAUSE = 1.0
"""Seconds between two looks at what is still open."""
TITLES = {
    "party_exists": "Party exists",
    "party_verified": "Identity verified",
    "attestation_eligible": "Ready to attest",
}
KINDS = (
    ("/issuer/register", "register"), ("/enable", "enable"), ("/wallets", "wallet"), ("/verify", "verify"),
    ("/identity/parties/", "address"),
)  # fmt: skip
"""What a resolution's path is about, the first that fits."""


class Checklist(RegistersIssuer, Form, rx.State):
    """The dialog of a refused attestation: everything it needs first. It watches, and goes on when all is there."""

    is_open: bool = False
    who: str = ""
    items: list[Prerequisite] = []
    kinds: dict[str, str] = {}
    done: int = 0
    percent: int = 0
    opened: str = ""
    waits: bool = False
    _body: dict[str, Any] = {}
    _paths: dict[str, str] = {}
    _request_id: str = ""

    async def _attempt(self, body: AttestationCreate, who: str, key: str) -> Any:
        """Ask for the attestation: the API's acceptance, or None where the checklist has opened.

        Raises ApiProblem for every other refusal.
        """
        self._body = body.model_dump(mode="json", exclude_none=True)
        try:
            return await self._api("POST", "/orgs/{org}/attestations", json=self._body, key=key)
        except ApiProblem as problem:
            if not problem.prerequisites:
                raise
            self.who, self.is_open, self.opened, self.waits, self._request_id = who, True, "", False, ""
            self._done()
            self._list(problem)
            return None

    def _list(self, problem: ApiProblem) -> None:
        """Show what a refusal asks for; what was shown already is not sent again."""
        items = [
            replace(item, title=TITLES.get(item.name, item.title), call="" if item.state == "done" else item.call)
            for item in prerequisites_of(problem, str(self.org_id))
        ]
        self._paths = {entry["state"]: entry["resolution"]["path"] for entry in problem.prerequisites}
        kinds = {name: next((kind for part, kind in KINDS if part in path), "") for name, path in self._paths.items()}
        if items != self.items or kinds != self.kinds:
            self.items, self.kinds = items, kinds
            self.done = sum(item.state == "done" for item in items)
            self.percent = round(100 * self.done / max(1, len(items)))
            open_kind = next((kinds[item.name] for item in items if item.state == "open"), "")
            self.opened = self.opened if self.opened == open_kind else ""
            self.waits = self.waits and open_kind == "register"

    @rx.event
    def show(self, is_open: bool):
        """Close it; nothing is undone."""
        self.is_open = bool(is_open) and self.is_open

    @rx.event(background=True, supersedes=True)
    async def watch(self):
        """Look again until everything is there, then go on with what was asked for first."""
        while True:
            async with self:
                body, path = self._body, self.router.url.path
                if not self.is_open:
                    return
            try:
                await self._api("POST", "/orgs/{org}/attestations", json=body, params={"dry_run": "true"})
                yield Checklist.finish
                return
            except ApiProblem as problem:
                async with self:
                    if not self.is_open or self.router.url.path != path:
                        return
                    if not problem.prerequisites:
                        self.form_problem = problem.detail or problem.title
                        return
                    self._list(problem)
            await self._look_at_registration()
            await asyncio.sleep(PAUSE)

    async def _look_at_registration(self) -> None:
        """A registration that was begun here and failed is told here."""
        if not self._request_id:
            return
        request = await self._api("GET", f"/orgs/{{org}}/requests/{self._request_id}")
        if request["status"] == "failed":
            async with self:
                self.form_problem = (request["problem"] or {}).get("detail") or "The registration failed."
                self.waits, self._request_id = False, ""

    @rx.event
    async def finish(self):
        """Everything is there: issue the attestation."""
        if not self.is_open or self.saving:
            return
        self.items = [replace(item, state="done", call="") for item in self.items]
        self.done, self.percent, self.opened = len(self.items), 100, ""
        self._begin()
        yield
        try:
            answer = await self._api("POST", "/orgs/{org}/attestations", json=self._body, key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at()
            return
        self._done()
        self.is_open = False
        yield await self._issued(answer, self.who)

    async def _issued(self, answer: dict[str, Any], who: str) -> list[Any]:
        """Show the attestation and follow it; the events to yield."""
        await self._accepted(f"Attesting {who}", answer["requestId"])
        case = await self.get_state(Case)
        await case._open_attestation(answer["attestationId"])
        await case._refresh_list()
        return [Tracker.watch, case._follow(answer["requestId"])]

    @rx.event
    def open_form(self, kind: str):
        """Show the form of an open entry."""
        self.errors, self.form_problem = {}, ""
        self.opened = kind if kind in ("verify", "address", "register") else ""

    @rx.event
    async def verify(self, data: dict[str, Any]):
        """Verify the party, from within the list."""
        given = {
            "kyc_level": int(text) if (text := str(data.get("kyc_level", ""))).isdigit() else text,
            "accredited": bool(data.get("accredited")),
            "reason": str(data.get("reason", "")) or None,
        }
        async for event in self._resolve("party_verified", "POST", PartyVerify, given):
            yield event

    @rx.event
    async def write_address(self, data: dict[str, Any]):
        """Write down the party's wallet, from within the list."""
        given = {"wallet_address": str(data.get("wallet_address", "")).strip()[:100]}
        async for event in self._resolve("attestation_eligible", "PATCH", PartyUpdate, given):
            yield event

    @rx.event
    async def enable_chain(self):
        """Enable the chain that is asked for."""
        async for event in self._resolve("attestation_eligible", "POST", None, None):
            yield event

    @rx.event
    async def create_wallet(self):
        """Make the organization's first server wallet."""
        async for event in self._resolve("attestation_eligible", "POST", None, {"label": "Treasury"}):
            yield event

    async def _resolve(self, name: str, method: str, schema: Any, given: dict[str, Any] | None) -> Any:
        """Do the call that the API named for an entry; its path is the API's own, never the browser's."""
        path = self._paths.get(name, "").removeprefix("/v1")
        if not path or self.saving or not self.is_open:
            return
        self._begin()
        yield
        try:
            body = (
                schema.model_validate(given).model_dump(mode="json", exclude_unset=True) if schema and given else given
            )
            await self._api(method, path, json=body)
        except ValidationError as error:
            self.errors, self.saving = findings(error), False
            return
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("kyc_level", "reason", "wallet_address")
            return
        self._done()
        self.opened = ""
        await (await self.get_state(Case))._refresh()
        yield Checklist.watch

    @rx.event
    async def register(self, data: dict[str, Any]):
        """Register as an issuer with a key of five minutes, which the person has agreed to."""
        if not data.get("consent"):
            self.errors = {"consent": "The console makes the key only if you agree"}
            return
        self._begin()
        yield
        try:
            self._request_id = await self._register_issuer({})
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at()
            return
        self._done()
        self.waits, self.opened = True, ""
        yield [Tracker.watch, Checklist.watch]
