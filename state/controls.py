"""The controls of an asset: what each asks for, what it would change, and sending it."""

from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.api import Form
from state.asset import AssetState, AssetView
from state.given import named, number
from state.requests import Tracker
from state.units import grouped, to_base
from state.verdicts import Terms, Verdict, verdicts_of

TRIAL = "Looking at what it would do."
"""The reason of the dry run; it is written nowhere."""
WHOLE = 2**255
"""Frozen from this on is the whole account."""


@dataclass(frozen=True)
class Control:
    """What a control asks for. `danger` wants the symbol typed; `may_be_whole` takes no amount as everything."""

    path: str
    addresses: tuple[str, ...] = ()
    has_amount: bool = False
    may_be_whole: bool = False
    danger: bool = False


CONTROLS = {
    "mint": Control("mint", ("to_address",), True),
    "burn": Control("burn", ("address",), True, danger=True),
    "pause": Control("pause", danger=True),
    "unpause": Control("unpause"),
    "freeze": Control("freeze", ("address",), True, may_be_whole=True),
    "unfreeze": Control("unfreeze", ("address",), True, may_be_whole=True),
    "forced_transfer": Control("forced-transfer", ("from_address", "to_address"), True, danger=True),
    "recover": Control("recover", ("lost_address", "new_address"), danger=True),
}
FIELDS = ("chain_eid", "address", "to_address", "from_address", "lost_address", "new_address", "amount")
NAMES = {
    "supply": "Total supply", "balance": "Balance", "frozen": "Frozen", "state": "Token", "orders": "Open orders",
    "quote": "Money",
}  # fmt: skip


