"""The market wizard: five steps, a plan by the dry run, one deployment."""

from dataclasses import asdict
from typing import Any, ClassVar

import reflex as rx

from backend.assets.schemas import AssetStatus
from backend.caps.schemas import CapShare
from backend.client import ApiProblem, body
from backend.drafts.schemas import DraftKind
from backend.markets.schemas import MarketCreate, MarketStatus
from state.compliance.cap_words import expected, plain
from state.compliance.effect_rows import Written
from state.compliance.effects import ShowsEffects
from state.compliance.rule_editor import RuleEditor
from state.compliance.rules import InvalidFields, checked, market_body, of_asset
from state.core.address import Param
from state.core.arguments import id_of, number
from state.core.events import Events, Next
from state.core.prerequisites import Prerequisite, prerequisites_of
from state.core.units import percent, to_base
from state.drafts.drafts import Drafts
from state.markets.bridged_amount import BridgedAmount
from state.markets.counting_limits import said_of
from state.markets.draft import MarketDraft, market_draft
from state.markets.plan import Plan, Target, plan_of, target_of
from state.requests.tracker import Tracker

STEPS = ("Chain", "Token", "Rules", "Fees", "Review")
STEP_OF = {"chain_eid": 0, "market_factory_address": 0, "rwa_token_address": 1, "bridge_amount": 1}
STEP_OF |= {"taker_fee_bps": 3, "maker_fee_bps": 3}
RENAMED = {"min_kyc_level": "required_kyc_level"}
"""Fields whose names differ between the rule editor and a market's body."""
RULES, REVIEW = 2, 4
NO_TRADE = ("could not trade here", "could not trade here")
USUAL_CHAIN = 40362
"""The API's default framework, preselected if it is available."""


