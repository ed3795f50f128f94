"""Editing rules: shared by the compliance editor, the form of a new asset and the market wizard."""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import reflex as rx

from backend.compliance.countries import NAMES
from backend.compliance.schemas import Preset
from backend.core.fields import COUNTRIES
from state.compliance.rule_values import after_months, seconds, time_text
from state.compliance.rules import FRAMEWORKS, Rules
from state.core.api import Form
from state.core.arguments import number
from state.core.countries import written
from state.core.events import Next
from state.core.holder_picker import ADDRESS, name_of
from state.core.units import shortened

TEXTS = {"lockup": "lockup_end_time", "max_holders": "max_holders", "max_tokens": "max_tokens_per_holder",
         "issuers": "trusted_issuers"}  # fmt: skip
SWITCHES = {"accredited", "org_only"}
NAMED = 20
"""Listed issuers whose names are looked up."""
COUNTRY_ITEMS = [{"id": code, "label": name, "sub": code} for code, name in NAMES.items()]
"""The options of the country picker."""
FIELDS = (*TEXTS.values(), "required_kyc_level", "blocked_countries", "regulation_type", "org_only")
"""The API's fields that have a place for an error in the editor."""


@dataclass
class Framework:
    """A framework's card: what its preset enforces and leaves unset, and what it leaves to the issuer."""

    id: str
    name: str
    summary: str
    enforces: list[str] = field(default_factory=list)
    omits: list[str] = field(default_factory=list)
    leaves: list[str] = field(default_factory=list)
    level: int = 0
    max_holders: int = 0
    accredited: bool = False
    countries: list[str] = field(default_factory=list)
    months: int = 0


class RuleEditor(Form, mixin=True):
    """Mixin of a state that edits `draft`. Implement `_drafted`, which runs after a change."""

    draft: Rules = Rules()
    frameworks: list[Framework] = []
    issuer_names: dict[str, str] = {}
    """Names of listed issuers by their addresses in lower case."""
    revision: int = 0
    """Incremented when we fill in values, so that fields that keep their own text take them over."""

    @rx.var
    def blocked(self) -> list[dict[str, str]]:
        """Return the blocked countries as `code` and `name`."""
        return [{"code": code, "name": written(code)} for code in self.draft.countries]

    @rx.var
    def trusted(self) -> list[dict[str, str]]:
        """Return the listed issuers as `address` and `name`, which is a short address where none is known."""
        listed = self.draft.issuers.split()
        return [{"address": one, "name": self.issuer_names.get(one.lower(), shortened(one))} for one in listed]

    @rx.var
    def lockup_words(self) -> str:
        """Return the end of the lock-up as text; empty without one, and while it cannot be read."""
        try:
            when = seconds(self.draft.lockup)
        except ValueError:
            return ""
        return time_text(when) if when else ""

    async def _drafted(self) -> Next:
        """React to a change; return the event to run next, or None."""
        return None

    async def _read_frameworks(self) -> None:
        if self.frameworks:
            return
        page = await self._api.list_presets()
        self.frameworks = [_framework(preset) for preset in page.presets]

    def _fill(self, draft: Rules) -> None:
        """Put values into the form."""
        self.draft, self.revision, self.errors = draft, self.revision + 1, {}

    async def _name_issuers(self) -> None:
        """Find the names of the listed issuers that the organization knows."""
        unnamed = [one for one in self.draft.issuers.split() if one.lower() not in self.issuer_names][:NAMED]
        names = await asyncio.gather(*(name_of(self._api, self._org_id(), one) for one in unnamed))
        self.issuer_names |= {one.lower(): name for one, name in zip(unnamed, names, strict=True) if name}

    def _take(self, data: dict[str, str]) -> None:
        """Take the texts of a submitted form, which may be newer than the last change event."""
        for name in TEXTS:
            if name in data:
                self._set_rule(name, data[name][:2000])

    def _set_rule(self, name: str, value: str | bool) -> None:
        """Change one rule of the draft."""
        draft = replace(self.draft)
        setattr(draft, name, value)
        self.draft = draft

    def _preset(self, framework: str) -> Framework | None:
        return next((one for one in self.frameworks if one.id == framework), None)

    def _without(self, name: str) -> None:
        self.errors = {field_name: words for field_name, words in self.errors.items() if field_name != name}

    @rx.event
    async def pick_framework(self, framework: str) -> Next:
        """Fill in a framework's preset; every value stays editable."""
        preset = self._preset(framework)
        if preset is None:
            return None
        before = self._preset(self.draft.framework)
        own = set(self.draft.countries) - set(before.countries if before else [])
        self._fill(replace(
            self.draft,
            framework=preset.id,
            level=preset.level,
            accredited=preset.accredited,
            countries=sorted({*own, *preset.countries}),
            max_holders=f"{preset.max_holders:,}",
            lockup=after_months(preset.months, datetime.now(UTC)),
        ))  # fmt: skip
        return await self._drafted()

    @rx.event
    async def add_issuer(self, address: str) -> Next:
        """Add the address of an issuer whose attestations count, once."""
        if not ADDRESS.fullmatch(str(address)):
            return None
        listed = self.draft.issuers.split()
        if str(address).lower() not in {one.lower() for one in listed}:
            self._set_rule("issuers", "\n".join([*listed, str(address)])[:2000])
            self._without("trusted_issuers")
            await self._name_issuers()
        self.revision += 1  # the picker is empty again
        return await self._drafted()

    @rx.event
    async def remove_issuer(self, address: str) -> Next:
        """Remove the address of an issuer."""
        self._set_rule("issuers", "\n".join(one for one in self.draft.issuers.split() if one != address))
        self._without("trusted_issuers")
        return await self._drafted()

    @rx.event
    async def set_level(self, level: str) -> Next:
        """Set the KYC level."""
        self.draft = replace(self.draft, level=min(number(level), 255))
        self._without("required_kyc_level")
        return await self._drafted()

    @rx.event
    async def switch(self, name: str, on: bool) -> Next:
        """Turn a rule on or off."""
        if str(name) in SWITCHES:
            self._set_rule(name, bool(on))
        return await self._drafted()

    @rx.event
    async def write(self, name: str, text: str) -> Next:
        """Change a rule with a text field."""
        if str(name) not in TEXTS or getattr(self.draft, name) == text:
            return None
        self._set_rule(name, str(text)[:2000])
        self._without(TEXTS[name])
        return await self._drafted()

    @rx.event
    async def block(self, country: str) -> Next:
        """Block a country."""
        if str(country) in COUNTRIES:
            self.draft = replace(self.draft, countries=sorted({*self.draft.countries, country}))
            self._without("blocked_countries")
        return await self._drafted()

    @rx.event
    async def unblock(self, country: str) -> Next:
        """Unblock a country."""
        self.draft = replace(self.draft, countries=[c for c in self.draft.countries if c != country])
        return await self._drafted()


def _framework(preset: Preset) -> Framework:
    return Framework(
        id=preset.regulation_type,
        name=preset.name or FRAMEWORKS[preset.regulation_type],
        summary=preset.summary,
        enforces=preset.enforces,
        omits=preset.omits,
        leaves=preset.leaves_to_issuer,
        level=preset.required_kyc_level,
        max_holders=preset.max_holders,
        accredited=preset.requires_accreditation,
        countries=preset.blocked_countries,
        months=preset.lockup_months,
    )
