"""The daily limits of an asset, and the dialog that changes them."""

from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.client import ApiProblem, body
from backend.daily_limits.schemas import DailyLimit, DailyLimitsUpdate
from state.assets.detail import AssetDetail, AssetState
from state.core.arguments import named
from state.core.dialogs import Dialog
from state.core.edits import Edits
from state.core.events import Events, call
from state.core.units import grouped, to_base, to_whole
from state.notifications.bell import Bell
from state.requests.tracker import Follows, Tracker

ACTIONS = {
    "mint": "token.mint",
    "transfer": "transfer.send",
    "burn": "token.burn",
    "forced_transfer": "token.forced_transfer",
}
"""The action of an organization's policy to which a limit belongs."""
NAMES = {"mint": "Mint", "transfer": "Transfer", "burn": "Burn", "forced_transfer": "Forced transfer"}


@dataclass
class DailyLimitView:
    """One action's limit in whole tokens. `limit` is empty without a limit; `given` is the field's initial value, and
    `policy_action` the action of the organization's policy."""

    action: str = ""
    policy_action: str = ""
    name: str = ""
    limit: str = ""
    used: str = ""
    available: str = ""
    given: str = ""


class DailyLimits(Follows, Edits, Dialog, rx.State):
    """The daily limits of the current asset."""

    limits: list[DailyLimitView] = []
    problem: str = ""

    @rx.event
    async def load(self) -> None:
        """Read the limits and close the dialog."""
        self.is_open = False
        await self._read()

    async def _followed(self) -> None:
        await self._read()

    async def _read(self) -> None:
        self.problem = ""
        asset = (await self.get_state(AssetState)).asset
        try:
            with self._api.response_headers() as headers:
                found = await self._api.get_daily_limits(self._org_id(), self._in_path("asset_id"))
        except ApiProblem as problem:
            self.limits, self.problem = [], problem.detail or problem.title
            return
        self.limits = [daily_limit_view(limit, asset) for limit in found.limits]
        if not self.is_open:
            self._version, self._known = headers["etag"], _values(self.limits)

    async def _current(self) -> dict[str, str]:
        asset = (await self.get_state(AssetState)).asset
        found = await self._api.get_daily_limits(self._org_id(), self._in_path("asset_id"))
        return _values([daily_limit_view(limit, asset) for limit in found.limits])

    @rx.event
    async def show(self, is_open: bool) -> None:
        """Open the dialog with the current limits, or close it."""
        self._done()
        if is_open:
            await self._read()
        self.is_open = bool(is_open)

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Change the limits that differ; an empty field removes its limit."""
        self._begin()
        yield
        asset = (await self.get_state(AssetState)).asset
        changes = self._changes(named(data, *NAMES), asset)
        if self.errors or not changes:
            self.saving = False
            self.form_problem = "" if self.errors else "Nothing has changed yet."
            return
        try:
            answer = await self._api.update_daily_limits(
                self._org_id(),
                self._in_path("asset_id"),
                body(DailyLimitsUpdate, changes),
                idempotency_key=self._form_key,
                if_match=self._version,
            )
        except ApiProblem as problem:
            await self._reject(problem, *NAMES)
            return
        self._close()
        yield [call(AssetState.watch, answer.request_id), Tracker.watch, self._follow(answer.request_id)]
        yield Bell.look

    def _changes(self, written: dict[str, str], asset: AssetDetail) -> dict[str, str]:
        """Return the limits that differ from the dialog's initial values, in base units; "0" removes one."""
        self.errors = {}
        changes: dict[str, str] = {}
        for limit in self.limits:
            text = written[limit.action].strip()
            try:
                units = to_base(text, asset.decimals) if text else "0"
            except ValueError as error:
                self.errors = self.errors | {limit.action: str(error)}
                continue
            if text and units == "0":
                self.errors = self.errors | {limit.action: "Enter more than 0, or nothing for no limit"}
            elif units != (to_base(limit.given, asset.decimals) if limit.given else "0"):
                changes[limit.action] = units
        return changes


def _values(limits: list[DailyLimitView]) -> dict[str, str]:
    return {limit.name: limit.limit for limit in limits}


def daily_limit_view(limit: DailyLimit, asset: AssetDetail) -> DailyLimitView:
    """Convert the API's limit to whole tokens."""
    return DailyLimitView(
        action=limit.action,
        policy_action=ACTIONS[limit.action],
        name=NAMES[limit.action],
        limit="" if limit.limit is None else grouped(limit.limit, asset.decimals),
        used=grouped(limit.used, asset.decimals),
        available="" if limit.available is None else grouped(limit.available, asset.decimals),
        given="" if limit.limit is None else to_whole(limit.limit, asset.decimals),
    )
