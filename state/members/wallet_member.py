"""The form that adds a wallet as a member."""

from typing import Any

import reflex as rx

from backend.client import ApiProblem, body
from backend.core.fields import Acceptance
from backend.members.schemas import Member, MemberCreate
from backend.users.schemas import MemberStatus
from state.core.arguments import named
from state.core.dialogs import Dialog
from state.core.events import Events, Next
from state.members.list import MembersState
from state.notifications.bell import Bell


class WalletMember(Dialog, rx.State):
    """The dialog that adds a person by wallet address."""

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Add the person; people from outside the organization's tree must accept first."""
        self._begin()
        yield
        given = named(data, "wallet_address", "display_name", "email", "role")
        if not given["wallet_address"]:
            self.saving = False
            self.errors = {"wallet_address": "Enter a wallet address"}
            return
        try:
            member = body(MemberCreate, {name: value for name, value in given.items() if value})
            answer = await self._api.add_member(self._org_id(), member, idempotency_key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            return
        self._close()
        yield await self._added(answer, given["display_name"] or "The wallet")

    async def _added(self, answer: Member | Acceptance, name: str) -> Next:
        """Report the new member, and return the event that shows it."""
        if isinstance(answer, Acceptance):
            await self._accepted(f"Adding {name}", answer.request_id, "A second person must approve.")
            return Bell.look
        if answer.status is MemberStatus.PENDING:
            await self._notify(f"{name} must accept", "The wallet's owner becomes a member after accepting.", "info")
        else:
            await self._notify(f"{name} is a member")
        return MembersState.load
