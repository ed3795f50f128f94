"""A guided tour: it shows the next step when the present one has really happened.

Its progress is stored in the browser, so that it can be left, resumed after a reload, and continued the next day. What
happened is read from the audit log.
"""

import json
from datetime import UTC, datetime
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.audit.log import Verification
from state.core.api import Api
from state.core.events import Events
from state.core.session import Session
from state.tour.steps import ROLES, TOURS, TourStep

MOST = 50
ENDED = "ended"


class Tour(Api, rx.State):
    """The tour that the person takes; `total` is 0 without one."""

    stored: str = ""
    """What the browser is to store; `ENDED` where it is to forget the tour."""
    name: str = ""
    number: int = 0
    """The present step, from 1; above `total` at the end."""
    total: int = 0
    is_left: bool = False
    title: str = ""
    why: str = ""
    what: str = ""
    href: str = ""
    points: list[dict[str, str]] = []

    @rx.event
    async def begin(self) -> Events:
        """Begin the tour for the person's role."""
        name = ROLES.get((await self.get_state(Session)).org.role, "")
        if name:
            since = datetime.now(UTC).isoformat()
            self._keep({"tour": name, "org": self._org_id(), "since": since, "at": 0, "left": False})
            yield
            yield rx.redirect(self.href)

    @rx.event
    async def look(self, stored: str) -> None:
        """Show the present step of the tour that the browser has stored, or the next one if it has happened."""
        kept = _kept(stored)
        if kept is None or kept["org"] != self._org_id():
            self.total = 0
            return
        steps = TOURS[kept["tour"]]
        while kept["at"] < len(steps) and await self._has_happened(steps[kept["at"]], kept["since"]):
            kept["at"] += 1
        self._keep(kept)

    @rx.event
    def leave(self, is_left: bool) -> None:
        """Leave the tour for now, or resume it."""
        if (kept := _kept(self.stored)) is not None:
            self._keep(kept | {"left": bool(is_left)})

    @rx.event
    def end(self) -> None:
        """End the tour."""
        self.stored, self.total = ENDED, 0

    async def _has_happened(self, step: TourStep, since: str) -> bool:
        if step.verifies_log:
            return (await self.get_state(Verification)).said != ""
        found = []
        for action in step.actions:
            try:
                page = await self._api.list_audit(self._org_id(), action=action, since=since, limit=MOST)
            except ApiProblem:
                return False
            found += page.audit
        return step.is_done(found)

    def _keep(self, kept: dict[str, Any]) -> None:
        """Store the progress, and show its step."""
        text = json.dumps(kept)
        if text != self.stored:
            self.stored = text
        steps = TOURS[kept["tour"]]
        self.name, self.total, self.is_left = kept["tour"], len(steps), bool(kept.get("left"))
        self.number = kept["at"] + 1
        if kept["at"] < len(steps):
            step = steps[kept["at"]]
            self.title, self.why, self.what = step.title, step.why, step.what
            self.href = f"/o/{kept['org']}/{step.path}"
            self.points = [{"within": point.within, "words": point.words} for point in step.points]
        else:
            self.points = []


def _kept(stored: str) -> dict[str, Any] | None:
    """Return the progress that a browser has stored; None without a tour, or if it is not readable."""
    try:
        kept = json.loads(str(stored)[:1_000])
        at, since = int(kept["at"]), datetime.fromisoformat(str(kept["since"])).isoformat()
        is_known = kept["tour"] in TOURS and 0 <= at <= len(TOURS[kept["tour"]])
        left = bool(kept.get("left"))
        return (
            {"tour": kept["tour"], "org": str(kept["org"]), "since": since, "at": at, "left": left}
            if is_known
            else None
        )
    except (ValueError, KeyError, TypeError):
        return None
