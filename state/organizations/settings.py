"""An organization's settings: its name and network, requirements for members, and approval rules."""

from copy import copy
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import reflex as rx

from backend.approvals.schemas import PolicyChange
from backend.client import ApiProblem, body
from backend.organizations.schemas import Organization, OrganizationUpdate
from backend.requests.schemas import Action
from state.core.api import Loads
from state.core.arguments import named, number, texts
from state.core.countries import country_code, written
from state.core.dates import stamp
from state.core.edits import Edits
from state.core.events import Events, Next
from state.core.session import Session
from state.notifications.bell import Bell
from state.organizations.ip_ranges import name_entries, ranges_of
from state.organizations.renames import Renames
from state.organizations.values import values_of

LINES = 200
"""Maximum entries of a list that are sent; the API reports longer ones."""
REQUIREMENTS = ("allowed_email_domains", "blocked_countries", "min_kyc_level", "seats")
"""Fields of the requirements that can show a finding."""


@dataclass
class SettingsView:
    """The organization's record as the forms start with it. `version` is the time of its last change."""

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
    require_if_match: bool = False
    allowed_ip_ranges: str = ""
    version: str = ""


class Settings(Loads, rx.State):
    """The organization's record."""

    given: SettingsView = SettingsView()
    _record: Organization | None = None
    _etag: str = ""

    @rx.event
    async def load(self) -> None:
        """Read the record."""
        await self._read()

    async def _read(self) -> None:
        try:
            with self._api.response_headers() as headers:
                record = await self._api.get_organization(self._org_id())
            self._record, self._etag, self.given = record, headers["etag"], settings_view(record)
            self._loaded()
        except ApiProblem as problem:
            self._failed(problem)


class Saves(Edits, mixin=True):
    """Mixin of a form that patches the organization."""

    _page: str = ""
    """The version that the page showed when this form was last sent."""

    async def _current(self) -> dict[str, str]:
        return values_of(await self._api.get_organization(self._org_id()))

    async def _save(self, fields: dict[str, Any], said: str) -> bool:
        """Send the fields that the user changed, and say so if there are words; return whether they were accepted."""
        page = await self.get_state(Settings)
        record = copy(page._record)  # pydantic cannot serialize the proxy around a state's variable
        if record is None:
            self._done()
            return False
        if self._page != page._etag:
            self._page = self._version = page._etag
            self._known = values_of(record)
        try:
            update = body(OrganizationUpdate, changed(fields, record.model_dump(mode="json")))
            key = self._form_key
            await self._api.update_organization(self._org_id(), update, idempotency_key=key, if_match=self._version)
        except ApiProblem as problem:
            await self._reject(problem, *fields, *REQUIREMENTS)
            return False
        self._done()
        await page._read()
        if said:
            await self._notify(said)
        return True


