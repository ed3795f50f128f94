"""A new bridge: planned as it is entered, and sent exactly as the plan shows it."""

from typing import Any

import reflex as rx

from backend.assets.schemas import Asset
from backend.bridges.schemas import BridgeCreate, BridgePlan
from backend.caps.schemas import CapShare
from backend.client import ApiProblem, body
from state.assets.choice import active_deployments, asset_option, chain_options
from state.bridges.list import BridgesState, BridgeState
from state.bridges.plan import BridgePlanView, plan_view
from state.chains.lookup import Chains
from state.compliance.cap_words import expected, plain
from state.compliance.verdicts import Terms
from state.core.arguments import id_of, number, texts
from state.core.dialogs import Dialog
from state.core.events import Events, Next, call
from state.core.prerequisites import refusal_words
from state.core.units import to_base
from state.requests.tracker import Tracker

FIELDS = ("asset_id", "source_chain_eid", "destination_chain_eid", "amount", "to_address")
CHANGED = "The plan has changed. Nothing was sent. Check the new plan, then send it."


class NewBridge(Dialog, Chains, rx.State):
    """The dialog: its inputs, and the plan of the dry run."""

    assets: list[dict[str, str]] = []
    sources: list[dict[str, str]] = []
    targets: list[dict[str, str]] = []
    asset: str = ""
    source: str = ""
    target: str = ""
    symbol: str = ""
    decimals: int = 18
    plan: BridgePlanView = BridgePlanView()
    planned: bool = False
    planning: bool = False
    plan_problem: str = ""
    is_confirmed: bool = False
    has_changed: bool = False
    """Whether the plan is another one than the one that was sent and refused."""
    _given: dict[str, str] = {}
    _records: dict[str, Asset] = {}
    _body: BridgeCreate | None = None
    """The body of the plan that is shown."""
    _fingerprint: str = ""
    _shares: list[CapShare] = []

    @rx.event
    def enter(self) -> Next:
        """Close the dialog when a page opens; `?new=` opens it for an asset."""
        self._close()
        wanted = id_of(self._query("new"))
        return call(NewBridge.begin, wanted) if wanted else None

    @rx.event
    async def show(self, is_open: bool) -> Next:
        """Open the dialog, or close it."""
        self._done()
        self.is_open = False
        return call(NewBridge.begin, "") if is_open else None

    @rx.event
    async def begin(self, asset_id: str) -> Events:
        """Open the dialog with the assets that have a token, for one of them if it is given."""
        self._done()
        self.is_open, self._given = True, {}
        self.asset = self.source = self.target = self.symbol = ""
        self.sources, self.targets = [], []
        self._forget()
        yield
        try:
            page = await self._api.list_assets(self._org_id(), limit=100)
            await self._read_chains()
        except ApiProblem as problem:
            self._refused(problem)
            return
        self._records = {str(asset.id): asset for asset in page.assets if active_deployments(asset)}
        self.assets = [asset_option(asset) for asset in self._records.values()]
        if wanted := id_of(asset_id):
            yield call(NewBridge.write, "asset_id", wanted)

    @rx.event
    def write(self, name: str, text: str) -> Next:
        """Take over an input; the plan is read after the last one."""
        return self._write(name, text)

    @rx.event
    def leave(self, name: str, text: str) -> Next:
        """Take over an input that the user has left, and show what is wrong with it."""
        following = self._write(name, text)
        if name in FIELDS and self._given.get(name, "").strip():
            self.errors = {**self.errors, **{f: words for f, words in self._faults().items() if f == name}}
        return following

    def _write(self, name: str, text: str) -> Next:
        if name not in FIELDS or not self.is_open or self._given.get(name) == str(text)[:200]:
            return None
        self._given = {**self._given, name: str(text)[:200]}
        self.errors = {field: words for field, words in self.errors.items() if field != name}
        self.form_problem, self.has_changed = "", False
        if name in ("asset_id", "source_chain_eid"):
            self._offer_chains(is_other_asset=name == "asset_id")
        self.target = self._given.get("destination_chain_eid", "")
        return NewBridge.preview

    def _offer_chains(self, *, is_other_asset: bool) -> None:
        """Offer the chains that have the token as sources, and the other enabled ones as destinations."""
        asset = self._records.get(id_of(self._given.get("asset_id")))
        if asset is None:
            return
        self.asset, self.symbol, self.decimals = str(asset.id), asset.symbol, asset.decimals
        self.sources = chain_options(asset)
        if is_other_asset:
            self._given["source_chain_eid"] = self.sources[0]["value"]
        self.source = self._given.get("source_chain_eid", "")
        others = [chain for chain in self._chains.values() if chain.enabled and str(chain.eid) != self.source]
        self.targets = [{"value": str(chain.eid), "label": chain.name} for chain in others]
        if self._given.get("destination_chain_eid") not in [one["value"] for one in self.targets]:
            self._given["destination_chain_eid"] = self.targets[0]["value"] if self.targets else ""

    @rx.event(supersedes=True)
    async def preview(self) -> Events:
        """Read the plan, once the inputs are complete; nothing is sent."""
        self._forget()
        if self._faults():
            return
        self.planning = True
        yield
        await self._plan()

    async def _plan(self) -> None:
        """Run the dry run, and show its plan or why it is refused."""
        asset_id, decimals = id_of(self._given.get("asset_id")), self.decimals
        try:
            wanted = self._wanted()
            plan: BridgePlan = await self._api.bridge_asset(self._org_id(), asset_id, wanted, dry_run=True)
        except ApiProblem as problem:
            self._forget()
            words = problem.errors[0]["detail"] if problem.errors else refusal_words(problem)
            self.plan_problem = Terms(self._org_id(), asset_id, self.symbol, decimals).in_words(words)
            return
        impact = plan.impact
        self._body = wanted.model_copy(update={"source_chain_eid": impact.source_chain_eid, "max_fee": impact.fee})
        self._fingerprint, self._shares = impact.fingerprint, expected(impact.caps)
        self.plan, self.is_confirmed = plan_view(plan, self.symbol, decimals), False
        self.planned, self.planning, self.plan_problem = True, False, ""

    def _wanted(self) -> BridgeCreate:
        """Return the body of the inputs. Raises ApiProblem as the API would."""
        amount, to = self._given.get("amount", "").strip(), self._given.get("to_address", "").strip()
        fields = {
            "source_chain_eid": number(self._given.get("source_chain_eid")),
            "destination_chain_eid": number(self._given.get("destination_chain_eid")),
            "amount": to_base(amount, self.decimals) if amount else "0",
        }
        return body(BridgeCreate, fields | ({"to_address": to} if to else {}))

    def _forget(self) -> None:
        self.plan, self.planned, self.planning, self.plan_problem = BridgePlanView(), False, False, ""
        self.is_confirmed, self._body, self._fingerprint, self._shares = False, None, "", []

    @rx.event
    def confirm(self, is_confirmed: bool) -> None:
        """Confirm the changed limits of the plan, or take that back."""
        self.is_confirmed = bool(is_confirmed)

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Send the plan that is shown, and follow it in the drawer."""
        self._given = {**self._given, **{n: v[:200] for n, v in texts(data).items() if n in FIELDS}}
        self.errors = self._faults()
        if self.errors:
            return
        if not self.planned or self._body is None or self._differs():
            yield NewBridge.preview
            return
        if self.plan.confirmation and not self.is_confirmed:
            self.form_problem = "Confirm the changed limits first."
            return
        self._begin()
        yield
        confirmed = {"expected_plan": self._fingerprint, "expected_caps": plain(self._shares)}
        wanted = BridgeCreate(**self._body.model_dump()).model_copy(update=confirmed)
        try:
            answer = await self._api.bridge_asset(self._org_id(), self.asset, wanted, idempotency_key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at(*FIELDS)
            await self._plan_again(problem)
            return
        self._close()
        await (await self.get_state(BridgesState))._restart()
        yield [call(BridgeState.show, str(answer.bridgeId)), Tracker.watch]

    def _differs(self) -> bool:
        """Return whether the inputs are other ones than those of the plan that is shown."""
        shown = self._body
        wanted = self._wanted()
        names = ("source_chain_eid", "destination_chain_eid", "amount", "to_address")
        return shown is None or any(getattr(shown, name) != getattr(wanted, name) for name in names)

    async def _plan_again(self, problem: ApiProblem) -> None:
        """After a conflict, show what the bridge would do now, and that the plan has changed."""
        if problem.status != 409:
            return
        shown, fee = self._fingerprint, self.plan.fee
        await self._plan()
        if self.planned and (self._fingerprint != shown or self.plan.fee != fee):
            self.has_changed, self.form_problem = True, CHANGED
        elif not self.planned:
            self.form_problem = ""  # the plan's own problem says it

    def _faults(self) -> dict[str, str]:
        """Return errors of missing and invalid inputs, by field."""
        given = {name: self._given.get(name, "").strip() for name in FIELDS}
        words = {"asset_id": "Choose an asset", "destination_chain_eid": "Choose a chain"}
        errors = {name: text for name, text in words.items() if not given[name]}
        if id_of(given["asset_id"]) not in self._records:
            errors["asset_id"] = "Choose an asset"
        if given["to_address"] and len(given["to_address"]) != 42:
            errors["to_address"] = "An address is 0x and 40 hexadecimal digits"
        try:
            to_base(given["amount"], self.decimals) if given["amount"] else "0"
        except ValueError as error:
            errors["amount"] = str(error)
        return errors
