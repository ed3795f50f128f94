"""The compliance editor: the draft against the current rules, its impact from a dry run, and saving."""

import reflex as rx

from backend.assets.schemas import AssetUpdate, OpenOrders
from backend.client import ApiProblem, body
from state.assets.detail import AssetState
from state.compliance.cap_words import cap_changes
from state.compliance.caps import CapsState
from state.compliance.effect_rows import Written
from state.compliance.effects import ShowsEffects
from state.compliance.history import RulesHistory
from state.compliance.impact import Impact, impact_of
from state.compliance.rule_editor import FIELDS, RuleEditor
from state.compliance.rules import InvalidFields, Rules, asset_body, checked, of_asset, rebased, words
from state.core.edits import differences
from state.core.events import Events, Next, call
from state.requests.tracker import Tracker

NO_VERSION = '"unread"'
"""An ETag that no record has."""


class ComplianceState(RuleEditor, ShowsEffects, rx.State):
    """The editor on the asset's page."""

    changes: list[dict[str, str]] = []
    changed: dict[str, bool] = {}
    impact: Impact = Impact()
    checking: bool = False
    checked: bool = False
    reviewing: bool = False
    cancels_orders: bool = False
    """Whether saving cancels the open orders of ineligible holders."""
    reason: str = ""
    is_outdated: bool = False
    """Whether another person has changed the asset since these rules were read."""
    _version: str = ""
    """The version that the draft was made from; "" after a save, until the page shows the saved rules."""
    _saved: Rules = Rules()
    _asset_id: str = ""

    @rx.event
    async def load(self) -> None:
        """Start from the current rules, unless there are unsaved changes to this asset."""
        await self._read_frameworks()
        self.reviewing = False
        if self._asset_id != self._in_path("asset_id") or not self.changes:
            await self._reset()

    @rx.event
    async def discard(self) -> None:
        """Discard the changes."""
        await self._reset()

    async def _reset(self) -> None:
        page = await self.get_state(AssetState)
        if page._record is None:
            return
        self._asset_id, self._saved, self._version = self._in_path("asset_id"), of_asset(page._record), page._version
        self._done()
        self.is_outdated = False
        self._fill(self._saved)
        self.changes, self.changed, self.impact, self.checked, self.reviewing = [], {}, Impact(), False, False
        self.cancels_orders, self.reason = False, ""
        await self._name_issuers()

    @rx.event
    async def rebase(self) -> Next:
        """Read the current rules, and apply the unsaved changes to them."""
        page = await self.get_state(AssetState)
        await page._read()
        if page._record is None or self._asset_id != self._in_path("asset_id"):
            return None
        draft = rebased(self.draft, self._saved, of_asset(page._record))
        await self._reset()
        self._fill(draft)
        return await self._drafted()

    async def _drafted(self) -> Next:
        asset = (await self.get_state(AssetState)).asset
        self.checked = False
        try:
            new = words(checked(self.draft, asset.decimals), asset.symbol, asset.decimals, self.issuer_names)
        except InvalidFields as invalid:
            self.errors = self.errors | invalid.errors
            return None
        old = words(checked(self._saved, asset.decimals), asset.symbol, asset.decimals, self.issuer_names)
        self.changes = list(differences(old, new))
        self.changed = {change["name"]: True for change in self.changes}
        return ComplianceState.preview if self.changes else None

    @rx.event(supersedes=True)
    async def preview(self) -> Events:
        """Read the impact of saving; nothing is written."""
        self.checking, self.form_problem = True, ""
        yield
        try:
            plan = await self._api.update_asset(
                self._org_id(), self._asset_id, await self._body(), dry_run=True, if_match=await self._edited()
            )
        except InvalidFields as invalid:
            self.checking, self.errors = False, invalid.errors
            return
        except ApiProblem as problem:
            self._rejected(problem)
            self.checking = False
            return
        asset = (await self.get_state(AssetState)).asset
        shared = plan.impact.caps if len(asset.places) > 1 else []  # on one chain they repeat the changed rules
        self.impact = impact_of(plan, cap_changes(shared, asset.symbol, asset.decimals))
        self._take_effects(plan.impact.effects, Written(asset.symbol, asset.decimals))
        self.cancels_orders = self.cancels_orders and self.impact.orders != ""
        self.checking, self.checked = False, True

    @rx.event
    def review(self, is_open: bool) -> None:
        """Open or close the review before saving."""
        self.reviewing = bool(is_open)
        self.form_problem = ""

    def _leave(self) -> None:
        self.reviewing = self.listing = False

    @rx.event
    def choose_orders(self, is_cancelling: bool) -> Next:
        """Choose whether saving cancels the open orders of ineligible holders."""
        self.cancels_orders = bool(is_cancelling)
        return ComplianceState.preview

    @rx.event
    def explain(self, reason: str) -> None:
        """Take over the reason of the change."""
        self.reason = str(reason).strip()[:500]

    @rx.event
    async def save(self) -> Events:
        """Save: start a request that writes the rules to every chain, and follow it on this page."""
        self._begin()
        yield
        try:
            answer = await self._api.update_asset(
                self._org_id(),
                self._asset_id,
                await self._body(),
                idempotency_key=self._form_key,
                if_match=await self._edited(),
            )
        except InvalidFields as invalid:
            self.saving, self.reviewing, self.errors = False, False, invalid.errors
            return
        except ApiProblem as problem:
            self._rejected(problem)
            self.reviewing = self.reviewing and not self.errors
            return
        self._done()
        self._version = ""
        self.reviewing, self.changes, self.changed, self._saved = False, [], {}, self.draft
        self.impact, self.checked, self.cancels_orders, self.reason = Impact(), False, False, ""
        page = await self.get_state(AssetState)
        await self._accepted(f"Updating the rules of {page.asset.symbol}", answer.request_id)
        yield [page._follow(answer.request_id), Tracker.watch, AssetState.reload, RulesHistory.catch_up]
        yield call(CapsState.watch, answer.request_id)

    def _rejected(self, problem: ApiProblem) -> None:
        self._refused(problem)
        self._keep_at(*FIELDS)
        self.is_outdated = problem.status == 412

    async def _edited(self) -> str:
        """Return the version that the draft was made from."""
        page = await self.get_state(AssetState)
        if not self._version and page._record is not None:
            decimals = page.asset.decimals
            if not asset_body(checked(of_asset(page._record), decimals), checked(self._saved, decimals)):
                self._version = page._version
        return self._version or NO_VERSION

    async def _body(self) -> AssetUpdate:
        """Return the changed fields. Raises InvalidFields, and ApiProblem as the API would."""
        decimals = (await self.get_state(AssetState)).asset.decimals
        changed = asset_body(checked(self.draft, decimals), checked(self._saved, decimals))
        orders = {"orders": OpenOrders.CANCEL} if self.cancels_orders else {}
        return body(AssetUpdate, changed | orders | ({"reason": self.reason} if self.reason else {}))
