"""What an organization sets for itself: its name and network, whom it invites, what needs a second person."""

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from backend.requests.schemas import Action
from state.api import Form, Loads
from state.approvals import ApprovalCount
from state.countries import country_code
from state.given import named, number, texts
from state.ip_ranges import name_entries, ranges_of
from state.session import Session

LINES = 200
"""Entries a list may have before the API says that it is too long."""


@dataclass
class Given:
    """The organization's record as the forms begin with it. `version` is when it was last written."""

    name: str = ""
    network: str = "testnet"
    kyc_required: bool = False
    min_kyc_level: str = "0"
    accreditation_required: bool = False
    blocked_countries: str = ""
    allowed_email_domains: str = ""
    seats: str = ""
    approvals: list[str] = field(default_factory=list)
    approver_wait_hours: str = "24"
    require_second_factor: bool = False
    allowed_ip_ranges: str = ""
    version: str = ""


class Settings(Loads, rx.State):
    """The record."""

    given: Given = Given()

    @rx.event
    async def load(self):
        """Read it."""
        await self._read()

    async def _read(self) -> None:
        try:
            self.given = _given(await self._api("GET", "/orgs/{org}"))
            self._loaded()
        except ApiProblem as problem:
            self._failed(problem)


class Saves(Form, mixin=True):
    """Mixin of a form that patches the organization."""

    async def _save(self, body: dict[str, Any], said: str) -> bool:
        """Send a patch; whether it was taken."""
        try:
            await self._api("PATCH", "/orgs/{org}", json=body, key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            return False
        self._done()
        await (await self.get_state(Settings))._read()
        await self._notify(said)
        return True


class Asks(Saves, mixin=True):
    """Mixin of a form whose change may need a second person. `asks` is whether one can be asked now."""

    asks: bool = False

    async def _ask(self, body: dict[str, Any]) -> bool:
        """Ask a second person for a change of the policy; whether the question was taken."""
        try:
            answer = await self._api("POST", "/orgs/{org}/approvals", json=body, key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            return False
        self._done()
        self.asks = False
        await self._accepted("A second person is asked", answer["requestId"], "It changes when they approve it.")
        return True


class ProfileForm(Saves, rx.State):
    """Name and network."""

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Save them."""
        self._begin()
        yield
        if await self._save(named(data, "name", "network"), "The organization is saved"):
            session = await self.get_state(Session)
            await session._again()


class RequirementsForm(Saves, rx.State):
    """Whom the organization invites."""

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Save them."""
        self._begin()
        yield
        if body := self._requirements(texts(data)):
            await self._save({"member_requirements": body}, "The requirements are saved")
            self._keep_at("allowed_email_domains", "blocked_countries", "min_kyc_level", "seats")

    def _requirements(self, given: dict[str, str]) -> dict[str, Any]:
        """What the form says, as the API takes it; empty where the seats are no number."""
        seats = given.get("seats", "").strip()
        if seats and not number(seats):
            self.saving, self.errors = False, {"seats": "A whole number from 1, or empty for no limit"}
            return {}
        return {
            "kyc_required": "kyc_required" in given,
            "accreditation_required": "accreditation_required" in given,
            "min_kyc_level": number(given.get("min_kyc_level", "")),
            "allowed_email_domains": _entries(given.get("allowed_email_domains", "")),
            "blocked_countries": [country_code(one) for one in _entries(given.get("blocked_countries", ""))],
            "seats": number(seats) or None,
        }


class SecurityForm(Asks, rx.State):
    """Whether everybody needs a second factor."""

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Save it."""
        self._begin()
        yield
        self.asks = False
        wanted = "require_second_factor" in texts(data)
        saved = await self._save({"require_second_factor": wanted}, "The sign-in rules are saved")
        self.asks = not saved and not wanted

    @rx.event
    async def ask(self):
        """Ask a second person to let people sign in without a second factor."""
        self._begin()
        yield
        approvals = (await self.get_state(Settings)).given.approvals
        if await self._ask({"approvals": approvals, "require_second_factor": False}):
            yield ApprovalCount.look


class IpRangesForm(Asks, rx.State):
    """From which IP addresses people and keys may call."""

    _ranges: list[str] = []

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Save them."""
        self._begin()
        self._ranges = ranges_of(data)
        yield
        self.asks = False
        await self._save({"allowed_ip_ranges": self._ranges}, "The allowed IP ranges are saved")

    @rx.event
    async def ask(self):
        """Ask a second person to agree to the ranges."""
        self._begin()
        yield
        approvals = (await self.get_state(Settings)).given.approvals
        if await self._ask({"approvals": approvals, "allowed_ip_ranges": self._ranges}):
            yield ApprovalCount.look

    def _refused(self, problem: ApiProblem) -> None:
        name_entries(problem, self._ranges)
        self.asks = problem.status == HTTPStatus.CONFLICT and "/approvals" in problem.detail
        super()._refused(problem)


class PolicyForm(Asks, rx.State):
    """What needs a second person. `_asked` is what may be asked for, where it cannot be saved alone."""

    _asked: dict[str, Any] = {}

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Save it. What one person may not lift alone is offered as a question to another one."""
        self._begin()
        self.asks = False
        yield
        wanted = [str(action) for action in Action if str(action) in texts(data)]
        written = texts(data).get("approver_wait_hours", "").strip()
        if not written.isascii() or not written.isdigit():
            self.saving, self.errors = False, {"approver_wait_hours": "A whole number of hours from 0 to 168"}
            return
        wait = number(written)
        given = (await self.get_state(Settings)).given
        lifts = set(given.approvals) - set(wanted) or wait < number(given.approver_wait_hours)
        body = {"approvals": wanted, "approver_wait_hours": wait}
        if not await self._save(body, "What needs a second person is saved") and lifts:
            self.asks, self._asked = True, body

    @rx.event
    async def ask(self):
        """Ask a second person to agree to the change."""
        self._begin()
        yield
        if self._asked and await self._ask(self._asked):
            yield ApprovalCount.look


def _given(told: dict[str, Any]) -> Given:
    asked = told["member_requirements"]
    return Given(
        name=told["name"],
        network=told["network"],
        kyc_required=asked["kyc_required"],
        min_kyc_level=str(asked["min_kyc_level"]),
        accreditation_required=asked["accreditation_required"],
        blocked_countries=", ".join(asked["blocked_countries"]),
        allowed_email_domains=", ".join(asked["allowed_email_domains"]),
        seats=str(asked["seats"] or ""),
        approvals=told["approvals"],
        approver_wait_hours=str(told["approver_wait_hours"]),
        require_second_factor=told["require_second_factor"],
        allowed_ip_ranges="\n".join(told["allowed_ip_ranges"]),
        version=told["updated_at"],
    )


def _entries(text: str) -> list[str]:
    """What stands between commas, spaces at their ends, or line ends."""
    return [one.strip() for one in text.replace("\n", ",").split(",") if one.strip()][:LINES]
