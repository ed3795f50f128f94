"""Inviting people: addresses are found in a text, checked while it is typed, and invited together."""

import asyncio
from dataclasses import replace

import reflex as rx

from backend.client import ApiProblem, body
from backend.core.fields import Acceptance
from backend.invitations.schemas import InvitationCreate
from backend.mail.schemas import MailStatus
from backend.members.schemas import EligibilityCheck
from backend.users.schemas import Role
from state.core.addresses import MOST, batches, find_addresses
from state.core.api import Loads, asks_for_proof
from state.core.arguments import one_of
from state.core.events import Events
from state.core.toasts import Tone
from state.invitations.views import (
    SEVERITIES,
    AddressView,
    RequirementsView,
    address_view,
    checked_requirements,
    requirements_view,
)

LONGEST_TEXT = 100_000
NOT_SENT = "No mail server is set, so no email was sent. The operator prints the links with signum outbox."


class EligibilityState(Loads, rx.State):
    """The text's addresses and the findings about each."""

    rows: list[AddressView] = []
    requirements: RequirementsView = RequirementsView()
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
    _is_kept: bool = False
    """Whether the emails stay in the outbox, because no mail server is set."""

    @rx.var
    def shown(self) -> list[AddressView]:
        """Return the rows of the selected severity, the most severe first."""
        kept = [row for row in self.rows if self.severity in ("", row.severity)]
        return sorted(kept, key=lambda row: SEVERITIES.index(row.severity))

    @rx.var
    def counts(self) -> dict[str, int]:
        """Count the rows of each severity."""
        return {severity: sum(row.severity == severity for row in self.rows) for severity in SEVERITIES}

    @rx.var
    def chosen(self) -> int:
        """Count the addresses to invite."""
        return len(self._to_invite())

    @rx.var
    def unchecked(self) -> int:
        """Count the addresses that are not checked."""
        return max(self.total - MOST, 0)

    @rx.var
    def invited(self) -> int:
        """Count the invited addresses."""
        return sum(row.outcome == "invited" for row in self.rows)

    @rx.var
    def refused(self) -> int:
        """Count the refused invitations."""
        return sum(row.outcome == "refused" for row in self.rows)

    @rx.var
    def waiting(self) -> int:
        """Count the invitations that wait for a second person."""
        return sum(row.outcome == "awaiting_approval" for row in self.rows)

    def _to_invite(self) -> list[AddressView]:
        done = ("invited", "awaiting_approval")
        return [row for row in self.rows if row.is_chosen and row.can_invite and row.outcome not in done]

    @rx.event
    async def load(self) -> None:
        """Reset the page, with the organization's requirements."""
        self._clear()
        try:
            organization = await self._api.get_organization(self._org_id())
        except ApiProblem as problem:
            self._failed(problem)
            return
        self.requirements = requirements_view(organization.member_requirements)
        self._loaded()

    def _clear(self) -> None:
        self.rows, self.total, self.doubles, self._checked = [], 0, 0, []
        self.check_problem, self.severity, self.inviting, self.done, self.typed = "", "", False, 0, False

    @rx.event(supersedes=True)
    async def write(self, text: str) -> Events:
        """Count the text's addresses, and check them if they have changed."""
        if self.inviting:
            return
        found = find_addresses(str(text)[:LONGEST_TEXT])
        self.typed, self.doubles = bool(str(text).strip()), found.doubles
        self.total = len(found.addresses)
        if found.addresses == self._checked and not self.check_problem and not self.checking:
            return
        self.check_problem, self.severity, self._checked = "", "", found.addresses
        async for event in self._check(found.addresses):
            yield event

    @rx.event
    async def again(self) -> Events:
        """Check the addresses that have no result yet."""
        if self._checked and not self.inviting:
            self.check_problem = ""
            async for event in self._check(self._checked):
                yield event

    async def _check(self, emails: list[str]) -> Events:
        """Check the addresses that have no result yet, call by call; each result appears immediately."""
        order = {email: i for i, email in enumerate(emails[:MOST])}
        kept = {row.email: row for row in self.rows if row.email in order}
        self.rows = [kept[email] for email in order if email in kept]
        missing = [email for email in order if email not in kept]
        self.checking = bool(missing)
        yield
        for some in batches(missing):
            try:
                result = await self._api.check_eligibility(self._org_id(), body(EligibilityCheck, {"emails": some}))
            except ApiProblem as problem:
                self.check_problem = problem.detail or problem.title
                break
            found = [address_view(email, result.warnings) for email in some]
            self.rows = sorted([*self.rows, *found], key=lambda row: order[row.email])
            self.requirements = checked_requirements(result.orgRequirements)
            yield
        self.checking = False

    @rx.event
    def show(self, severity: str) -> None:
        """Show one severity, or all."""
        self.severity = one_of(severity, SEVERITIES)

    @rx.event
    def choose(self, email: str) -> None:
        """Select or deselect an address for the invitation."""
        self.rows = [
            replace(r, is_chosen=not r.is_chosen) if r.email == email and r.can_invite else r for r in self.rows
        ]

    @rx.event
    def invite_as(self, role: str) -> None:
        """Choose the role of the invitations."""
        self.role = one_of(role, Role, "client")

    @rx.event
    async def invite(self) -> Events:
        """Invite the selected addresses one after the other; each row shows its outcome."""
        chosen = self._to_invite()
        if self.inviting or not chosen:
            return
        self.inviting, self.done = True, 0
        yield
        for row in chosen:
            outcome, reason = await self._invite(row.email)
            if not outcome:  # a dialog asks for a proof, and repeats this for the rest
                self.inviting = False
                return
            self._put(row.email, outcome, reason)
            self.done += 1
            if self.done % 5 == 0:
                yield
        self.inviting = False
        many = f"{self.invited:,} {'invitation' if self.invited == 1 else 'invitations'}"
        words = f"{many} created" if self._is_kept else f"{many} sent"
        waits = "waits" if self.waiting == 1 else "wait"
        notes = [NOT_SENT if self._is_kept and self.invited else ""]
        notes.append(f"{self.waiting:,} {waits} for a second person." if self.waiting else "")
        notes.append(f"{self.refused:,} could not be sent; see the rows for the reasons." if self.refused else "")
        tone: Tone = "warn" if any(notes) else "ok"
        detail = " ".join(filter(None, notes))
        await self._notify(words, detail, tone, f"/o/{self._org_id()}/members?tab=invitations", "View")

    async def _invite(self, email: str) -> tuple[str, str]:
        """Send one invitation, waiting if the API says so; return nothing if it requires a proof of identity first."""
        for _ in range(5):
            try:
                invitation = body(InvitationCreate, {"email": email, "role": self.role})
                answer = await self._api.invite(self._org_id(), invitation)
            except ApiProblem as problem:
                if asks_for_proof(problem):
                    return "", ""
                if problem.status != 429:
                    words = next((e["detail"] for e in problem.errors), "") or problem.detail or problem.title
                    return "refused", words
                await asyncio.sleep(1)  # no poll: the rate limit frees a place
            else:
                if isinstance(answer, Acceptance):
                    return "awaiting_approval", ""
                self._is_kept = answer.delivery == MailStatus.KEPT
                return "invited", ""
        return "refused", "Too many requests. Try again in a minute."

    def _put(self, email: str, outcome: str, reason: str) -> None:
        self.rows = [replace(row, outcome=outcome, reason=reason) if row.email == email else row for row in self.rows]
