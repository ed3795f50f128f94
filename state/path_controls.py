"""The bridge paths of an asset: their pauses and limits, and the dialogs that change them."""

from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.api import Form
from state.asset import AssetState, AssetView
from state.given import named, number
from state.requests import Follows, Tracker
from state.units import grouped, to_base
from state.verdicts import Terms

TRIAL = "Looking at what it would do."
"""The reason of the dry run; it is written nowhere."""
KINDS = ("pause", "unpause", "limit")
DAY = 86_400
WINDOWS = (("3600", "An hour"), (str(DAY), "A day"), (str(7 * DAY), "A week"))


@dataclass
class AssetPath:
    """The path between two chains, as the tokens at both ends have it."""

    id: str = ""
    one: str = ""
    other: str = ""
    source_eid: int = 0
    destination_eid: int = 0
    is_paused: bool = False
    limit: str = ""
    room: str = ""


class PathControls(Follows, Form, rx.State):
    """The paths of the asset, and the dialog that is open."""

    paths: list[AssetPath] = []
    problem: str = ""
    kind: str = ""
    chosen: AssetPath = AssetPath()
    changes: list[dict[str, str]] = []
    warnings: list[str] = []
    plan_problem: str = ""
    planning: bool = False

    @rx.event
    async def load(self):
        """Read the paths; nothing is open."""
        self.kind = ""
        await self._read()

    async def _followed(self) -> None:
        await self._read()

    async def _read(self) -> None:
        self.problem = ""
        asset = (await self.get_state(AssetState)).asset
        try:
            found = await self._api("GET", f"/orgs/{{org}}/assets/{self.asset_id}/paths")
        except ApiProblem as problem:
            self.paths, self.problem = [], problem.detail or problem.title
            return
        self.paths = _pairs(found["paths"], asset)

    @rx.event
    async def show(self, kind: str, path_id: str):
        """Open a dialog for a path."""
        chosen = next((path for path in self.paths if path.id == path_id), None)
        if kind not in KINDS or chosen is None:
            return
        self._done()
        self.kind, self.chosen = kind, chosen
        self.changes, self.warnings, self.plan_problem = [], [], ""
        if kind == "limit":
            return
        self.planning = True
        yield
        await self._plan()

    async def _plan(self) -> None:
        asset = (await self.get_state(AssetState)).asset
        try:
            plan = await self._api("POST", f"{self._path()}?dry_run=true", json=self._ends() | {"reason": TRIAL})
        except ApiProblem as problem:
            self.plan_problem = problem.detail or problem.title
        else:
            self.changes = [_change(change, asset) for change in plan["impact"]["changes"]]
            self.warnings = plan["impact"]["warnings"]
        self.planning = False

    @rx.event
    def close(self, is_open: bool):
        """Close the dialog."""
        if not is_open:
            self.kind = ""

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Do it, and follow it on the asset's page."""
        if self.kind not in KINDS:
            return
        self._begin()
        yield
        asset, said = (await self.get_state(AssetState)).asset, named(data, "reason", "amount", "window_seconds")
        body = self._ends() | {"reason": said["reason"]}
        self.errors = {} if said["reason"] else {"reason": "Say why; it is kept with the request"}
        if self.kind == "limit":
            body |= self._terms(said, asset)
        if self.errors:
            self.saving = False
            return
        try:
            answer = await self._api("POST", self._path(), json=body, key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("reason", "amount", "window_seconds")
            return
        self._done()
        self.kind = ""
        yield [AssetState.watch(answer["requestId"]), Tracker.watch, self._follow(answer["requestId"])]

    def _terms(self, said: dict[str, str], asset: AssetView) -> dict[str, Any]:
        """Amount and window of a limit; an empty amount ends it."""
        amount = said["amount"].strip()
        if not amount:
            return {"amount": None}
        try:
            base = to_base(amount, asset.decimals)
        except ValueError as error:
            self.errors = self.errors | {"amount": str(error)}
            return {}
        return {"amount": base, "window_seconds": number(said["window_seconds"]) or DAY}

    def _ends(self) -> dict[str, Any]:
        return {"source_chain_eid": self.chosen.source_eid, "destination_chain_eid": self.chosen.destination_eid}

    def _path(self) -> str:
        return f"/orgs/{{org}}/assets/{self.asset_id}/{self.kind}-path"


def _pairs(found: list[dict[str, Any]], asset: AssetView) -> list[AssetPath]:
    """One entry for both directions: paused where either end is, with the smaller room."""
    names = {place.eid: place.chain for place in asset.places}
    by_ends = {(path["chain_eid"], path["other_chain_eid"]): path for path in found}
    shown = []
    for (one, other), path in by_ends.items():
        if one > other:
            continue
        both = [path, by_ends[other, one]]
        limited = [end for end in both if end["limit"] is not None]
        least = min(limited, key=lambda end: int(end["available"]), default=None)
        shown.append(
            AssetPath(
                id=f"{one}-{other}",
                one=names.get(one, str(one)),
                other=names.get(other, str(other)),
                source_eid=one,
                destination_eid=other,
                is_paused=any(end["is_paused"] for end in both),
                limit=_limit(least, asset) if least else "",
                room=f"{grouped(least['available'], asset.decimals)} {asset.symbol}" if least else "",
            )
        )
    return shown


def _limit(path: dict[str, Any], asset: AssetView) -> str:
    window = int(path["window_seconds"])
    per = {3600: "an hour", DAY: "a day", 7 * DAY: "a week"}.get(window, f"{window:,} seconds")
    return f"{grouped(path['limit'], asset.decimals)} {asset.symbol} in {per}"


def _change(change: dict[str, Any], asset: AssetView) -> dict[str, str]:
    place = next((p.chain for p in asset.places if p.eid == change["chain_eid"]), "")
    words = Terms("", asset.id, asset.symbol, asset.decimals)
    name = "Limit" if change["field"] == "limit" else "Path"
    old, new = (words.in_words(change[key]) for key in ("before", "after"))
    return {"name": f"{name}, {place}", "old": old[:1].upper() + old[1:], "new": new[:1].upper() + new[1:]}
