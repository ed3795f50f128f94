"""The return of a failed bridge's supply: its effects, and the request."""

from typing import Any

import reflex as rx

from backend.bridges.schemas import BridgeReturn
from backend.client import ApiProblem, body
from state.bridges.list import BridgeState
from state.core.arguments import named
from state.core.dialogs import DialogAbout
from state.core.events import Events, call
from state.requests.tracker import Tracker

TRIAL = "Preview of the effects."
"""The reason in the dry run; it is not stored."""


class BridgeReturnForm(DialogAbout, rx.State):
    """The dialog that returns the supply of the bridge in the drawer."""

    planning: bool = False
    steps: list[str] = []
    warnings: list[str] = []
    plan_problem: str = ""

    @rx.event
    async def begin(self) -> Events:
        """Open the dialog and read what a return would do now."""
        self._done()
        self.steps, self.warnings, self.plan_problem = [], [], ""
        self.is_open = self.planning = True
        yield
        try:
            plan = await self._api.return_bridge(
                self._org_id(), await self._bridge_id(), BridgeReturn(reason=TRIAL), dry_run=True
            )
        except ApiProblem as problem:
            self.planning, self.plan_problem = False, problem.detail or problem.title
            return
        self.planning, self.steps, self.warnings = False, plan.steps, plan.impact.warnings

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Request the return; a second person decides."""
        self._begin()
        yield
        reason = named(data, "reason")["reason"]
        if not reason:
            self.errors, self.saving = {"reason": "Enter a reason. It is stored with the request"}, False
            return
        try:
            wanted = body(BridgeReturn, {"reason": reason})
            answer = await self._api.return_bridge(
                self._org_id(), await self._bridge_id(), wanted, idempotency_key=self._form_key
            )
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("reason")
            return
        self._close()
        await self._notify("The return is waiting for a second person")
        yield [call(BridgeState.watch, answer.request_id), Tracker.watch]

    async def _bridge_id(self) -> str:
        return (await self.get_state(BridgeState)).bridge.id
