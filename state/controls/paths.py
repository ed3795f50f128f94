"""The bridge paths of an asset: their pauses and limits, and the dialogs that change them."""

from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.client import ApiProblem, SignumClient
from backend.controls.schemas import AssetPath, Change, LimitPath, PausePath
from state.assets.detail import AssetDetail, AssetState
from state.compliance.verdicts import Terms
from state.controls.operations import operation
from state.controls.policy import is_guarded
from state.core.api import Form
from state.core.arguments import named, number
from state.core.events import Events, call
from state.core.units import grouped, to_base
from state.requests.tracker import Follows, Tracker

TRIAL = "Preview of the effects."
"""The reason in the dry run; it is not stored."""
OPERATIONS = {
    "pause": operation(PausePath, SignumClient.pause_path),
    "unpause": operation(PausePath, SignumClient.unpause_path),
    "limit": operation(LimitPath, SignumClient.limit_path),
}
DAY = 86_400
WINDOWS = (("3600", "An hour"), (str(DAY), "A day"), (str(7 * DAY), "A week"))


@dataclass
class AssetPathView:
    """The path between two chains, with the settings of the tokens at both ends."""

    id: str = ""
    one: str = ""
    other: str = ""
    source_eid: int = 0
    destination_eid: int = 0
    is_paused: bool = False
    limit: str = ""
    room: str = ""


class PathControls(Follows, Form, rx.State):
    """The bridge paths of the asset, and the open dialog."""

    paths: list[AssetPathView] = []
    problem: str = ""
    kind: str = ""
    chosen: AssetPathView = AssetPathView()
    changes: list[dict[str, str]] = []
    warnings: list[str] = []
    plan_problem: str = ""
    is_guarded: bool = False
    planning: bool = False

    @rx.event
    async def load(self) -> None:
        """Read the paths and close the dialogs."""
        self.kind = ""
        await self._read()

    async def _followed(self) -> None:
        await self._read()

    async def _read(self) -> None:
        self.problem = ""
        asset = (await self.get_state(AssetState)).asset
        try:
            found = await self._api.list_asset_paths(self._org_id(), self._in_path("asset_id"))
        except ApiProblem as problem:
            self.paths, self.problem = [], problem.detail or problem.title
            return
        self.paths = _pairs(found.paths, asset)

    @rx.event
    async def show(self, kind: str, path_id: str) -> Events:
        """Open a dialog for a path."""
        chosen = next((path for path in self.paths if path.id == path_id), None)
        if kind not in OPERATIONS or chosen is None:
            return
        self._done()
        self.kind, self.chosen = kind, chosen
        self.changes, self.warnings, self.plan_problem = [], [], ""
        self.is_guarded = await is_guarded(self._api, self._org_id(), f"{kind}_path")
        if kind == "limit":
            return
        self.planning = True
        yield
        await self._plan()

    async def _plan(self) -> None:
        asset, fields = (await self.get_state(AssetState)).asset, self._ends() | {"reason": TRIAL}
        dry_run = OPERATIONS[self.kind].plan
        try:
            plan = await dry_run(self._api, self._org_id(), self._in_path("asset_id"), fields)
        except ApiProblem as problem:
            self.plan_problem = problem.detail or problem.title
        else:
            self.changes = [_change_words(change, asset) for change in plan.impact.changes]
            self.warnings = plan.impact.warnings
        self.planning = False

    @rx.event
    def close(self, is_open: bool) -> None:
        """Close the dialog."""
        if not is_open:
            self.kind = ""

    def _leave(self) -> None:
        self.kind = ""

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Send the request, and follow it on the asset's page."""
        if self.kind not in OPERATIONS:
            return
        self._begin()
        yield
        asset, said = (await self.get_state(AssetState)).asset, named(data, "reason", "amount", "window_seconds")
        fields = self._ends() | {"reason": said["reason"]}
        self.errors = {} if said["reason"] else {"reason": "Enter a reason. It is stored with the request"}
        if self.kind == "limit":
            fields |= self._limit(said, asset)
        if self.errors:
            self.saving = False
            return
        try:
            answer = await OPERATIONS[self.kind].send(
                self._api, self._org_id(), self._in_path("asset_id"), fields, self._form_key
            )
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("reason", "amount", "window_seconds")
            return
        self._done()
        self.kind = ""
        yield [call(AssetState.watch, answer.request_id), Tracker.watch, self._follow(answer.request_id)]

    def _limit(self, said: dict[str, str], asset: AssetDetail) -> dict[str, str | int | None]:
        """Return amount and window of a limit; an empty amount removes it, which the API takes as "0"."""
        amount = said["amount"].strip()
        if not amount:
            return {"amount": "0"}
        try:
            base = to_base(amount, asset.decimals)
        except ValueError as error:
            self.errors = self.errors | {"amount": str(error)}
            return {}
        return {"amount": base, "window_seconds": number(said["window_seconds"]) or DAY}

    def _ends(self) -> dict[str, str | int | None]:
        return {"source_chain_eid": self.chosen.source_eid, "destination_chain_eid": self.chosen.destination_eid}


def _pairs(found: list[AssetPath], asset: AssetDetail) -> list[AssetPathView]:
    """Merge both directions into one entry."""
    by_ends = {(path.chain_eid, path.other_chain_eid): path for path in found}
    return [_path_view(path, by_ends[other, one], asset) for (one, other), path in by_ends.items() if one <= other]


def _path_view(path: AssetPath, back: AssetPath, asset: AssetDetail) -> AssetPathView:
    """Convert both directions of a path: paused if either end is, with the smaller available amount."""
    names = {place.eid: place.chain for place in asset.places}
    one, other = path.chain_eid, path.other_chain_eid
    limited = [end for end in (path, back) if end.limit is not None]
    least = min(limited, key=lambda end: int(end.available or 0), default=None)
    return AssetPathView(
        id=f"{one}-{other}",
        one=names.get(one, str(one)),
        other=names.get(other, str(other)),
        source_eid=one,
        destination_eid=other,
        is_paused=path.is_paused or back.is_paused,
        limit=_limit_words(least, asset) if least else "",
        room=f"{grouped(least.available or 0, asset.decimals)} {asset.symbol}" if least else "",
    )


def _limit_words(path: AssetPath, asset: AssetDetail) -> str:
    window = path.window_seconds or 0
    per = {3600: "an hour", DAY: "a day", 7 * DAY: "a week"}.get(window, f"{window:,} seconds")
    return f"{grouped(path.limit or 0, asset.decimals)} {asset.symbol} in {per}"


def _change_words(change: Change, asset: AssetDetail) -> dict[str, str]:
    place = next((p.chain for p in asset.places if p.eid == change.chain_eid), "")
    terms = Terms("", asset.id, asset.symbol, asset.decimals)
    name = "Limit" if change.field == "limit" else "Path"
    old, new = terms.in_words(change.before), terms.in_words(change.after)
    return {"name": f"{name}, {place}", "old": old[:1].upper() + old[1:], "new": new[:1].upper() + new[1:]}
