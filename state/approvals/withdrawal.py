"""The dialog in which the requester withdraws a request that waits."""

from typing import Any

import reflex as rx

from backend.approvals.schemas import ApprovalWithdraw
from backend.client import ApiProblem, body
from state.approvals.list import Approvals, OneApproval
from state.approvals.own import OwnApprovals
from state.core.dialogs import DialogAbout
from state.core.events import Events, call
from state.notifications.bell import Bell
from state.requests.list import OneRequest, Requests
from state.requests.tracker import Tracker


class Withdrawal(DialogAbout, rx.State):
    """The withdrawal of the request in the drawer of approvals or of requests; `title` names it."""

    title: str = ""
    _approval_id: str = ""
    _is_listed: bool = False
    """Whether the page lists approvals; otherwise it lists requests."""

    @rx.event
    async def ask_approval(self) -> None:
        """Open the dialog for the approval in the drawer."""
        row = (await self.get_state(OneApproval)).row
        self._ask(row.id, row.title, is_listed=True)

    @rx.event
    async def ask_request(self) -> None:
        """Open the dialog for the request in the drawer."""
        request = (await self.get_state(OneRequest)).request
        self._ask(request.approval_id, request.title, is_listed=False)

    def _ask(self, approval_id: str, title: str, *, is_listed: bool) -> None:
        self._done()
        self._approval_id, self.title, self._is_listed, self.is_open = approval_id, title, is_listed, bool(approval_id)

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Withdraw the request."""
        self._begin()
        yield
        try:
            given = body(ApprovalWithdraw, {"reason": str(data.get("reason", "")).strip() or None})
            await self._api.withdraw_request(self._org_id(), self._approval_id, given, idempotency_key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("reason")
            return
        self._close()
        await self._notify(f"Withdrawn: {self.title}", given.reason or "", "info")
        if self._is_listed:
            await (await self.get_state(OneApproval))._read(self._approval_id)
            yield [Approvals.reload, OwnApprovals.load]
        else:
            one = await self.get_state(OneRequest)
            yield [call(OneRequest.show, one.request.id), Requests.reload]
        yield [Bell.look, Tracker.watch]