class Asks(Saves, mixin=True):
    """Mixin of a form whose change may need a second person. `asks`: an approval can be requested now."""

    asks: bool = False

    async def _ask(self, fields: dict[str, Any]) -> bool:
        """Request approval of a policy change; return whether the request was accepted."""
        try:
            change = body(PolicyChange, fields)
            answer = await self._api.change_approval_policy(self._org_id(), change, idempotency_key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            return False
        self._done()
        self.asks = False
        await self._accepted("Approval requested", answer.request_id, "It applies once a second person approves.")
        return True


class ProfileForm(Renames, Saves, rx.State):
    """Name and network."""

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Save name and network."""
        self._begin()
        yield
        given, before = named(data, "name", "network"), (await self.get_state(Settings)).given
        was = {"name": before.name, "network": before.network}
        if await self._save(given, ""):
            await (await self.get_state(Session))._again()
            now = {name: text for name, text in given.items() if text != was[name]}
            await self._saved(self._org_id(), "The organization is saved", was, now)

    async def _restored(self, organization: Organization) -> Next:
        await (await self.get_state(Session))._again()
        return Settings.load


class RequirementsForm(Saves, rx.State):
    """Requirements for new members."""

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Save the requirements."""
        self._begin()
        yield
        if requirements := self._requirements(texts(data)):
            await self._save({"member_requirements": requirements}, "The requirements are saved")

    def _requirements(self, given: dict[str, str]) -> dict[str, Any]:
        """Return the form's values as the API takes them, without a limit as 0; empty if the seats are not a number."""
        seats = given.get("seats", "").strip()
        if seats and not number(seats):
            self.saving, self.errors = False, {"seats": "Enter a whole number from 1, or nothing for no limit"}
            return {}
        return {
            "kyc_required": "kyc_required" in given,
            "accreditation_required": "accreditation_required" in given,
            "min_kyc_level": number(given.get("min_kyc_level", "")),
            "allowed_email_domains": _entries(given.get("allowed_email_domains", "")),
            "blocked_countries": [country_code(one) for one in _entries(given.get("blocked_countries", ""))],
            "seats": number(seats),
        }


class SecurityForm(Asks, rx.State):
    """Whether everyone needs a second factor."""

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Save the setting."""
        self._begin()
        yield
        self.asks = False
        wanted = "require_second_factor" in texts(data)
        saved = await self._save({"require_second_factor": wanted}, "The sign-in rules are saved")
        self.asks = not saved and not wanted and self._version == self._page

    @rx.event
    async def ask(self) -> Events:
        """Request approval to let users sign in without a second factor."""
        self._begin()
        yield
        approvals = (await self.get_state(Settings)).given.approvals
        if await self._ask({"approvals": approvals, "require_second_factor": False}):
            yield Bell.look


class RulesForm(Saves, rx.State):
    """How compliance rules are changed."""

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Save the setting."""
        self._begin()
        yield
        await self._save({"require_if_match": "require_if_match" in texts(data)}, "The setting is saved")


class IpRangesForm(Asks, rx.State):
    """IP addresses from which users and keys may call."""

    _ranges: list[str] = []

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Save the ranges."""
        self._begin()
        self._ranges = ranges_of(data)
        yield
        self.asks = False
        await self._save({"allowed_ip_ranges": self._ranges}, "The allowed IP ranges are saved")

    @rx.event
    async def ask(self) -> Events:
        """Request approval of the ranges."""
        self._begin()
        yield
        approvals = (await self.get_state(Settings)).given.approvals
        if await self._ask({"approvals": approvals, "allowed_ip_ranges": self._ranges}):
            yield Bell.look

    def _refused(self, problem: ApiProblem) -> None:
        name_entries(problem, self._ranges)
        self.asks = problem.status == HTTPStatus.CONFLICT and "/approvals" in problem.detail
        super()._refused(problem)


class PolicyForm(Asks, rx.State):
    """Actions that need a second person. `_asked` is the change to request where it cannot be saved alone."""

    _asked: dict[str, Any] = {}

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Save the policy. For a change that needs a second person, offer to request approval."""
        self._begin()
        self.asks = False
        yield
        wanted = [str(action) for action in Action if str(action) in texts(data)]
        written = texts(data).get("approver_wait_hours", "").strip()
        if not written.isascii() or not written.isdigit():
            self.saving, self.errors = False, {"approver_wait_hours": "Enter a whole number of hours from 0 to 168"}
            return
        wait = number(written)
        given = (await self.get_state(Settings)).given
        lifts = set(given.approvals) - set(wanted) or wait < number(given.approver_wait_hours)
        fields = {"approvals": wanted, "approver_wait_hours": wait}
        saved = await self._save(fields, "The approval rules are saved")
        if lifts and not saved and self._version == self._page:
            self.asks, self._asked = True, fields

    @rx.event
    async def ask(self) -> Events:
        """Request approval of the change."""
        self._begin()
        yield
        if self._asked and await self._ask(self._asked):
            yield Bell.look


def changed(fields: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    """Return the fields whose values differ from the record's, also within objects."""
    kept = {}
    for name, value in fields.items():
        inner = changed(value, record[name]) if isinstance(value, dict) else value
        if inner != record[name] and inner != {}:
            kept[name] = inner
    return kept


def settings_view(organization: Organization) -> SettingsView:
    """Convert the API's organization."""
    required = organization.member_requirements
    return SettingsView(
        name=organization.name,
        network=organization.network,
        kyc_required=required.kyc_required,
        min_kyc_level=str(required.min_kyc_level),
        accreditation_required=required.accreditation_required,
        blocked_countries=", ".join(sorted(map(_country, required.blocked_countries))),
        allowed_email_domains=", ".join(required.allowed_email_domains),
        seats=str(required.seats or ""),
        approvals=list[str](organization.approvals),
        approver_wait_hours=str(organization.approver_wait_hours),
        require_second_factor=organization.require_second_factor,
        require_if_match=organization.require_if_match,
        allowed_ip_ranges="\n".join(organization.allowed_ip_ranges),
        version=stamp(organization.updated_at),
    )


def _country(code: str) -> str:
    """Return `Sweden (SWE)`, or the code of a country whose name has a comma, because commas separate entries."""
    return code if "," in written(code) else written(code)


def _entries(text: str) -> list[str]:
    """Split a text at commas and line ends, without surrounding spaces."""
    return [one.strip() for one in text.replace("\n", ",").split(",") if one.strip()][:LINES]
