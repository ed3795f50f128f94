"""A guided tour: it shows the next step when the present one has really happened.

Its progress is stored in the browser, so that it can be left, resumed after a reload, and continued the next day, also
by the second person of a step. What happened is read from the audit log.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import reflex as rx

from backend.audit.schemas import AuditEntry
from backend.client import ApiProblem
from state.audit.log import Verification
from state.core.api import Api
from state.core.arguments import id_of, words
from state.core.events import Events
from state.core.session import Session
from state.evidence.pack import EvidenceState
from state.tour.facts import FactReader
from state.tour.steps import Fact, Learns, TourStep, Verifies, fill
from state.tour.tours import ROLES, TAKE_PART, TOURS

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
    progress: str = ""
    """What of the present step is done."""
    href: str = ""
    points: list[dict[str, str]] = []
    _since: str = ""
    """When the tour began that this state knows of."""
    _turn: int = 0
    """How often this tour was left, resumed or ended. What a browser sent before is older than what it stores then."""

    @rx.event
    async def begin(self) -> Events:
        """Begin the tour for the person's role."""
        name = ROLES.get((await self.get_state(Session)).org.role, "")
        if name:
            since = datetime.now(UTC).isoformat()
            kept = {
                "tour": name,
                "org": self._org_id(),
                "since": since,
                "at": 0,
                "over": "",
                "left": False,
                "turn": 0,
                "facts": {},
            }
            await self._find(kept)
            self._keep(kept)
            yield
            yield rx.redirect(self.href)

    @rx.event
    async def look(self, stored: str) -> Events:
        """Show the present step of the tour that the browser has stored, or the next one if it has happened."""
        kept = _kept(stored)
        role = (await self.get_state(Session)).org.role
        if kept is not None and (kept["since"], kept["turn"]) < (self._since, self._turn):
            return  # it was sent before the tour was left, resumed or ended
        if kept is None or kept["org"] != self._org_id() or role not in TAKE_PART[kept["tour"]]:
            self.total = 0
            return
        steps, self.progress = TOURS[kept["tour"]], ""
        if not self.total and not kept["over"] and Fact.COLLEAGUE not in kept["facts"]:
            self._keep(kept)
            yield  # the card is there before its step is looked at, unless the colleague may have signed in since
        if kept["over"] and kept["over"] != self.router.url.path:
            self.stored, self.total = ENDED, 0  # its last card was shown on another page
            return
        while kept["at"] < len(steps) and await self._has_happened(steps[kept["at"]], kept):
            kept["at"] += 1
        if kept["at"] == len(steps):
            kept["over"] = self.router.url.path
        await self._find(kept)
        self._keep(kept)

    @rx.event
    def leave(self, is_left: bool) -> None:
        """Leave the tour for now, or resume it."""
        if (kept := _kept(self.stored)) is not None:
            self._keep(kept | {"left": bool(is_left), "turn": kept["turn"] + 1})

    @rx.event
    def end(self) -> None:
        """End the tour."""
        self.stored, self.total, self._turn = ENDED, 0, self._turn + 1

    async def _has_happened(self, step: TourStep, kept: dict[str, Any]) -> bool:
        """Return whether a step is done; keep what the tour learns from it."""
        reader = FactReader(self._api, kept["org"])
        try:
            if step.verifies is not Verifies.NOTHING:
                self.progress = await self._progress(step, [], kept["since"])
                _note(kept, {Fact.BEGUN: "yes" if self.progress else ""})
                return await self._is_verified(step)
            found = [entry for action in step.actions for entry in await self._entries(action, kept["since"])]
            if not step.is_done(found):
                self.progress = await self._progress(step, found, kept["since"])
                _note(kept, {Fact.BEGUN: "yes" if self.progress else ""})
                if step.chains > 1:
                    _note(kept, await reader.next_chain(step.chains_of(found), kept["facts"]))
                return False
            self.progress = ""
            _note(kept, await reader.learned(step, found, kept["facts"]))
            if step.learns is Learns.PARTY and Fact.LACKS in kept["facts"]:
                self.progress = "Verified, but not for this fund."
                return False
        except ApiProblem:
            return False
        return True

    async def _is_verified(self, step: TourStep) -> bool:
        if step.verifies is Verifies.LOG:
            return (await self.get_state(Verification)).said != ""
        is_made = self.progress != ""  # since the tour began: a pack of earlier is another one
        return is_made and (await self.get_state(EvidenceState)).verification.result != ""

    async def _entries(self, action: str, since: str) -> Sequence[AuditEntry]:
        """Return the entries of an action since the tour's start, the latest first."""
        return (await self._api.list_audit(self._org_id(), action=action, since=since, limit=MOST)).audit

    async def _progress(self, step: TourStep, found: Sequence[AuditEntry], since: str) -> str:
        """Return what of a step is done, as a sentence; empty if nothing is."""
        if step.chains > 1 and (done := step.chains_of(found)):
            return f"{len(done)} of {step.chains} chains done."
        action, said = step.begun
        return said if action and await self._entries(action, since) else ""

    async def _find(self, kept: dict[str, Any]) -> None:
        """Find people and records for the present step."""
        steps = TOURS[kept["tour"]]
        if kept["at"] < len(steps):
            try:
                reader = FactReader(self._api, kept["org"])
                _note(kept, await reader.found(steps[kept["at"]], kept["facts"]))
            except ApiProblem:
                return  # the step's texts do without

    def _keep(self, kept: dict[str, Any]) -> None:
        """Store the progress, and show its step."""
        text = json.dumps(kept)
        if text != self.stored:
            self.stored = text
        steps, facts = TOURS[kept["tour"]], kept["facts"]
        self._since, self._turn = kept["since"], kept["turn"]
        self.name, self.total, self.is_left = kept["tour"], len(steps), bool(kept.get("left"))
        self.number = kept["at"] + 1
        if kept["at"] < len(steps):
            step = steps[kept["at"]]
            self.title, self.why = step.title, step.why
            self.what = fill(step.then if self.progress and step.then else step.what, facts)
            self.href = f"/o/{kept['org']}/{fill(step.path, facts)}"
            self.points = [
                {
                    "within": point.within,
                    "words": said,
                    "about": facts.get(point.about, ""),
                    "filled": "yes" * point.filled,
                }
                for point in step.points
                if (said := fill([point.words], facts)) and point.is_shown(facts)
            ]
        else:
            self.points = []


