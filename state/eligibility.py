"""Inviting people: addresses are found in a text, checked as it is typed, and invited in one go."""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from backend.members.schemas import Role
from state.addresses import LIMIT, find_addresses
from state.api import Loads, asks_for_proof
from state.given import one_of

SEVERITIES = ("error", "warning", "info", "ready")
LONGEST_TEXT = 40_000


@dataclass
class Finding:
    """Why an invitation may not lead where it should."""

    code: str
    severity: str
    message: str


@dataclass
class Address:
    """A row of the check. `outcome` is "", "sending", "invited", "awaiting_approval" or "refused", `said` what the API
    answered."""

    email: str
    severity: str = "ready"
    findings: list[Finding] = field(default_factory=list)
    is_chosen: bool = True
    can_invite: bool = True
    outcome: str = ""
    said: str = ""


@dataclass
class Requirements:
    """What the organization asks of its members; `seats` is negative where they are not limited or not known."""

    kyc: bool = False
    kyc_level: int = 0
    accredited: bool = False
    countries: list[str] = field(default_factory=list)
    domains: list[str] = field(default_factory=list)
    seats: int = -1
    limited: bool = False


class EligibilityState(Loads, rx.State):
    """The text's addresses and what stands against each."""

    rows: list[Address] = []
    asks: Requirements = Requirements()
    total: int = 0
    doubles: int = 0
    typed: bool = False
    checking: bool = False
    check_problem: str = ""
    severity: str = ""
    role: str = "client"
    inviting: bool = False
    done: int = 0
    _checked: list[str] = []

    @rx.var
    def shown(self) -> list[Address]:
        """The rows of the chosen severity, the gravest first."""
        kept = [row for row in self.rows if self.severity in ("", row.severity)]
        return sorted(kept, key=lambda row: SEVERITIES.index(row.severity))

    @rx.var
    def counts(self) -> dict[str, int]:
        """How many rows have each severity."""
        return {severity: sum(row.severity == severity for row in self.rows) for severity in SEVERITIES}

    @rx.var
    def chosen(self) -> int:
        """How many would be invited now."""
        return len(self._to_invite())

    @rx.var
    def is_too_many(self) -> bool:
        """Whether there are more than one check takes."""
        return self.total > LIMIT

    @rx.var
    def invited(self) -> int:
        """How many have been invited."""
        return sum(row.outcome == "invited" for row in self.rows)

    @rx.var
    def refused(self) -> int:
        """How many could not be invited."""
        return sum(row.outcome == "refused" for row in self.rows)

    @rx.var
    def waiting(self) -> int:
        """How many wait for a second person."""
        return sum(row.outcome == "awaiting_approval" for row in self.rows)

    def _to_invite(self) -> list[Address]:
        done = ("invited", "awaiting_approval")
        return [row for row in self.rows if row.is_chosen and row.can_invite and row.outcome not in done]

    @rx.event
    async def load(self):
        """Begin anew, with what the organization requires."""
        self._clear()
        try:
            record = await self._api("GET", "/orgs/{org}")
        except ApiProblem as problem:
            self._failed(problem)
            return
        self.asks = _asks(record["member_requirements"])
        self._loaded()

    def _clear(self) -> None:
        self.rows, self.total, self.doubles, self._checked = [], 0, 0, []
        self.check_problem, self.severity, self.inviting, self.done, self.typed = "", "", False, 0, False

    @rx.event(supersedes=True)
    async def write(self, text: str):
        """The text has changed: count its addresses, and check them where they are other ones than before."""
        if self.inviting:
            return
        found = find_addresses(str(text)[:LONGEST_TEXT])
        self.typed, self.doubles = bool(str(text).strip()), found.doubles
        self.total = len(found.addresses)
        if found.addresses == self._checked and not self.check_problem and not self.checking:
            return
        self.check_problem, self.severity, self._checked = "", "", found.addresses
        if not found.addresses or self.total > LIMIT:
            self.rows, self.checking = [], False
            return
        self.checking = True
        yield
        await self._check(found.addresses)

    @rx.event
    async def again(self):
        """Check the same addresses again."""
        if self._checked and self.total <= LIMIT and not self.inviting:
            self.checking, self.check_problem = True, ""
            yield
            await self._check(self._checked)

    async def _check(self, emails: list[str]) -> None:
        try:
            answer = await self._api("POST", "/orgs/{org}/members/invite-eligibility", json={"emails": emails})
        except ApiProblem as problem:
            self.rows, self.check_problem = [], problem.detail or problem.title
        else:
            known = {row.email: row for row in self.rows}
            self.rows = [_address(email, answer["warnings"], known.get(email)) for email in emails]
            self.asks = _required(answer["orgRequirements"])
        self.checking = False

    @rx.event
    def show(self, severity: str):
        """Show one severity, or all."""
        self.severity = one_of(severity, SEVERITIES)

    @rx.event
    def choose(self, email: str):
        """Take an address into the invitation, or out of it."""
        self.rows = [
            replace(r, is_chosen=not r.is_chosen) if r.email == email and r.can_invite else r for r in self.rows
        ]

    @rx.event
    def choose_all(self, severity: str):
        """Take every address of the shown severity in; where all of them are in, take them out."""
        mine = [row for row in self.rows if row.can_invite and row.severity == severity]
        to = not all(row.is_chosen for row in mine)
        self.rows = [replace(row, is_chosen=to) if row in mine else row for row in self.rows]

    @rx.event
    def invite_as(self, role: str):
        """Choose the role of the invitations."""
        self.role = one_of(role, Role, "client")

    @rx.event
    async def invite(self):
        """Invite the chosen ones, one after the other; each row says what came of it."""
        chosen = self._to_invite()
        if self.inviting or not chosen:
            return
        self.inviting, self.done = True, 0
        yield
        for row in chosen:
            outcome, said = await self._invite(row.email)
            if not outcome:  # a dialog asks for a proof, and repeats this for the rest
                self.inviting = False
                return
            self._put(row.email, outcome, said)
            self.done += 1
            if self.done % 5 == 0:
                yield
        self.inviting = False
        words = f"{self.invited:,} {'invitation is' if self.invited == 1 else 'invitations are'} sent"
        waits = "waits" if self.waiting == 1 else "wait"
        notes = [f"{self.waiting:,} {waits} for a second person." if self.waiting else ""]
        notes.append(f"{self.refused:,} could not be; the rows say why." if self.refused else "")
        tone, detail = "warn" if any(notes) else "ok", " ".join(filter(None, notes))
        await self._notify(words, detail, tone, f"/o/{self.org_id}/members?tab=invitations", "View")

    async def _invite(self, email: str) -> tuple[str, str]:
        """One invitation; waits where the API asks for patience. Nothing where it asks for a proof first."""
        body = {"email": email, "role": self.role}
        for _ in range(5):
            try:
                made = await self._api("POST", "/orgs/{org}/invitations", json=body)
            except ApiProblem as problem:
                if asks_for_proof(problem):
                    return "", ""
                if problem.status != 429:
                    words = next((e["detail"] for e in problem.errors), "") or problem.detail or problem.title
                    return "refused", words
                await asyncio.sleep(1)
            else:
                return ("awaiting_approval", "") if "requestId" in made else ("invited", "")
        return "refused", "Too many requests; try again in a minute."

    def _put(self, email: str, outcome: str, said: str) -> None:
        self.rows = [replace(row, outcome=outcome, said=said) if row.email == email else row for row in self.rows]


