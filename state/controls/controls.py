"""The controls of an asset: their inputs, effects and requests."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.client import ApiProblem, SignumClient
from backend.controls.schemas import Burn, Change, ForcedTransfer, Freeze, Mint, Pause, Recover
from state.assets.detail import AssetDetail, AssetState
from state.compliance.verdicts import Terms, Verdict, refusals_of
from state.controls.frozen import READ, FrozenHolders, frozen_holders
from state.controls.operations import Operation, operation
from state.controls.policy import guarded
from state.core.api import Form
from state.core.arguments import named, number
from state.core.dry_run import WHOLE
from state.core.events import Events, Next, call
from state.core.units import grouped, rounded, shortened, to_base
from state.requests.tracker import Tracker
from state.transfers.amounts import to_positive

TRIAL = "Preview of the effects."
"""The reason in the dry run; it is not stored."""


@dataclass(frozen=True)
class Control:
    """A control's inputs. `danger` requires typing the symbol; `may_be_whole`: an empty amount means everything."""

    operation: Operation
    addresses: tuple[str, ...] = ()
    has_amount: bool = False
    may_be_whole: bool = False
    danger: bool = False


CONTROLS = {
    "mint": Control(operation(Mint, SignumClient.mint), ("to_address",), True),
    "burn": Control(operation(Burn, SignumClient.burn), ("address",), True, danger=True),
    "pause": Control(operation(Pause, SignumClient.pause), danger=True),
    "unpause": Control(operation(Pause, SignumClient.unpause)),
    "freeze": Control(operation(Freeze, SignumClient.freeze), ("address",), True, may_be_whole=True),
    "unfreeze": Control(operation(Freeze, SignumClient.unfreeze), ("address",), True, may_be_whole=True),
    "forced_transfer": Control(
        operation(ForcedTransfer, SignumClient.forced_transfer), ("from_address", "to_address"), True, danger=True
    ),
    "recover": Control(operation(Recover, SignumClient.recover), ("lost_address", "new_address"), danger=True),
}
FIELDS = ("chain_eid", "address", "to_address", "from_address", "lost_address", "new_address", "amount")
NAMES = {
    "supply": "Total supply", "balance": "Balance", "frozen": "Frozen", "state": "Token", "orders": "Open orders",
    "quote": "Money", "attestation": "Attestation",
}  # fmt: skip