class ControlForm(Form, rx.State):
    """The dialog that is open, by the name of its control."""

    kind: str = ""
    chains: list[dict[str, str]] = []
    known: list[dict[str, str]] = []
    changes: list[dict[str, str]] = []
    warnings: list[str] = []
    refusals: list[Verdict] = []
    planning: bool = False
    is_possible: bool = False
    plan_problem: str = ""
    _given: dict[str, str] = {}

    @rx.event
    async def load(self):
        """Begin a visit of the tab: nothing open; offer the addresses that are known."""
        self._done()
        self.kind = ""
        self.known = await self._known()

    async def _known(self) -> list[dict[str, str]]:
        """Holders and wallets, by name; whoever may not see them can still write an address."""
        try:
            wallets, holders = await self._api_all(
                "/orgs/{org}/wallets?limit=100", f"/orgs/{{org}}/assets/{self.asset_id}/holders"
            )
        except ApiProblem as problem:
            await self._lacks("The addresses that are known", problem)
            return []
        names = {h["address"]: h["party_name"] or "A holder" for h in holders["holders"]}
        names |= {w["address"]: w["label"] for w in wallets["wallets"]}
        return [{"value": address, "label": name} for address, name in names.items()]

    @rx.event
    async def show(self, kind: str, eid: str):
        """Open a control's dialog, for a chain where one is named."""
        if kind not in CONTROLS:
            return
        self._done()
        asset = (await self.get_state(AssetState)).asset
        places = [{"value": str(p.eid), "label": p.chain} for p in asset.places if p.status == "active"]
        self.chains = sorted(places, key=lambda place: place["value"] != eid)
        self.kind, self._given = kind, {"chain_eid": self.chains[0]["value"] if self.chains else ""}
        self._forget()
        yield
        await self._plan()

    @rx.event
    def close(self, is_open: bool):
        """Close the dialog."""
        if not is_open:
            self.kind = ""

    @rx.event
    def write(self, name: str, text: str):
        """Take over what is written; the chain is asked about the last of it."""
        if name not in FIELDS or not self.kind or self._given.get(name) == str(text)[:200]:
            return None
        self._given = {**self._given, name: str(text)[:200]}
        self.errors = {field: words for field, words in self.errors.items() if field != name}
        return ControlForm.ask

    @rx.event(supersedes=True)
    async def ask(self):
        """Ask what it would do, once everything is there."""
        self._forget()
        if self._body(await self._asset()) is None:
            return
        self.planning = True
        yield
        await self._plan()

    async def _asset(self) -> AssetView:
        return (await self.get_state(AssetState)).asset

    async def _plan(self) -> None:
        """The dry run of what is written, once it is whole."""
        asset = await self._asset()
        body = self._body(asset)
        if body is None:
            return
        try:
            path = f"{self._path()}?dry_run=true"
            plan = await self._api("POST", path, json=body | {"reason": TRIAL})
        except ApiProblem as problem:
            self._forget()
            self._take_refusal(problem, asset)
            return
        self._forget()
        self.changes = [_change(one, asset) for one in plan["impact"]["changes"]]
        terms = Terms(self._org_id(), asset.id, asset.symbol, asset.decimals)
        self.warnings = [terms.in_words(words) for words in plan["impact"]["warnings"]]
        self.is_possible = True

    def _take_refusal(self, problem: ApiProblem, asset: AssetView) -> None:
        terms = Terms(self._org_id(), asset.id, asset.symbol, asset.decimals)
        self.refusals = verdicts_of(problem.rules, terms)
        if not self.refusals:
            words = problem.errors[0]["detail"] if problem.errors else problem.detail or problem.title
            self.plan_problem = terms.in_words(words[:1].upper() + words[1:])

    def _forget(self) -> None:
        self.changes, self.warnings, self.refusals = [], [], []
        self.planning, self.is_possible, self.plan_problem = False, False, ""

    def _path(self) -> str:
        return f"/orgs/{{org}}/assets/{self.asset_id}/{CONTROLS[self.kind].path}"

    def _body(self, asset: AssetView) -> dict[str, Any] | None:
        """What is written as a request without its reason; None while something is missing."""
        control = CONTROLS.get(self.kind)
        if control is None or _missing(control, self._given, asset.decimals):
            return None
        body: dict[str, Any] = {"chain_eid": number(self._given["chain_eid"])}
        body |= {name: self._given[name].strip() for name in control.addresses}
        if control.has_amount:
            amount = self._given.get("amount", "").strip()
            body["amount"] = to_base(amount, asset.decimals) if amount else None
        return body

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Do it, and follow it on the asset's page."""
        control = CONTROLS.get(self.kind)
        if control is None:
            return
        self._begin()
        yield
        asset, said = await self._asset(), named(data, "reason", "symbol", *FIELDS)
        self._given = {**self._given, **{name: said[name][:200] for name in FIELDS if said[name]}}
        self.errors = _missing(control, self._given, asset.decimals) | _unsaid(control, said, asset)
        body = self._body(asset)
        if self.errors or body is None:
            self.saving = False
            return
        try:
            answer = await self._api("POST", self._path(), json=body | {"reason": said["reason"]}, key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("reason", *FIELDS)
            if problem.rules:
                self._forget()
                self._take_refusal(problem, asset)
                self.form_problem = "The rules refuse this. Nothing was done."
            return
        self._done()
        self.kind = ""
        yield [AssetState.watch(answer["requestId"]), Tracker.watch]


def _missing(control: Control, given: dict[str, str], decimals: int) -> dict[str, str]:
    """What is not there yet, or cannot be, by field."""
    errors = {}
    if not number(given.get("chain_eid", "")):
        errors["chain_eid"] = "Choose a chain"
    for name in control.addresses:
        if len(given.get(name, "").strip()) != 42:
            errors[name] = "An address has 0x and 40 hexadecimal digits"
    amount = given.get("amount", "").strip()
    if control.has_amount and (amount or not control.may_be_whole):
        try:
            to_base(amount, decimals)
        except ValueError as error:
            errors["amount"] = str(error)
    return errors


def _unsaid(control: Control, said: dict[str, str], asset: AssetView) -> dict[str, str]:
    errors = {} if said["reason"] else {"reason": "Say why; it is kept with the request"}
    if control.danger and said["symbol"] != asset.symbol:
        errors["symbol"] = f"Type {asset.symbol} to confirm"
    return errors


def _change(one: dict[str, Any], asset: AssetView) -> dict[str, str]:
    """A change in words and whole tokens."""
    place = next((p.chain for p in asset.places if p.eid == one["chain_eid"]), "")
    address = one["address"] or ""
    of = f"{address[:6]}…{address[-4:]}" if address else place
    return {
        "name": f"{NAMES.get(one['field'], one['field'])}, {of}",
        "old": _shown(one["before"], one, asset),
        "new": _shown(one["after"], one, asset),
    }


def _shown(value: str, one: dict[str, Any], asset: AssetView) -> str:
    field = one["field"]
    if field == "state":
        return value.capitalize()
    if field == "orders":
        return value
    if field == "quote":
        return f"{grouped(value, one['decimals'] or 0)} {one['symbol']}"
    if field == "frozen" and int(value) >= WHOLE:
        return "the whole account"
    return f"{grouped(value, asset.decimals)} {asset.symbol}"