def _address(email: str, warnings: list[dict[str, str]], before: Address | None) -> Address:
    """A row from the API's findings; what was chosen and sent before is kept."""
    mine = [w for w in warnings if w["email"].casefold() == email.casefold()]
    findings = [Finding(w["code"], w["severity"], w["message"]) for w in mine]
    severity = min((f.severity for f in findings), key=SEVERITIES.index, default="ready")
    can_invite = not any(f.code == "invalid_email" for f in findings)
    row = Address(email, severity, findings, severity != "error" and can_invite, can_invite)
    if before is None:
        return row
    chosen = before.is_chosen if before.severity == severity else row.is_chosen
    return replace(row, is_chosen=chosen, outcome=before.outcome, said=before.said)


def _asks(of: dict[str, Any]) -> Requirements:
    """From the organization's record: how many seats are left is not known before the first check."""
    limited = of["seats"] is not None
    return Requirements(
        of["kyc_required"], of["min_kyc_level"], of["accreditation_required"], of["blocked_countries"],
        of["allowed_email_domains"], -1, limited,
    )  # fmt: skip


def _required(of: dict[str, Any]) -> Requirements:
    """From a check's answer."""
    seats = of["seatsRemaining"]
    return Requirements(
        of["kycRequired"], of["minKycLevel"], of["accreditationRequired"], of["blockedCountries"],
        of["allowedEmailDomains"], -1 if seats is None else seats, seats is not None,
    )  # fmt: skip
