"""Requests: the tracker in the header, and following one on a page."""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.api import PASSING, Api, asks_for_proof
from state.given import id_of

FINAL = {"succeeded", "failed", "denied"}
WAITING = "awaiting_approval"
SETTLING = "Waiting until its transactions are final"


@dataclass
class Step:
    """One step of a request; empty strings where the API has null."""

    name: str = ""
    title: str = ""
    status: str = "waiting"
    started_at: str = ""
    finished_at: str = ""
    chain_name: str = ""
    tx_hash: str = ""
    explorer_url: str = ""
    finality: str = ""
    detail: str = ""


@dataclass
class Request:
    """A request as pages show it. `line` is its current step in words, `percent` how far it is."""

    id: str = ""
    kind: str = ""
    title: str = ""
    status: str = ""
    subject_type: str = ""
    subject_id: str = ""
    problem: str = ""
    can_retry: bool = False
    awaits_finality: bool = False
    created_by: str = ""
    created_at: str = ""
    updated_at: str = ""
    line: str = ""
    done_steps: int = 0
    percent: int = 0
    steps: list[Step] = field(default_factory=list)


def request_of(data: dict[str, Any]) -> Request:
    """Read the API's request."""
    steps = [Step(**{name: step.get(name) or "" for name in Step.__dataclass_fields__}) for step in data["steps"]]
    done = sum(step.status == "succeeded" for step in steps)
    current = next((step for step in steps if step.status in ("running", "failed")), None)
    problem = data.get("problem") or {}
    words = problem.get("detail") or problem.get("title") or ""
    return Request(
        id=data["id"],
        kind=data["kind"],
        title=data["title"],
        status=data["status"],
        subject_type=data["subject"]["type"],
        subject_id=data["subject"]["id"],
        problem=words,
        can_retry=bool(data.get("can_retry")),
        awaits_finality=bool(data.get("awaits_finality")),
        created_by=data.get("created_by_name") or "",
        created_at=data["created_at"],
        updated_at=data["updated_at"],
        line=words or (SETTLING if data.get("awaits_finality") else _line(data["status"], steps, done, current)),
        done_steps=done,
        percent=100
        if data["status"] == "succeeded"
        else round(100 * (done + (current is not None) / 2) / max(1, len(steps))),
        steps=steps,
    )


def _line(status: str, steps: list[Step], done: int, current: Step | None) -> str:
    """Where a request is, in words."""
    if status == WAITING:
        return "Waiting for a second person"
    return f"Step {done + 1} of {len(steps)}, {current.title}" if current else ""


class Tracker(Api, rx.State):
    """The newest requests of the organization in view; live while one of them runs."""

    rows: list[Request] = []
    running: int = 0
    failed: int = 0
    is_read: bool = False
    problem: str = ""
    _watched: str = ""

    @rx.event(background=True, supersedes=True)
    async def watch(self):
        """Read the newest requests until none is running. Ends with the page's connection, or another organization."""
        pause = 0.4
        while True:
            async with self:
                if not (org_id := self._turn()):
                    return
            page, problem = None, None
            try:
                page = await self._api("GET", f"/orgs/{org_id}/requests", params={"limit": 8})
            except ApiProblem as fault:
                problem = fault
            async with self:
                if self._org_id() != org_id:
                    return
                if problem is not None:
                    self._miss(problem)
                    pause = 3.0
                elif page is not None:
                    self._show([request_of(row) for row in page["requests"]])
                if not self.running:
                    return
            await asyncio.sleep(pause)
            pause = min(3.0, pause * 1.15)

    def _turn(self) -> str:
        """The organization in view; another one's requests are forgotten."""
        org_id = self._org_id()
        if org_id != self._watched:
            self._watched, self.rows, self.running, self.failed = org_id, [], 0, 0
            self.is_read, self.problem = False, ""
        return org_id

    def _miss(self, problem: ApiProblem) -> None:
        """Say that they could not be read; what ran before is looked for again. None where they may not be seen."""
        if problem.status == 403:
            self._show([])
            return
        self.problem = problem.detail or problem.title
        if problem.status not in PASSING:
            self.running = 0

    def _show(self, rows: list[Request]) -> None:
        """Take the rows over; what did not change is not sent to the browser again."""
        self.is_read, self.problem = True, ""
        if rows != self.rows:
            self.rows = rows
        self.running = sum(row.status in ("accepted", "running") for row in rows)
        self.failed = sum(row.status == "failed" for row in rows)

    @rx.event
    async def retry(self, request_id: str):
        """Try a failed request again."""
        try:
            await self._api("POST", f"/orgs/{{org}}/requests/{id_of(request_id)}/retry")
            await self._accepted("Trying again", request_id)
        except ApiProblem as problem:
            if not asks_for_proof(problem):  # the dialog asks for it, and repeats this
                await self._notify("It cannot be retried", problem.detail, "bad")
        return Tracker.watch


class Follows(Api, mixin=True):
    """Mixin of a page that follows one request live: `request` is drawn by `request_progress`.

    Return `self._follow(request_id)` from a handler. When it ends, `_followed()` runs under the state's lock.
    """

    request: Request = Request()
    _followed_path: str = ""

    def _follow(self, request_id: str) -> Any:
        """Show this request and keep it live; returns the event to return or yield."""
        if self.request.id != request_id:
            self.request = Request(id=request_id)
        self._followed_path = self.router.url.path
        return type(self).follow

    async def _followed(self) -> None:
        """What the page reads again once its request has ended."""

    @rx.event(background=True, supersedes=True)
    async def follow(self):
        """Read the followed request until it ends or the person goes elsewhere. It goes on without us."""
        while True:
            async with self:
                if self.router.url.path != self._followed_path or not self.request.id:
                    return
                path = f"/orgs/{self._org_id()}/requests/{self.request.id}"
            try:
                request = request_of(await self._api("GET", path))
            except ApiProblem as problem:
                if problem.status in PASSING:
                    await asyncio.sleep(3)
                    continue
                async with self:
                    said = f"It can no longer be followed here: {problem.detail or problem.title}"
                    self.request = replace(self.request, problem=said)
                return
            async with self:
                if request.id != self.request.id:
                    return
                if request != self.request:
                    self.request = request
                if request.status in FINAL:
                    await self._followed()
                    return
            await asyncio.sleep(3 if request.status == WAITING or request.awaits_finality else 0.3)
