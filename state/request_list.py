"""Everything that was accepted and takes its time."""

import asyncio

import reflex as rx

from backend.client import ApiProblem
from backend.requests.schemas import RequestStatus
from state.given import id_of
from state.paging import Pages
from state.queue import SETTLE
from state.requests import FINAL, Follows, Request, Tracker, request_of


class Requests(Pages, rx.State):
    """The list, by status."""

    rows: list[Request] = []
    status: str = ""

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api("GET", "/orgs/{org}/requests", params={"status": self.status, "cursor": cursor})
        self.rows = [request_of(row) for row in page["requests"]]
        return page["nextCursor"]

    @rx.event
    async def load(self):
        """Read the first page; `?id=` opens a request, `?status=` filters."""
        wanted = self._query("status")
        self.status = wanted if wanted in list(RequestStatus) else ""
        await self._restart()
        yield OneRequest.show(self._query("id"))

    @rx.event(supersedes=True)
    async def pick_status(self, status: str):
        """Show one status, or all."""
        if status == "" or status in list(RequestStatus):
            self.status = status
            await self._restart()

    @rx.event(supersedes=True)
    async def step(self, by: int):
        """Go to the next row, or back: the keys J and K."""
        if not self.rows or by not in (1, -1):
            return
        one = await self.get_state(OneRequest)
        at = next((i for i, row in enumerate(self.rows) if row.id == one.request.id), -1 if by > 0 else 1)
        one.request, one.is_open = self.rows[max(0, min(len(self.rows) - 1, at + by))], True
        yield
        await asyncio.sleep(SETTLE)
        yield OneRequest.show(one.request.id)


class OneRequest(Follows, rx.State):
    """The request in the drawer, live while it runs."""

    is_open: bool = False
    problem: str = ""
    saving: bool = False

    @rx.event
    async def show(self, request_id: str):
        """Open a request and follow it; an empty id closes the drawer."""
        wanted = id_of(request_id)
        self.is_open, self.problem = bool(wanted), ""
        if not wanted:
            self.request = Request()
            return
        listed = next((row for row in (await self.get_state(Requests)).rows if row.id == wanted), None)
        self.request = listed or Request(id=wanted)
        if listed and listed.status in FINAL:
            return
        try:
            self.request = request_of(await self._api("GET", f"/orgs/{{org}}/requests/{wanted}"))
            yield self._follow(wanted)
        except ApiProblem as problem:
            self.problem = problem.detail or problem.title

    @rx.event
    def leave(self):
        """Close the drawer."""
        self.is_open, self.request = False, Request()

    @rx.event
    async def retry(self):
        """Try a failed request again, and follow it."""
        if self.saving or not self.request.id:
            return
        self.saving, self.problem = True, ""
        yield
        try:
            self.request = request_of(await self._api("POST", f"/orgs/{{org}}/requests/{self.request.id}/retry"))
            self.saving = False
            yield [Tracker.watch, self._follow(self.request.id), Requests.reload]
        except ApiProblem as problem:
            self.saving, self.problem = False, problem.detail or problem.title

    async def _followed(self) -> None:
        await (await self.get_state(Requests))._page()
