"""The return of a failed bridge: what it would do, and asking for it."""

from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.api import Form
from state.bridges import BridgeState
from state.given import named
from state.requests import Tracker

TRIAL = "Looking at what it would do."
"""The reason of the dry run; it is written nowhere."""


class BridgeReturn(Form, rx.State):
    """The dialog that returns the supply of the bridge in the drawer."""

    is_open: bool = False
    planning: bool = False
    steps: list[str] = []
    warnings: list[str] = []
    plan_problem: str = ""

    @rx.event
    async def show(self):
        """Open the dialog, and ask what a return would do now."""
        self._done()
        self.steps, self.warnings, self.plan_problem = [], [], ""
        self.is_open = self.planning = True
        yield
        try:
            plan = await self._api("POST", f"{await self._path()}?dry_run=true", json={"reason": TRIAL})
        except ApiProblem as problem:
            self.planning, self.plan_problem = False, problem.detail or problem.title
            return
        self.planning, self.steps, self.warnings = False, plan["steps"], plan["impact"]["warnings"]

    @rx.event
    def close(self, is_open: bool):
        """Close the dialog."""
        if not is_open:
            self.is_open = False

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Ask for the return; a second person decides."""
        self._begin()
        yield
        reason = named(data, "reason")["reason"]
        if not reason:
            self.errors, self.saving = {"reason": "Say why; it is kept with the request"}, False
            return
        try:
            answer = await self._api("POST", await self._path(), json={"reason": reason}, key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("reason")
            return
        self._done()
        self.is_open = False
        await self._notify("The return waits for a second person")
        yield [BridgeState.watch(answer["requestId"]), Tracker.watch]

    async def _path(self) -> str:
        return f"/orgs/{{org}}/bridges/{(await self.get_state(BridgeState)).bridge.id}/return"