class MarketWizard(RuleEditor, Drafts, BridgedAmount, ShowsEffects, rx.State):
    """The wizard's steps and inputs. Nothing is written before the deployment, except the person's draft."""

    at: int = 0
    reached: int = 0
    step: str = ""
    """The step in the URL, from 1; empty until the wizard has loaded."""
    _draft_kind: ClassVar[DraftKind] = DraftKind.MARKET
    _in_url: ClassVar[dict[str, Param]] = {
        "step": Param("step", lambda state, _: state.step, "change"),
        "asset": Param("asset", lambda state, _: state.asset),
    }
    assets: list[dict[str, str]] = []
    targets: list[Target] = []
    closed: list[Target] = []
    """Enabled chains that cannot be chosen, each with its obstacle."""
    others: list[Target] = []
    """Chains that could be chosen if they were enabled."""
    own_token: str = ""
    taker: str = "30"
    maker: str = "0"
    said: list[dict[str, str]] = []
    plan: Plan = Plan()
    planned: bool = False
    planning: bool = False
    is_confirmed: bool = False
    """Whether the person has confirmed the changed limits of the plan."""
    _shares: list[CapShare] = []
    """The limits of every chain after the deployment, as the plan shows them."""
    prerequisites: list[Prerequisite] = []
    ready: bool = False
    _taken: set[int] = set()
    """Chains that already have a market of the asset."""

    @rx.event
    async def load(self) -> Events:
        """Reset the wizard, for the asset in the URL. Keep its inputs if the URL is that of one of its steps."""
        step, asset = number(self._query("step")), id_of(self._query("asset"))
        if self.ready and asset and asset == self.asset and 1 <= step <= self.reached + 1:
            yield self._move(step - 1)
            return
        self._done()
        self.step = ""
        self.at, self.reached, self.ready, self.planned, self.prerequisites = 0, 0, False, False, []
        self.target, self.own_token, self.amount, self.taker, self.maker = Target(), "", "", "30", "0"
        self.asset, self.targets, self.closed, self.others = "", [], [], []
        yield
        try:
            await self._read_frameworks()
            await self._read_chains()
            page = await self._api.list_assets(self._org_id(), limit=100)
            usable = [asset for asset in page.assets if asset.status in (AssetStatus.ACTIVE, AssetStatus.UPDATING)]
            self.assets = [{"value": str(a.id), "label": f"{a.symbol}, {a.name}"} for a in usable]
            await self._choose(asset or (self.assets[0]["value"] if self.assets else ""))
        except ApiProblem as problem:
            self._refused(problem)
        following = await self._find_draft()
        if not self.drafting:
            following = self._move(0)
        elif 1 <= step <= self.reached + 1:
            following = self._move(step - 1)
        self.ready = True
        yield following

    @rx.event
    async def choose_asset(self, asset_id: str) -> None:
        """Select another asset for the market."""
        try:
            await self._choose(id_of(asset_id))
        except ApiProblem as problem:
            self._refused(problem)

    async def _choose(self, asset_id: str) -> None:
        if not asset_id:
            return
        asset = await self._api.get_asset(self._org_id(), asset_id)
        self.asset, self.symbol, self.decimals = str(asset.id), asset.symbol, asset.decimals
        self._fill(of_asset(asset))
        page = await self._api.list_markets(self._org_id(), asset_id, limit=100)
        self._taken = {market.chain_eid for market in page.markets if market.status is not MarketStatus.FAILED}
        self._tokens = {place.chain_eid: place.token_address or "" for place in asset.deployments}
        self._list_targets()
        usual = (one for one in self.targets if one.eid == USUAL_CHAIN)
        await self._pick(next(usual, Target()))

    async def _pick(self, target: Target) -> None:
        """Select a chain, with a proposal of what to bridge if the token is not there."""
        self.target, self.own_token, self.amount, self.proposal, self.available = target, "", "", "", ""
        if target.eid and not target.token:
            await self._propose()
            self.amount = self.proposal

    def _list_targets(self) -> None:
        both = [(chain.enabled, target_of(chain, self._tokens, self._taken)) for chain in self._chains.values()]
        self.targets = [one for enabled, one in both if enabled and not one.obstacle]
        self.closed = [one for enabled, one in both if enabled and one.obstacle]
        self.others = [one for enabled, one in both if not enabled and not one.obstacle]

    async def _enabled(self, eid: int) -> Next:
        """Choose a chain that was just enabled; in the review, plan again."""
        await self._read_chains()
        self._list_targets()
        self.target = next((one for one in self.targets if one.eid == eid), self.target)
        self._without("chain_eid")
        return MarketWizard.make_plan if self.at == REVIEW else None

    @rx.event
    async def choose_chain(self, eid: str) -> None:
        """Select the market's chain."""
        wanted = next((one for one in self.targets if str(one.eid) == str(eid)), None)
        if wanted is None:
            return
        try:
            await self._pick(wanted)
        except ApiProblem as problem:
            self._refused(problem)
            return
        self._without("chain_eid")

    @rx.event
    async def write_token(self, text: str) -> None:
        """Enter the address of a token that is already on this chain."""
        if self.own_token != str(text)[:100].strip():
            self.own_token = str(text)[:100].strip()
            self._without("rwa_token_address")

    @rx.event
    async def write_amount(self, text: str) -> None:
        """Enter the amount to bridge, in tokens."""
        if self.amount != str(text)[:100].strip():
            self.amount = str(text)[:100].strip()
            self._without("bridge_amount")

    @rx.event
    async def write_fee(self, name: str, text: str) -> None:
        """Change a fee, in basis points."""
        if name in ("taker", "maker") and getattr(self, name) != text:
            setattr(self, name, str(text)[:10])
            self._without(f"{name}_fee_bps")

    @rx.event
    async def go(self, step: int) -> Next:
        """Go to a step that was already reached."""
        if isinstance(step, int) and 0 <= step <= self.reached:
            return await self._go(step)
        return None

    @rx.event
    async def back(self) -> Next:
        """Go back one step."""
        return await self._go(max(0, self.at - 1))

    @rx.event
    async def forward(self) -> Next:
        """Continue, if this step is complete."""
        found = self._faults()
        here = {name: text for name, text in found.items() if _step_of(name) == self.at}
        self.errors = here
        if here:
            return None
        return await self._go(min(REVIEW, self.at + 1))

    async def _go(self, step: int) -> Next:
        following = self._move(step)
        await self._keep_draft()
        return following

    def _move(self, step: int) -> Next:
        """Show a step; return the event that it begins with."""
        self.at, self.reached, self.form_problem = step, max(step, self.reached), ""
        self.step = str(step + 1)
        return MarketWizard.make_plan if step == REVIEW else None

    def _content(self) -> dict[str, Any]:
        chosen = (self.asset, self.target.eid, self.own_token, self.taker, self.maker)
        return asdict(MarketDraft(*chosen, self.at, self.draft, self.amount))

    async def _restore(self, content: dict[str, Any]) -> Next:
        given = market_draft(content)
        if given.asset not in {asset["value"] for asset in self.assets}:
            raise ValueError("The asset of this draft is not active.")
        await self._choose(given.asset)
        self.target = next((one for one in self.targets if one.eid == given.eid), Target())
        self.own_token, self.taker, self.maker = given.own_token, given.taker, given.maker
        self.amount = given.amount
        if self.target.eid and not self.target.token:
            await self._propose()
        self._fill(given.rules)
        return self._move(given.at if self.target.eid else 0)

    def _faults(self) -> dict[str, str]:
        """Return missing and invalid inputs, by field."""
        faults = {} if self.target.eid else {"chain_eid": "Choose a chain"}
        try:
            checked(self.draft, self.decimals)
        except InvalidFields as invalid:
            faults |= invalid.errors
        try:
            self._bridged()
        except ValueError as error:
            faults["bridge_amount"] = str(error)
        for name, text in (("taker", self.taker), ("maker", self.maker)):
            if not (text.isascii() and text.isdigit() and int(text) <= 10_000):
                faults[f"{name}_fee_bps"] = "Enter basis points from 0 to 10,000"
        return faults

    def _bridged(self) -> str:
        """Return the amount to bridge in base units. Raises ValueError if it is not an amount of this token."""
        is_carried = not self.target.token and not self.own_token and self.amount
        return to_base(self.amount, self.decimals) if is_carried else "0"

    @rx.event(supersedes=True)
    async def make_plan(self) -> Events:
        """Read the plan; nothing is written."""
        self.planning, self.planned, self.form_problem, self.prerequisites = True, False, "", []
        self.is_confirmed = False
        yield
        if faults := self._faults():
            self.planning = False
            self._blame(faults)
            return
        try:
            answer = await self._api.deploy_market(self._org_id(), self.asset, self._body(), dry_run=True)
        except ApiProblem as problem:
            self.planning = False
            self._explain(problem)
            return
        source = self._chain_name(answer.impact.source_chain_eid)
        self.plan, self._shares = plan_of(answer, source, self.symbol, self.decimals), expected(answer.impact.caps)
        self.planning, self.planned = False, True
        self._take_effects(answer.impact.effects, Written(self.symbol, self.decimals, NO_TRADE))
        rules, caps = checked(self.draft, self.decimals), answer.impact.caps
        self.said = said_of(rules, caps, self.target.eid, self.symbol, self.decimals)

    @rx.event
    def confirm(self, is_confirmed: bool) -> None:
        """Confirm the changed limits of the plan, or take that back."""
        self.is_confirmed = bool(is_confirmed)

    @rx.event
    async def deploy(self) -> Events:
        """Deploy, and go to the market's page, which follows the request."""
        if self.plan.confirmation and not self.is_confirmed:
            self.form_problem = "Confirm the changed limits first."
            return
        self._begin()
        yield
        try:
            wanted = self._body().model_copy(update={"expected_caps": plain(self._shares)})
            answer = await self._api.deploy_market(self._org_id(), self.asset, wanted, idempotency_key=self._form_key)
        except (ApiProblem, InvalidFields) as problem:
            self.saving = False
            self._explain(problem) if isinstance(problem, ApiProblem) else self._blame(problem.errors)
            return
        self._done()
        await self._drop_draft()
        self.reached = -1  # Back to a step of the wizard begins a new one
        href = f"/o/{self._org_id()}/markets/{answer.marketId}?asset={answer.assetId}"
        yield [rx.redirect(href), Tracker.watch]

    def _body(self) -> MarketCreate:
        """Return the request's body. Raises InvalidFields, and ApiProblem as the API would."""
        fields = market_body(checked(self.draft, self.decimals)) | {
            "chain_eid": self.target.eid,
            "market_factory_address": self.target.factory,
            "bridge_amount": self._bridged(),
            "taker_fee_bps": int(self.taker),
            "maker_fee_bps": int(self.maker),
        }
        return body(MarketCreate, fields | ({"rwa_token_address": self.own_token} if self.own_token else {}))

    def _explain(self, problem: ApiProblem) -> None:
        """Show a refusal where it belongs: prerequisites as a checklist, the rest at its step and field."""
        self._refused(problem)
        if problem.prerequisites:
            self.prerequisites, self.form_problem = prerequisites_of(problem, self._org_id()), ""
        elif self.errors:
            self._blame(self.errors)
        elif problem.status == 409:
            self.planned = False  # what it showed is no longer true

    def _blame(self, errors: dict[str, str]) -> None:
        self.errors = {RENAMED.get(name, name): text for name, text in errors.items()}
        self.at = min(_step_of(name) for name in errors)
        if self.at == REVIEW:
            self.form_problem = " ".join(errors.values())

    @rx.var
    def fees_said(self) -> list[dict[str, str]]:
        """Return the fees as text."""
        texts = (("Taker", self.taker), ("Maker", self.maker))
        return [
            {"name": name, "value": percent(int(text))} for name, text in texts if text.isascii() and text.isdigit()
        ]


def _step_of(name: str) -> int:
    if name in STEP_OF:
        return STEP_OF[name]
    return REVIEW if name in ("form", "asset") else RULES
