"""Who can approve a request that waits."""

from backend.auth.scopes import Scope
from backend.client import ApiProblem
from backend.organizations.schemas import Access
from backend.requests.schemas import ApproverObstacle
from state.approvals.views import ApprovalView
from state.core.api import Api
from state.core.refusals import needed_role
from state.core.session import Session, first_names

NO_ONE = (
    "No one here can approve it. An approver is independent of the requester, and had the role before the request. "
    "Have another admin add an approver, then withdraw this request and make it again."
)


class Deciders(Api, mixin=True):
    """Mixin of a state that shows an approval: says who can approve it."""

    async def _who_decides(self, approval: ApprovalView) -> str:
        """Return whether the user can approve a waiting request, or the role and the names of people who may."""
        if approval.status != "pending":
            return ""
        if approval.can_decide:
            return "You can approve it."
        session, scope = await self.get_state(Session), Scope(approval.scope)
        names = await self._names(approval.id)
        if approval.asked_by_id and approval.asked_by_id == session.user_id:
            return f"You requested this, so another person must approve it. {names}".strip()
        if str(scope) in session.org.scopes:
            return f"Another person must approve it. {names}".strip()
        return f"{needed_role(scope).replace(' for this.', ' to approve it.')} {names}".strip()

    async def _names(self, approval_id: str) -> str:
        try:
            page = await self._api.list_access(self._org_id(), approval_id=approval_id, limit=100)
        except ApiProblem:
            return ""  # the role is named without people
        return approvers_of(page.access, is_whole=page.nextCursor is None)


def approvers_of(people: list[Access], *, is_whole: bool) -> str:
    """Name up to two people who can approve a request, or say that no one can and what to do. `is_whole`: these are
    all people whose role reaches the organization."""
    if names := first_names(one for one in people if one.cannot_approve is None):
        return f"{names} can approve it."
    if not is_whole:
        return ""
    if names := first_names(one for one in people if one.cannot_approve is ApproverObstacle.WAITING):
        return f"No one can approve it yet. {names} can once the wait for new approvers is over."
    return NO_ONE
