"""The dialog that moves a share of an asset's limits from one chain to another."""

from typing import Any

import reflex as rx

from backend.caps.schemas import CapShare, CapSharesUpdate
from backend.client import ApiProblem, body
from state.assets.detail import AssetDetail, AssetState
from state.compliance.cap_words import cap_changes, plain
from state.compliance.caps import CapsState
from state.compliance.history import RulesHistory
from state.core.arguments import named, number
from state.core.dialogs import Dialog
from state.core.events import Events, Next, call
from state.core.units import to_base
from state.requests.tracker import Tracker

TRIAL = "Preview of the effects."
"""The reason in the dry run; it is not stored."""
FIELDS = ("source", "target", "holders", "tokens")


class CapMove(Dialog, rx.State):
    """The dialog: from one chain to another, how much, why, and what it changes."""

    source: str = ""
    target: str = ""
    changes: list[dict[str, str]] = []
    plan_problem: str = ""
    planning: bool = False
    _shares: list[CapShare] = []
    """The shares in force when the dialog was opened."""
    _version: str = ""
    _given: dict[str, str] = {}

    @rx.event
    async def show(self, is_open: bool) -> None:
        """Open the dialog with the current limits, or close it."""
        self._done()
        self.changes, self.plan_problem, self.planning = [], "", False
        if is_open:
            page = await self.get_state(AssetState)
            await page._read()
            limits = await self.get_state(CapsState)
            await limits._read()
            self._version, self._shares = page._version, limits._shares
            self.source, self.target = [*(chain["value"] for chain in limits.chains), "", ""][:2]
            self._given = {"source": self.source, "target": self.target}
        self.is_open = bool(is_open)

    @rx.event
    def write(self, name: str, text: str) -> Next:
        """Take over an input; the effects are read after the last one."""
        if name not in FIELDS or not self.is_open or self._given.get(name) == str(text)[:100]:
            return None
        self._given = {**self._given, name: str(text)[:100]}
        self.source, self.target = self._given["source"], self._given["target"]
        self.errors = {field: words for field, words in self.errors.items() if field != name}
        return CapMove.preview

    @rx.event(supersedes=True)
    async def preview(self) -> Events:
        """Read what the move would change; nothing is written."""
        self.changes, self.plan_problem = [], ""
        asset = (await self.get_state(AssetState)).asset
        shares = self._moved(asset)
        if shares is None:
            return
        self.planning = True
        yield
        try:
            plan = await self._api.share_caps(
                self._org_id(), asset.id, CapSharesUpdate(shares=shares, reason=TRIAL), dry_run=True
            )
        except ApiProblem as problem:
            self.planning, self.plan_problem = False, problem.detail or problem.title
            return
        self.planning, self.changes = False, cap_changes(plan.impact.caps, asset.symbol, asset.decimals)

    def _moved(self, asset: AssetDetail) -> list[CapShare] | None:
        """Return every chain's share after the move; None, with the errors at their fields, while that is unclear."""
        self.errors = {}
        source, target = number(self._given.get("source")), number(self._given.get("target"))
        found = {share.chain_eid: share for share in plain(self._shares)}
        if source not in found or target not in found or source == target:
            self.errors = {"target": "Choose another chain"} if source == target else {}
            return None
        moved = {name: self._amount(name, asset) for name in ("holders", "tokens")}
        if self.errors or not any(moved.values()):
            return None
        for eid, sign in ((source, -1), (target, 1)):
            share = found[eid]
            holders = share.max_holders + sign * moved["holders"]
            tokens = int(share.max_tokens_per_holder) + sign * moved["tokens"]
            if holders < 0 or tokens < 0:
                name = "holders" if holders < 0 else "tokens"
                self.errors = {name: "The chain's share is smaller than this"}
                return None
            found[eid] = CapShare(chain_eid=eid, max_holders=holders, max_tokens_per_holder=str(tokens))
        return list(found.values())

    def _amount(self, name: str, asset: AssetDetail) -> int:
        text = self._given.get(name, "").strip()
        try:
            return int(to_base(text, asset.decimals if name == "tokens" else 0)) if text else 0
        except ValueError as error:
            self.errors = {**self.errors, name: "Enter a whole number" if name == "holders" else str(error)}
            return 0

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Request the move, and follow it on the asset's page."""
        self._begin()
        yield
        asset = (await self.get_state(AssetState)).asset
        given = named(data, *FIELDS, "reason")
        self._given = {name: given[name] for name in FIELDS}
        shares = self._moved(asset)
        if shares is None or not given["reason"]:
            missing = {} if given["reason"] else {"reason": "Enter a reason. It is stored with the request"}
            self.errors, self.saving = {**self.errors, **missing}, False
            self.form_problem = "" if self.errors else "Enter how much to move."
            return
        try:
            answer = await self._api.share_caps(
                self._org_id(),
                asset.id,
                body(CapSharesUpdate, {"shares": [one.model_dump() for one in shares], "reason": given["reason"]}),
                idempotency_key=self._form_key,
                if_match=self._version,
            )
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at(*FIELDS, "reason")
            return
        self._close()
        await self._accepted(f"Changing the limits of {asset.symbol}", answer.request_id)
        page = await self.get_state(AssetState)
        yield [page._follow(answer.request_id), Tracker.watch, RulesHistory.catch_up]
        yield call(CapsState.watch, answer.request_id)
