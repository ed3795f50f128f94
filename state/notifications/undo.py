"""Undo of what a toast reports: the state that made a change makes the opposite one."""

from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.core.api import Api, asks_for_proof
from state.core.events import Next
from state.core.toasts import Notices

MOST = 4
"""Changes that can be undone at the same time: as many as there are toasts."""


class Undo(Api, rx.State):
    """By toast: the state that can undo its change, and the facts that it needs."""

    _kept: dict[str, tuple[str, dict[str, str]]] = {}

    def _keep(self, notice_id: str, state: str, facts: dict[str, str]) -> None:
        kept = {**self._kept, notice_id: (state, facts)}
        self._kept = dict(list(kept.items())[-MOST:])

    @rx.event
    async def run(self, notice_id: str) -> Next:
        """Undo what a toast reports, once."""
        if str(notice_id) not in self._kept:
            return None
        name, facts = self._kept[str(notice_id)]
        state: Any = await self.get_state(rx.State.get_class_substate(name))
        try:
            shown = await state._undo(facts)
        except ApiProblem as problem:
            if asks_for_proof(problem):  # a dialog asks for it, and repeats this
                return None
            shown = None
            await self._notify("This cannot be undone", problem.detail or problem.title, "bad")
        self._kept = {key: value for key, value in self._kept.items() if key != str(notice_id)}
        (await self.get_state(Notices))._remove(str(notice_id))
        return shown
