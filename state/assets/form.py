"""The form that creates an asset."""

from dataclasses import asdict
from typing import Any, ClassVar

import reflex as rx

from backend.assets.schemas import AssetCreate
from backend.client import ApiProblem, body
from backend.drafts.schemas import DraftKind
from state.chains.lookup import Chains, options
from state.compliance.rule_editor import FIELDS, RuleEditor
from state.compliance.rules import InvalidFields, Rules, asset_body, checked, rules_of
from state.core.arguments import number, texts
from state.core.events import Events, Next
from state.core.units import plain, to_base
from state.drafts.drafts import Drafts
from state.requests.tracker import Tracker

KEPT = ("name", "symbol", "chain_eid", "initial_supply", "decimals", "nominal_value", "description")
"""The fields of the form, beside the rules."""
EMPTY = dict.fromkeys(KEPT, "") | {"initial_supply": "0", "decimals": "18"}


class NewAsset(RuleEditor, Drafts, Chains, rx.State):
    """The page that creates an asset."""

    chains: list[dict[str, str]] = []
    ready: bool = False
    given: dict[str, str] = EMPTY
    """What the person has entered beside the rules."""
    _draft_kind: ClassVar[DraftKind] = DraftKind.ASSET

    @rx.event
    async def load(self) -> None:
        """Start with an empty form, the enabled chains and the frameworks, and offer the draft."""
        self._done()
        self.given = EMPTY
        self._fill(Rules(level=1))
        try:
            await self._read_frameworks()
            self.chains = options(await self._read_chains())
        except ApiProblem as problem:
            self._refused(problem)
        await self._find_draft()
        self.ready = True

    @rx.event
    async def note(self, name: str, text: str) -> None:
        """Save an input in the draft."""
        if name in KEPT and self.given[name] != str(text)[:2_000]:
            self.given = {**self.given, name: str(text)[:2_000]}
            await self._keep_draft()

    async def _drafted(self) -> Next:
        await self._keep_draft()

    def _content(self) -> dict[str, Any]:
        return {**self.given, "rules": asdict(self.draft)}

    async def _restore(self, content: dict[str, Any]) -> Next:
        self._fill(rules_of(content.get("rules")))
        self.given = {**EMPTY, **{name: text for name, text in texts(content).items() if name in KEPT}}

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Create the asset and go to it."""
        given = texts(data)
        self._take(given)
        self.given = {**self.given, **{name: text for name, text in given.items() if name in KEPT}}
        self._begin()
        yield
        try:
            answer = await self._api.create_asset(self._org_id(), self._body(given), idempotency_key=self._form_key)
        except InvalidFields as invalid:
            self.saving, self.errors = False, invalid.errors
            return
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at(*KEPT, *FIELDS)
            return
        self._done()
        await self._drop_draft()
        await self._accepted(f"Deploying {given.get('symbol', '')[:11]}", answer.request_id)
        yield [rx.redirect(f"/o/{self._org_id()}/assets/{answer.assetId}"), Tracker.watch]

    def _body(self, data: dict[str, str]) -> AssetCreate:
        """Return the form's texts and the draft. Raises InvalidFields, and ApiProblem as the API would."""
        errors: dict[str, str] = {}
        supply, chain = "0", number(data.get("chain_eid"))
        decimals = 6 if data.get("decimals") == "6" else 18
        try:
            supply = to_base(data.get("initial_supply") or "0", decimals)
        except ValueError as error:
            errors["initial_supply"] = str(error)
        if not chain:
            errors["chain_eid"] = "Choose a chain"
        errors |= {name: f"Enter a {name}" for name in ("name", "symbol") if not data.get(name, "").strip()}
        try:
            rules = checked(self.draft, decimals)
        except InvalidFields as invalid:
            raise InvalidFields(errors | invalid.errors) from invalid
        try:
            nominal = plain(said) if (said := data.get("nominal_value", "").strip()) else None
        except ValueError as error:
            errors["nominal_value"] = str(error)
        if errors:
            raise InvalidFields(errors)
        fields = asset_body(rules) | {
            "name": data.get("name", ""),
            "symbol": data.get("symbol", "").strip().upper(),
            "chain_eid": chain,
            "decimals": decimals,
            "initial_supply": supply,
            "nominal_value": nominal,
            "description": data.get("description", "").strip() or None,
        }
        return body(AssetCreate, fields)
