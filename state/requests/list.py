"""The list of requests, and one of them in the drawer."""

import asyncio
from typing import ClassVar

import reflex as rx

from backend.client import ApiProblem
from backend.requests.schemas import RequestStatus
from state.approvals.deciders import Deciders
from state.approvals.views import ApprovalView, approval_view
from state.attestations.case import SETTLE
from state.core.address import Addressed, Param, opened
from state.core.arguments import chosen, id_of
from state.core.events import Events, call
from state.core.paging import ByStatus
from state.requests.fix_form import FixForm
from state.requests.fixes import Fix
from state.requests.tracker import FINAL, Follows, Tracker
from state.requests.views import WAITING, RequestView, request_view


class Requests(ByStatus, rx.State):
    """The list of requests, by status."""

    rows: list[RequestView] = []
    _sorts: ClassVar[tuple[str, ...]] = ("created_at",)
    _statuses = RequestStatus

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api.list_requests(
            self._org_id(), status=chosen(RequestStatus, self.status), cursor=cursor or None, **self._order()
        )
        self.rows = [request_view(row) for row in page.requests]
        return page.nextCursor

    @rx.event
    async def load(self) -> Events:
        """Read the first page; `?id=` opens a request, `?status=` filters."""
        self._read_url()
        (await self.get_state(OneRequest))._announce(id_of(self._query("id")))
        await self._restart()
        if self._query("id"):
            yield call(OneRequest.show, self._query("id"))
        if self._query("fix"):
            yield call(FixForm.begin, self._query("id"))

    @rx.event(supersedes=True)
    async def step(self, by: int) -> Events:
        """Go to the next or previous row: keys J and K."""
        if not self.rows or by not in (1, -1):
            return
        one = await self.get_state(OneRequest)
        at = next((i for i, row in enumerate(self.rows) if row.id == one.request.id), -1 if by > 0 else 1)
        one.request, one.is_open = self.rows[max(0, min(len(self.rows) - 1, at + by))], True
        yield
        await asyncio.sleep(SETTLE)  # no poll: keys repeat faster
        yield call(OneRequest.show, one.request.id)


class OneRequest(Follows, Deciders, Addressed, rx.State):
    """The request in the drawer, live while it runs."""

    _in_url: ClassVar[dict[str, Param]] = {"id": opened("request.id")}
    is_open: bool = False
    problem: str = ""
    saving: bool = False
    approval: ApprovalView = ApprovalView()
    """The approval that the request waits for: when it expires, and who can approve it."""

    @rx.event
    async def show(self, request_id: str) -> Events:
        """Open a request and follow it; an empty id closes the drawer."""
        wanted = id_of(request_id)
        self._announce(wanted)
        if not wanted:
            return
        listed = next((row for row in (await self.get_state(Requests)).rows if row.id == wanted), None)
        self.request = listed or RequestView(id=wanted)
        if listed and listed.status in FINAL and listed.fix == Fix():
            return
        try:
            self.request = request_view(await self._api.get_request(self._org_id(), wanted))
            self.approval = await self._approval()
            yield self._follow(wanted)
        except ApiProblem as problem:
            self.problem = problem.detail or problem.title

    async def _approval(self) -> ApprovalView:
        """Return the approval that the request waits for, and who can approve it; an empty one if it does not wait."""
        if self.request.status != WAITING:
            return ApprovalView()
        found = (await self._api.list_approvals(self._org_id(), q=self.request.id, limit=1)).approvals
        approval = approval_view(found[0]) if found else ApprovalView()
        approval.who = await self._who_decides(approval)
        return approval

    def _announce(self, request_id: str) -> None:
        """Open the drawer before the request is read; an empty id closes it."""
        self.is_open, self.problem = bool(request_id), ""
        if self.request.id != request_id:
            self.request, self.approval = RequestView(id=request_id), ApprovalView()

    @rx.event
    def leave(self) -> None:
        """Close the drawer."""
        self._announce("")

    @rx.event
    async def retry(self) -> Events:
        """Retry a failed request and follow it."""
        if self.saving or not self.request.id:
            return
        self.saving, self.problem = True, ""
        yield
        try:
            self.request = request_view(await self._api.retry_request(self._org_id(), self.request.id))
            self.saving = False
            yield [Tracker.watch, self._follow(self.request.id), Requests.reload]
        except ApiProblem as problem:
            self.saving, self.problem = False, problem.detail or problem.title

    async def _followed(self) -> None:
        await (await self.get_state(Requests))._page()
