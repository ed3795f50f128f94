"""Who can approve a request that waits."""

import asyncio
from datetime import datetime

from backend.auth.scopes import Scope
from backend.client import ApiProblem
from state.approvals.approvers import able_to_approve
from state.approvals.views import ApprovalView
from state.core.api import Api
from state.core.refusals import needed_role
from state.core.session import Session, names_of


class Deciders(Api, mixin=True):
    """Mixin of a state that shows an approval: says who can approve it."""

    async def _who_decides(self, approval: ApprovalView) -> str:
        """Return whether the user can approve a waiting request, or the role and the names of people who may."""
        if approval.status != "pending":
            return ""
        if approval.can_decide:
            return "You can approve it."
        session, scope = await self.get_state(Session), Scope(approval.scope)
        names = await self._names(scope, {session.user_id, approval.asked_by_id}, approval.created_at)
        if approval.asked_by_id and approval.asked_by_id == session.user_id:
            return f"You requested this, so another person must approve it. {names}".strip()
        if str(scope) in session.org.scopes:
            return f"Another person must approve it. {names}".strip()
        return f"{needed_role(scope).replace(' for this.', ' to approve it.')} {names}".strip()

    async def _names(self, scope: Scope, without: set[str], asked_at: str) -> str:
        org = self._org_id()
        try:
            organization, page = await asyncio.gather(
                self._api.get_organization(org), self._api.list_access(org, limit=100)
            )
        except ApiProblem:
            return ""  # the role is named without people
        others = [one for one in page.access if str(one.user_id) not in without]
        readable = (await self.get_state(Session))._readable
        able = await able_to_approve(self._api, organization, others, readable, datetime.fromisoformat(asked_at))
        names = names_of(scope, able)
        return f"{names} can approve it." if names else ""