def _note(kept: dict[str, Any], facts: dict[str, str]) -> None:
    """Keep facts; empty ones are forgotten."""
    kept["facts"] = {name: text for name, text in (kept["facts"] | facts).items() if text}


def _kept(stored: str) -> dict[str, Any] | None:
    """Return the progress that a browser has stored; None without a tour, or if it is not readable."""
    try:
        kept = json.loads(str(stored)[:6_000])
        at, since = int(kept["at"]), datetime.fromisoformat(str(kept["since"])).isoformat()
        if kept["tour"] not in TOURS or not 0 <= at <= len(TOURS[kept["tour"]]):
            return None
        return {
            "tour": kept["tour"],
            "org": str(kept["org"]),
            "since": since,
            "at": at,
            "over": str(kept.get("over") or ""),
            "left": bool(kept.get("left")),
            "turn": int(kept.get("turn") or 0),
            "facts": _facts(kept.get("facts") or {}),
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _facts(stored: dict[str, Any]) -> dict[str, str]:
    """Return the facts that a browser has stored: IDs are IDs, everything else is a short text."""
    read = {
        name: id_of(stored[name]) if name.endswith("_id") else _text(stored[name]) for name in Fact if name in stored
    }
    return {str(name): text for name, text in read.items() if text}


def _text(stored: Any) -> str:
    return " " * str(stored).startswith(" ") + words(stored, 200)
