"""What waits for the user in the current organization: the bell of the header, live, and the overview's list."""

import asyncio
from contextlib import suppress

import reflex as rx

from backend.client import ApiProblem
from backend.notifications.schemas import NotificationKind, Notifications
from backend.preferences.schemas import PreferencesUpdate, SeenUntil
from state.core.api import Api, asks_for_proof
from state.core.arguments import one_of
from state.core.events import Events
from state.core.session import Session
from state.notifications.views import KINDS, NotificationView, notification_view
from state.requests.tracker import Tracker

PAUSE = 10.0
"""Seconds between two reads where changes cannot be followed."""
REFUSALS = (403, 404)
"""Statuses by which the API refuses a person the organization."""


class Bell(Api, rx.State):
    """The notifications of the current organization.

    Every page reads them when it opens; `follow` waits for the next change, and the browser calls it again as long as
    the page is visible.
    """

    rows: list[NotificationView] = []
    total: int = 0
    unseen: int = 0
    approvals: str = ""
    """The number beside the approvals' name in the sidebar; "?" if it is unknown."""
    is_read: bool = False
    problem: str = ""
    turn: int = 0
    """Counts the waits, so that the browser begins the next one."""
    kind: str = ""
    """The kind that the overview shows; empty for all."""
    retrying: str = ""
    reading: bool = False
    _of: str = ""
    _as_of: str = ""
    _readable: str = ""
    """The organization that the user may read: only its changes are awaited."""

    @rx.var
    def shown(self) -> list[NotificationView]:
        """Return the notifications of the selected kind."""
        return [row for row in self.rows if self.kind in ("", row.kind)]

    @rx.var
    def kinds(self) -> dict[str, int]:
        """Count what waits by kind."""
        return {kind: sum(row.count for row in self.rows if row.kind == kind) for kind in KINDS}

    @rx.event
    def show(self, kind: str) -> None:
        """Show notifications of one kind, or all."""
        self.kind = one_of(kind, KINDS)

    @rx.event
    async def look(self) -> None:
        """Read the notifications. Every page calls this, so it also notices when the organization starts to refuse the
        user's IP address."""
        if org_id := self._org_id():
            await self._take(org_id, await self._read(org_id))

    @rx.event
    async def load(self) -> Events:
        """Read the notifications again after a failure."""
        self.reading = True
        yield
        await self._take(self._org_id(), await self._read(self._org_id()))
        self.reading = False

    async def _read(self, org_id: str) -> Notifications | ApiProblem:
        try:
            return await self._api.get_notifications(org_id)
        except ApiProblem as problem:
            return problem

    async def _take(self, org_id: str, found: Notifications | ApiProblem) -> None:
        if isinstance(found, Notifications):
            self._show(org_id, found)
            return
        self._miss(org_id, found)
        if found.rule == "ip_address":
            (await self.get_state(Session))._shut_out(found)

    def _show(self, org_id: str, found: Notifications) -> None:
        """Show the notifications; unchanged ones are not sent to the browser again."""
        rows = [notification_view(one, f"/o/{org_id}/") for one in found.notifications]
        if rows != self.rows:
            self.rows = rows
        waiting = sum(row.count for row in rows if row.kind == NotificationKind.APPROVAL)
        self.total, self.unseen, self.approvals = found.total, found.unseen, str(waiting or "")
        self._of, self._as_of, self._readable = org_id, found.as_of.isoformat(), org_id
        self.is_read, self.problem = True, ""

    def _miss(self, org_id: str, problem: ApiProblem) -> None:
        """Report a failed read; without permission, and in another organization than before, nothing is shown."""
        is_forbidden = problem.status == 403
        if problem.status in REFUSALS:
            self._readable = ""
        if is_forbidden or self._of != org_id:
            self.rows, self.total, self.unseen, self._of = [], 0, 0, org_id
        self.approvals, self.is_read = "" if is_forbidden else "?", True
        self.problem = "" if is_forbidden else problem.detail or problem.title

    @rx.event(background=True, supersedes=True)
    async def follow(self) -> None:
        """Wait for the next change in the organization, for some seconds, and read the notifications again.

        Anyone can name an organization in the URL: changes of one that the API has not shown the user are not awaited,
        because they would tell when others work there.
        """
        async with self:
            org_id, is_readable = self._org_id(), self._readable == self._org_id()
        if not org_id:
            return
        if is_readable:
            async with self._api.changes(org_id, events=True, requests=True) as changes:
                await changes.wait(PAUSE)
        found = await self._read(org_id)
        is_refused = isinstance(found, ApiProblem) and found.status in REFUSALS
        if isinstance(found, ApiProblem) and not is_readable and not is_refused:
            await asyncio.sleep(PAUSE)
        async with self:
            if self._org_id() == org_id:
                await self._take(org_id, found)
                if not is_refused:
                    self.turn += 1

    @rx.event
    async def see(self, is_open: bool) -> None:
        """Note that the user has seen what waits, when the list opens; the marks of new entries stay until the next
        read."""
        if not is_open or not self.unseen or self._of != self._org_id():
            return
        self.unseen = 0
        seen = SeenUntil.model_validate({"organization_id": self._of, "at": self._as_of})
        with suppress(ApiProblem):
            await self._api.update_preferences(PreferencesUpdate(seen=seen))

    @rx.event
    async def retry(self, request_id: str) -> Events:
        """Retry a failed request of the list."""
        if not any(row.request_id == str(request_id) for row in self.rows):
            return
        self.retrying = str(request_id)
        yield
        try:
            await self._api.retry_request(self._org_id(), str(request_id))
            await self._accepted("Retrying", str(request_id))
        except ApiProblem as problem:
            if not asks_for_proof(problem):  # the dialog asks for it, and repeats this
                await self._notify("It cannot be retried", problem.detail, "bad")
        self.retrying = ""
        yield [Bell.look, Tracker.watch]
