"""The daily limits of an asset, and the dialog that changes them."""

from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.api import Form
from state.approvals import ApprovalCount
from state.asset import AssetState, AssetView
from state.given import named
from state.requests import Follows, Tracker
from state.units import grouped, to_base, to_whole

NAMES = {"mint": "Mint", "transfer": "Transfer", "burn": "Burn", "forced_transfer": "Forced transfer"}


@dataclass
class DailyLimitView:
    """One action's limit in whole tokens. `limit` is empty where there is none; `given` is how its field begins."""

    action: str = ""
    name: str = ""
    limit: str = ""
    used: str = ""
    available: str = ""
    given: str = ""


class DailyLimits(Follows, Form, rx.State):
    """The limits of the asset in view."""

    limits: list[DailyLimitView] = []
    problem: str = ""
    is_open: bool = False

    @rx.event
    async def load(self):
        """Read the limits; the dialog is closed."""
        self.is_open = False
        await self._read()

    async def _followed(self) -> None:
        await self._read()

    async def _read(self) -> None:
        self.problem = ""
        asset = (await self.get_state(AssetState)).asset
        try:
            found = await self._api("GET", self._path())
        except ApiProblem as problem:
            self.limits, self.problem = [], problem.detail or problem.title
            return
        self.limits = [_view(limit, asset) for limit in found["limits"]]

    @rx.event
    async def show(self, is_open: bool):
        """Open the dialog with the limits of now, or close it."""
        self._done()
        if is_open:
            await self._read()
        self.is_open = bool(is_open)

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Change what differs; an empty field removes its limit."""
        self._begin()
        yield
        asset = (await self.get_state(AssetState)).asset
        body = self._body(named(data, *NAMES), asset)
        if self.errors or not body:
            self.saving = False
            self.form_problem = "" if self.errors else "Nothing is changed yet."
            return
        try:
            answer = await self._api("PATCH", self._path(), json=body, key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at(*NAMES)
            return
        self._done()
        self.is_open = False
        yield [AssetState.watch(answer["requestId"]), Tracker.watch, self._follow(answer["requestId"])]
        yield ApprovalCount.look

    def _body(self, written: dict[str, str], asset: AssetView) -> dict[str, str]:
        """The limits that differ from those the dialog began with, in base units; "0" removes one."""
        body, self.errors = {}, {}
        for limit in self.limits:
            text = written[limit.action].strip()
            try:
                units = to_base(text, asset.decimals) if text else "0"
            except ValueError as error:
                self.errors = self.errors | {limit.action: str(error)}
                continue
            if text and units == "0":
                self.errors = self.errors | {limit.action: "More than 0, or empty for no limit"}
            elif units != (to_base(limit.given, asset.decimals) if limit.given else "0"):
                body[limit.action] = units
        return body

    def _path(self) -> str:
        return f"/orgs/{{org}}/assets/{self.asset_id}/daily-limits"


def _view(limit: dict[str, Any], asset: AssetView) -> DailyLimitView:
    has_limit = limit["limit"] is not None
    return DailyLimitView(
        action=limit["action"],
        name=NAMES[limit["action"]],
        limit=grouped(limit["limit"], asset.decimals) if has_limit else "",
        used=grouped(limit["used"], asset.decimals),
        available=grouped(limit["available"], asset.decimals) if has_limit else "",
        given=to_whole(limit["limit"], asset.decimals) if has_limit else "",
    )