class ControlForm(Form, rx.State):
    """The open dialog, by the name of its control."""

    kind: str = ""
    guarded: list[str] = []
    """The actions for which the policy requires a second person."""
    chains: list[dict[str, str]] = []
    chain: str = ""
    changes: list[dict[str, str]] = []
    warnings: list[str] = []
    refusals: list[Verdict] = []
    planning: bool = False
    is_possible: bool = False
    needs_second_person: bool = False
    """Whether a second person has to approve it: by the organization's policy, or because it exceeds a limit."""
    is_guarded: bool = False
    """Whether the policy requires it; the warnings of the dry run name a limit."""
    plan_problem: str = ""
    frozen: FrozenHolders = FrozenHolders()
    """The frozen holders of the chain, for "Unfreeze"."""
    _given: dict[str, str] = {}

    @rx.event
    async def load(self) -> None:
        """Reset the tab when it opens: no dialog."""
        self._done()
        self.kind = ""
        self.guarded = await guarded(self._api, self._org_id())

    @rx.event
    async def show(self, kind: str, eid: str) -> Events:
        """Open a control's dialog, for a chain if one is given."""
        if kind not in CONTROLS:
            return
        self._done()
        asset = (await self.get_state(AssetState)).asset
        places = [{"value": str(p.eid), "label": p.chain} for p in asset.places if p.status == "active"]
        self.chains = sorted(places, key=lambda place: place["value"] != eid)
        self.chain = self.chains[0]["value"] if self.chains else ""
        self.kind, self._given = kind, {"chain_eid": self.chain}
        self.is_guarded, self.frozen = False, FrozenHolders()
        self._forget()
        yield
        await self._read_frozen()
        self.guarded = await guarded(self._api, self._org_id())
        self.is_guarded = self.needs_second_person = f"token.{kind}" in self.guarded
        await self._plan()

    @rx.event
    def close(self, is_open: bool) -> None:
        """Close the dialog."""
        if not is_open:
            self.kind = ""

    @rx.event
    def write(self, name: str, text: str) -> Next:
        """Take over an input; the chain is queried after the last one."""
        return self._write(name, text)

    @rx.event
    async def leave(self, name: str, text: str) -> Next:
        """Take over an input that the user has left, and show what is wrong with it."""
        following, asset, control = self._write(name, text), await self._asset(), CONTROLS.get(self.kind)
        if control and name in FIELDS and self._given.get(name, "").strip():
            wrong = _missing(control, self._given, asset.decimals)
            self.errors = {**self.errors, **{field: words for field, words in wrong.items() if field == name}}
        return following

    def _write(self, name: str, text: str) -> Next:
        if name not in FIELDS or not self.kind or self._given.get(name) == str(text)[:200]:
            return None
        self._given = {**self._given, name: str(text)[:200]}
        self.chain = self._given["chain_eid"]
        self.errors = {field: words for field, words in self.errors.items() if field != name}
        return ControlForm.ask

    @rx.event(supersedes=True)
    async def ask(self) -> Events:
        """Read the effects once every input is there."""
        self._forget()
        await self._read_frozen()
        if self._fields(await self._asset()) is None:
            return
        self.planning = True
        yield
        await self._plan()

    async def _read_frozen(self) -> None:
        """Read who has frozen tokens on the chain, in the dialog that lists them."""
        if self.kind != "unfreeze" or not self.chain:
            return
        asset = await self._asset()
        with suppress(ApiProblem):
            page = await self._api.list_holders(self._org_id(), asset.id, limit=READ)
            self.frozen = frozen_holders(
                page.holders, self.chain, asset.symbol, asset.decimals, is_all=page.nextCursor is None
            )

    async def _asset(self) -> AssetDetail:
        return (await self.get_state(AssetState)).asset

    async def _plan(self) -> None:
        """Run the dry run once the inputs are complete."""
        asset = await self._asset()
        fields = self._fields(asset)
        if fields is None:
            return
        dry_run = CONTROLS[self.kind].operation.plan
        try:
            plan = await dry_run(self._api, self._org_id(), self._in_path("asset_id"), fields | {"reason": TRIAL})
        except ApiProblem as problem:
            self._forget()
            self._take_refusal(problem, asset, str(fields.get("to_address") or ""))
            return
        self._forget()
        self.changes = [_change_words(change, asset) for change in plan.impact.changes]
        terms = Terms(self._org_id(), asset.id, asset.symbol, asset.decimals)
        self.warnings = [terms.in_words(words) for words in plan.impact.warnings]
        self.is_possible, self.needs_second_person = True, plan.impact.needs_second_person

    def _take_refusal(self, problem: ApiProblem, asset: AssetDetail, receiver: str) -> None:
        terms = Terms(self._org_id(), asset.id, asset.symbol, asset.decimals, receiver=receiver)
        self.refusals = refusals_of(problem, terms)
        if not self.refusals:
            words = problem.errors[0]["detail"] if problem.errors else problem.detail or problem.title
            self.plan_problem = terms.in_words(words[:1].upper() + words[1:])

    def _forget(self) -> None:
        self.changes, self.warnings, self.refusals = [], [], []
        self.planning, self.is_possible, self.plan_problem = False, False, ""
        self.needs_second_person = self.is_guarded

    def _fields(self, asset: AssetDetail) -> dict[str, str | int | None] | None:
        """Return the inputs as fields of the request's body, without its reason; None while one is missing."""
        control = CONTROLS.get(self.kind)
        if control is None or _missing(control, self._given, asset.decimals):
            return None
        fields: dict[str, str | int | None] = {"chain_eid": number(self._given["chain_eid"])}
        fields |= {name: self._given[name].strip() for name in control.addresses}
        if control.has_amount:
            amount = self._given.get("amount", "").strip()
            fields["amount"] = to_base(amount, asset.decimals) if amount else None
        return fields

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Send the request, and follow it on the asset's page."""
        control = CONTROLS.get(self.kind)
        if control is None:
            return
        self._begin()
        yield
        asset, said = await self._asset(), named(data, "reason", "symbol", *FIELDS)
        self._given = {**self._given, **{name: said[name][:200] for name in FIELDS if said[name]}}
        self.errors = _missing(control, self._given, asset.decimals) | _unconfirmed(control, said, asset)
        fields = self._fields(asset)
        if self.errors or fields is None:
            self.saving = False
            return
        fields |= {"reason": said["reason"]}
        try:
            answer = await control.operation.send(
                self._api, self._org_id(), self._in_path("asset_id"), fields, self._form_key
            )
        except ApiProblem as problem:
            self._explain(problem, asset, str(fields.get("to_address") or ""))
            return
        self._done()
        self.kind = ""
        yield [call(AssetState.watch, answer.request_id), Tracker.watch]

    def _explain(self, problem: ApiProblem, asset: AssetDetail, receiver: str) -> None:
        """Show a refusal at its fields, or the rules that refuse the control."""
        self._refused(problem)
        self._keep_at("reason", *FIELDS)
        if problem.rules:
            self._forget()
            self._take_refusal(problem, asset, receiver)
            self.form_problem = "The rules refuse this. Nothing was sent."


