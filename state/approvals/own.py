"""The user's own requests that wait for another person's approval."""

import reflex as rx

from backend.client import ApiProblem
from backend.requests.schemas import ApprovalStatus
from state.approvals.views import ApprovalView, approval_view
from state.core.api import Api
from state.core.session import Session

MOST = 5


class OwnApprovals(Api, rx.State):
    """The newest requests of the user that wait, for the overview and the page of approvals."""

    rows: list[ApprovalView] = []

    @rx.event
    async def load(self) -> None:
        """Read them. A failure shows none: the lists of approvals report it."""
        user_id = (await self.get_state(Session)).user_id
        self.rows = []
        if not user_id:
            return
        try:
            page = await self._api.list_approvals(
                self._org_id(), asked_by=user_id, status=ApprovalStatus.PENDING, limit=MOST
            )
        except ApiProblem:
            return
        self.rows = [approval_view(one) for one in page.approvals]
