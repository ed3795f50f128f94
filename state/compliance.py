"""The compliance editor: the draft against what holds, its impact by a dry run, and saving."""

from dataclasses import dataclass, field
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.asset import AssetState
from state.requests import Tracker
from state.rule_editor import FIELDS, RuleEditor
from state.rules import Rules, Unfit, asset_body, checked, differences, of_asset, words
from state.rules_history import RulesHistory
from state.units import grouped

SHOWN = 50


@dataclass
class Excluded:
    """A holder who falls out, and why."""

    address: str
    name: str
    balance: str
    why: str


@dataclass
class Halting:
    """A market that the new rules halt."""

    id: str
    name: str
    why: str


@dataclass
class Impact:
    """What saving would do."""

    headline: str = ""
    falling: str = ""
    staying: str = ""
    is_harmless: bool = True
    total: int = 0
    out: int = 0
    more: int = 0
    holders: list[Excluded] = field(default_factory=list)
    markets: list[Halting] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)


class ComplianceState(RuleEditor, rx.State):
    """The editor on the asset's page."""

    changes: list[dict[str, str]] = []
    changed: dict[str, bool] = {}
    impact: Impact = Impact()
    checking: bool = False
    checked: bool = False
    reviewing: bool = False
    _saved: Rules = Rules()
    _of: str = ""

    @rx.event
    async def load(self):
        """Start from what holds, unless there are changes to this asset that were not saved."""
        await self._read_frameworks()
        self.reviewing = False
        if self._of != self.asset_id or not self.changes:
            await self._reset()

    @rx.event
    async def discard(self):
        """Forget the changes."""
        await self._reset()

    async def _reset(self) -> None:
        asset = await self.get_state(AssetState)
        if not asset._record:
            return
        self._of, self._saved = str(self.asset_id), of_asset(asset._record)
        self._done()
        self._fill(self._saved)
        self.changes, self.changed, self.impact, self.checked, self.reviewing = [], {}, Impact(), False, False

    async def _drafted(self) -> Any:
        asset = (await self.get_state(AssetState)).asset
        self.checked = False
        try:
            new = words(checked(self.draft, asset.decimals), asset.symbol, asset.decimals)
        except Unfit as unfit:
            self.errors = self.errors | unfit.errors
            return None
        old = words(checked(self._saved, asset.decimals), asset.symbol, asset.decimals)
        self.changes = list(differences(old, new))
        self.changed = {change["name"]: True for change in self.changes}
        return ComplianceState.preview if self.changes else None

    @rx.event(supersedes=True)
    async def preview(self):
        """Ask what saving would do; nothing is written."""
        self.checking, self.form_problem = True, ""
        yield
        try:
            plan = await self._api("PATCH", self._path(), json=await self._body(), params={"dry_run": "true"})
        except Unfit as unfit:
            self.checking, self.errors = False, unfit.errors
            return
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at(*FIELDS)
            self.checking = False
            return
        self.impact = await self._impact(plan)
        self.checking, self.checked = False, True

    @rx.event
    def review(self, is_open: bool):
        """Open or close the last look before saving."""
        self.reviewing = bool(is_open)
        self.form_problem = ""

    @rx.event
    async def save(self):
        """Save: a request that writes the rules to every chain, followed on this page."""
        self._begin()
        yield
        try:
            answer = await self._api("PATCH", self._path(), json=await self._body(), key=self._form_key)
        except Unfit as unfit:
            self.saving, self.reviewing, self.errors = False, False, unfit.errors
            return
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at(*FIELDS)
            self.reviewing = self.reviewing and not self.errors
            return
        self._done()
        self.reviewing, self.changes, self.changed, self._saved = False, [], {}, self.draft
        self.impact, self.checked = Impact(), False
        page = await self.get_state(AssetState)
        await self._accepted(f"Updating the rules of {page.asset.symbol}", answer["requestId"])
        yield [page._follow(answer["requestId"]), Tracker.watch, AssetState.reload, RulesHistory.catch_up]

    def _path(self) -> str:
        return f"/orgs/{{org}}/assets/{self._of}"

    async def _body(self) -> dict[str, Any]:
        decimals = (await self.get_state(AssetState)).asset.decimals
        return asset_body(checked(self.draft, decimals), checked(self._saved, decimals))

    async def _impact(self, plan: dict[str, Any]) -> Impact:
        state, impact = await self.get_state(AssetState), plan["impact"]
        out = impact["holders_excluded"]
        halting = [market for market in impact["markets"] if market["halts"]]
        total = impact["holders_total"]
        return Impact(
            headline=_headline(len(out), total, len(halting)),
            falling=_falling(len(out), total),
            staying=_counted(total - len(out), "holder stays", "holders stay") + " eligible",
            is_harmless=not out and not halting,
            total=total,
            out=len(out),
            more=max(0, len(out) - SHOWN),
            holders=[_excluded(holder, state.asset.decimals, state.asset.symbol) for holder in out[:SHOWN]],
            markets=[
                Halting(market["market_id"], state._chain_name(market["chain_eid"]), market["reason"])
                for market in halting[:SHOWN]
            ],
            steps=plan["steps"],
        )


def _excluded(holder: dict[str, Any], decimals: int, symbol: str) -> Excluded:
    balance = f"{grouped(holder['balance'], decimals)} {symbol}"
    return Excluded(holder["wallet_address"], holder["name"] or "", balance, "; ".join(holder["reasons"]))


def _headline(out: int, total: int, halting: int) -> str:
    """Like `3 of 212 holders fall out, 1 market halts`."""
    told = ((out, _falling(out, total)), (halting, _counted(halting, "market halts", "markets halt")))
    said = [words for count, words in told if count]
    return ", ".join(said) or "No holder falls out, no market halts"


def _falling(out: int, total: int) -> str:
    return f"{out} of {_counted(total, 'holder', 'holders')} {'falls' if out == 1 else 'fall'} out"


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"