def _missing(control: Control, given: dict[str, str], decimals: int) -> dict[str, str]:
    """Return errors of missing and invalid inputs, by field."""
    errors = {}
    if not number(given.get("chain_eid", "")):
        errors["chain_eid"] = "Choose a chain"
    for name in control.addresses:
        if len(address := given.get(name, "").strip()) != 42:
            errors[name] = "An address is 0x and 40 hexadecimal digits" if address else "Choose an account"
    amount = given.get("amount", "").strip()
    if control.has_amount and (amount or not control.may_be_whole):
        try:
            to_positive(amount, decimals)
        except ValueError as error:
            errors["amount"] = str(error)
    return errors


def _unconfirmed(control: Control, said: dict[str, str], asset: AssetDetail) -> dict[str, str]:
    """Return errors of a missing reason, and of a missing symbol where the control requires it."""
    errors = {} if said["reason"] else {"reason": "Enter a reason. It is stored with the request"}
    if control.danger and said["symbol"] != asset.symbol:
        errors["symbol"] = f"Type {asset.symbol} to confirm"
    return errors


def _change_words(change: Change, asset: AssetDetail) -> dict[str, str]:
    """Return a change as text, in whole tokens."""
    place = next((p.chain for p in asset.places if p.eid == change.chain_eid), "")
    address = change.address or ""
    of = change.address_name or (shortened(address) if address else place)
    return {
        "name": f"{NAMES.get(change.field, change.field)}, {of}",
        "old": _shown(change.before, change, asset, rounded),
        "new": _shown(change.after, change, asset, rounded),
        "old_full": _shown(change.before, change, asset, grouped),
        "new_full": _shown(change.after, change, asset, grouped),
    }


def _shown(value: str, change: Change, asset: AssetDetail, written: Callable[[str, int], str]) -> str:
    if change.field in ("state", "attestation"):
        return value.capitalize()
    if change.field == "orders":
        return value
    if change.field == "quote":
        return f"{written(value, change.decimals or 0)} {change.symbol}"
    if change.field == "frozen" and int(value) >= WHOLE:
        return "the whole account"
    return f"{written(value, asset.decimals)} {asset.symbol}"
