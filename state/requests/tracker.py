"""Requests: the tracker in the header, and following one on a page."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from backend.requests.schemas import RequestStatus
from state.core.api import PASSING, Api, asks_for_proof
from state.core.arguments import id_of
from state.core.events import Next, call
from state.core.toasts import Notices, Tone
from state.requests.views import WAITING, RequestView, request_view

FINAL = {"succeeded", "failed", "denied", "withdrawn"}
MOVING = {"accepted", "running"}
SHOWN, FIRST = 8, 3
"""Requests that the tracker lists; of each urgent status, those that come first."""


def statuses(rows: list[RequestView]) -> list[tuple[str, str]]:
    """Return what the counts of requests depend on."""
    return [(row.id, row.status) for row in rows]


def urgent_first(rows: list[RequestView], urgent: list[RequestView]) -> list[RequestView]:
    """Return the urgent requests as they are now, then the newest others."""
    newest = {row.id: row for row in rows}
    first = {row.id: newest.get(row.id, row) for row in urgent}
    return [*first.values(), *(row for row in rows if row.id not in first)][:SHOWN]


def is_by_time(rows: list[RequestView]) -> bool:
    """Return whether the newest request is first, and so on."""
    return all(first.created_at >= second.created_at for first, second in pairwise(rows))


def outcome(request: RequestView) -> tuple[str, str, Tone]:
    """Return the toast of a request that no longer runs: title, detail and tone."""
    if request.status == WAITING:
        return "Waiting for a second person", request.title, "warn"
    if request.status == "succeeded":
        return f"Done: {request.title}", "", "ok"
    if request.status == "withdrawn":
        return f"Withdrawn: {request.title}", "", "info"
    return f"{request.status.capitalize()}: {request.title}", request.problem, "bad"


class Tracker(Api, rx.State):
    """The newest requests of the current organization, and how many of all run or have failed; live while one runs."""

    rows: list[RequestView] = []
    running: int = 0
    failed: int = 0
    _counted: list[tuple[str, str]] = []
    """The newest requests and their statuses when all were counted."""
    is_urgent_first: bool = False
    """Whether a request precedes newer ones because it runs, waits or has failed."""
    is_read: bool = False
    problem: str = ""
    _watched: str = ""
    _urgent: list[RequestView] = []
    """The newest requests that run, wait for a second person or have failed; the tracker shows them first."""

    @rx.event(background=True, supersedes=True)
    async def watch(self) -> None:
        """Read the newest requests after each change, until none runs and every toast shows its result.

        Ends with the page's connection, or with another organization.
        """
        async with self:
            if not (org_id := self._turn()):
                return
        async with self._api.changes(org_id) as changes:
            pause = 0.4
            while await self._looked(org_id):
                await changes.wait(pause)
                pause = 3.0 if self.problem else min(3.0, pause * 1.15)

    async def _looked(self, org_id: str) -> bool:
        """Read the newest requests; return whether to look again, in the organization of the page."""
        async with self:
            awaited, counts = (await self.get_state(Notices))._running(), (self.running, self.failed)
            counted, urgent, problem = self._counted, self._urgent, None
        rows: list[RequestView] = []
        try:
            rows = [request_view(row) for row in (await self._api.list_requests(org_id, limit=SHOWN)).requests]
            known = {row.id for row in rows}
            is_older = any(row.id not in known for row in urgent)
            if is_older or statuses(rows) != counted or counts[0] != sum(row.status in MOVING for row in rows):
                running, failed, urgent = await self._count(org_id)
                counts = running, failed
            ended = [*rows, *await self._others(awaited, rows)]
        except ApiProblem as fault:
            problem = fault
        async with self:
            if self._org_id() != org_id:
                return False
            if problem is not None:
                self._miss(problem)
                return bool(self.running)
            self._show(rows, *counts, urgent)
            notices = await self.get_state(Notices)
            for row in ended:
                if row.id in awaited and row.status not in MOVING:
                    notices._end(row.id, *outcome(row), row.fix_href, row.fix.label)
            return bool(self.running or notices._running())

    async def _count(self, org_id: str) -> tuple[int, int, list[RequestView]]:
        """Return how many requests run, how many have failed, and the newest of both and of those that wait."""
        wanted = (
            RequestStatus.ACCEPTED, RequestStatus.RUNNING, RequestStatus.AWAITING_APPROVAL, RequestStatus.FAILED,
        )  # fmt: skip
        read = [self._api.list_requests(org_id, status=status, limit=FIRST, count="estimated") for status in wanted]
        pages = await asyncio.gather(*read)
        accepted, running, _, failed = [page.estimatedCount or 0 for page in pages]
        return accepted + running, failed, [request_view(row) for page in pages for row in page.requests]

    async def _others(self, awaited: dict[str, str], rows: list[RequestView]) -> list[RequestView]:
        """Return the requests that toasts await and that are not among the newest; unreadable ones are omitted."""
        found = []
        for request_id, org_id in awaited.items():
            if all(row.id != request_id for row in rows):
                with suppress(ApiProblem):
                    found.append(request_view(await self._api.get_request(org_id, request_id)))
        return found

    def _turn(self) -> str:
        """Return the current organization; requests of the previous one are dropped."""
        org_id = self._org_id()
        if org_id != self._watched:
            self._watched, self.rows, self.running, self.failed, self._counted = org_id, [], 0, 0, []
            self._urgent, self.is_read, self.problem = [], False, ""
        return org_id

    def _miss(self, problem: ApiProblem) -> None:
        """Report a failed read; running requests are read again. Without permission, show none."""
        if problem.status == 403:
            self._show([], 0, 0, [])
            return
        self.problem = problem.detail or problem.title
        if problem.status not in PASSING:
            self.running = 0

    def _show(self, rows: list[RequestView], running: int, failed: int, urgent: list[RequestView]) -> None:
        """Take over the rows and counts; unchanged ones are not sent to the browser again."""
        self.is_read, self.problem, self._counted, self._urgent = True, "", statuses(rows), urgent
        shown = urgent_first(rows, urgent)
        if shown != self.rows:
            self.rows = shown
        self.running, self.failed, self.is_urgent_first = running, failed, not is_by_time(shown)

    @rx.event
    async def retry(self, request_id: str) -> Next:
        """Retry a failed request."""
        try:
            await self._api.retry_request(self._org_id(), id_of(request_id))
            await self._accepted("Retrying", request_id)
        except ApiProblem as problem:
            if not asks_for_proof(problem):  # the dialog asks for it, and repeats this
                await self._notify("It cannot be retried", problem.detail, "bad")
        return Tracker.watch


class Follows(Api, mixin=True):
    """Mixin of a page that follows one request live: `request` is drawn by `request_progress`.

    Return `self._follow(request_id)` from a handler. When it ends, `_followed()` runs under the state's lock.
    """

    request: RequestView = RequestView()
    _followed_path: str = ""

    def _follow(self, request_id: str) -> Any:
        """Show this request and keep it live; return the event to return or yield."""
        if self.request.id != request_id:
            self.request = RequestView(id=request_id)
        self._followed_path = self.router.url.path
        return type(self).follow

    async def _followed(self) -> None:
        """Read the page again after its request has ended."""

    @rx.event
    async def retry(self) -> Next:
        """Retry the failed request and follow it."""
        return [call(Tracker.retry, self.request.id), type(self).follow]

    @rx.event(background=True, supersedes=True)
    async def follow(self) -> None:
        """Read the followed request after each change, until it ends or the user leaves the page.

        The request continues on the server.
        """
        request_id = ""
        while True:
            async with self:
                if self.router.url.path != self._followed_path or self.request.id in ("", request_id):
                    return
                org_id, request_id = self._org_id(), self.request.id
            async with self._api.changes(org_id, request_id) as changes:
                while (pause := await self._follow_once(org_id, request_id)) is not None:
                    await changes.wait(pause)

    async def _follow_once(self, org_id: str, request_id: str) -> float | None:
        """Show the request; return the seconds until the next read where no change ends the wait, None at its end."""
        async with self:
            if self.router.url.path != self._followed_path or self.request.id != request_id:
                return None
        try:
            request = request_view(await self._api.get_request(org_id, request_id))
        except ApiProblem as problem:
            if problem.status in PASSING:
                return 3.0
            async with self:
                said = f"It can no longer be followed here: {problem.detail or problem.title}"
                self.request = replace(self.request, problem=said)
            return None
        async with self:
            if request.id != self.request.id:
                return None
            if request != self.request:
                self.request = request
            if request.status in FINAL:
                await self._followed()
                return None
        return 3.0 if request.status == WAITING or request.awaits_finality else 0.3
