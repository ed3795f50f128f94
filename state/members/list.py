"""Members of an organization, and their actions."""

from collections.abc import Awaitable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import reflex as rx

from backend.client import ApiProblem, body
from backend.members.schemas import Member, MemberAccepted, MemberPlan, MemberUpdate
from backend.users.schemas import MemberStatus, Role
from state.core.address import Param, choice, written
from state.core.arguments import chosen, one_of
from state.core.dates import stamp
from state.core.edits import Edits
from state.core.events import Events, Next
from state.core.paging import Pages
from state.core.session import Session, initials
from state.core.units import shortened
from state.members.removal import about_removal, approvers
from state.notifications.bell import Bell

TABS = ("members", "invitations")


@dataclass
class MemberView:
    """A member. `email` is empty if they were added by wallet and have not accepted yet."""

    id: str = ""
    user_id: str = ""
    name: str = ""
    initials: str = ""
    email: str = ""
    wallet: str = ""
    more_wallets: int = 0
    role: str = ""
    given_by: str = ""
    """Who granted the role, and who approved it; empty for a founder."""
    status: str = ""
    created_at: str = ""
    is_me: bool = False
    is_only_admin: bool = False
    """Whether the organization would have no admin of its own without this one."""


class MembersState(Pages, rx.State):
    """The list of members in keyset pages, and which of the page's two lists is shown."""

    tab: str = "members"
    rows: list[MemberView] = []
    _sorts: ClassVar[tuple[str, ...]] = ("created_at",)
    role: str = ""
    words: str = ""
    _in_url: ClassVar[dict[str, Param]] = {
        "tab": choice("tab", TABS, "members", "change"),
        "role": choice("role", Role),
        "q": written("words"),
    }

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api.list_members(
            self._org_id(), role=chosen(Role, self.role), q=self.words or None, cursor=cursor or None, **self._order()
        )
        me, only = (await self.get_state(Session)).user_id, await self._only_admin(page.members)
        self.rows = [
            replace(member_view(member), is_me=str(member.user_id) == me, is_only_admin=str(member.id) == only)
            for member in page.members
        ]
        return page.nextCursor

    async def _only_admin(self, members: list[Member]) -> str:
        """Return the id of the organization's only active admin, if some members include one; otherwise ""."""
        if all(member.role is not Role.ADMIN for member in members):
            return ""
        found = await self._api.list_members(self._org_id(), role=Role.ADMIN, status=MemberStatus.ACTIVE, limit=2)
        return str(found.members[0].id) if len(found.members) == 1 else ""

    @rx.event
    def turn(self, tab: str) -> None:
        """Show members or invitations."""
        self.tab = one_of(tab, TABS, "members")

    @rx.event(supersedes=True)
    async def filter_role(self, role: str) -> None:
        """Show one role, or all."""
        self.role = one_of(role, Role)
        await self._restart()

    @rx.event(supersedes=True)
    async def search(self, words: str) -> None:
        """Search by name, email or wallet."""
        self.words = str(words).strip()[:100]
        await self._restart()


class MemberAct(Edits, rx.State):
    """The dialogs that change a member's role or remove a member: `open_as` is "role", "remove" or empty."""

    open_as: str = ""
    member: MemberView = MemberView()
    chosen: str = ""
    steps: list[str] = []
    """The steps of the change, if it needs an approval."""
    approvers: str = ""
    """Who can approve the change, as a sentence; empty if it needs no approval."""
    loss: str = ""
    """What the member loses by a removal, and what stays."""

    async def _begin_with(self, id: str, dialog: str) -> None:
        self.steps, self.approvers, self.loss = [], "", ""
        rows = (await self.get_state(MembersState)).rows
        member = next((row for row in rows if row.id == str(id)), None)
        if member is None:
            return
        try:
            with self._api.response_headers() as headers:
                current = await self._api.get_member(self._org_id(), member.id)
        except ApiProblem as problem:
            await self._notify(f"{member.name} could not be read", problem.detail or problem.title, "bad")
            return
        self._done()
        self.member, self._version = replace(member, role=str(current.role)), headers["etag"]
        self._known = _values(current)
        self.chosen, self.open_as = self.member.role, dialog

    async def _current(self) -> dict[str, str]:
        return _values(await self._api.get_member(self._org_id(), self.member.id))

    @rx.event
    async def change(self, id: str) -> None:
        """Open the dialog that changes a member's role."""
        await self._begin_with(id, "role")

    @rx.event
    async def ask(self, id: str) -> Events:
        """Open the confirmation before a member is removed."""
        await self._begin_with(id, "remove")
        if self.open_as == "remove":
            self.loss = about_removal(self.member.name, self.member.role, await self._below())
        yield
        if self.open_as == "remove":
            await self._plan(self._api.remove_member(self._org_id(), self.member.id, dry_run=True))

    @rx.event
    def show(self, is_open: bool) -> None:
        """Close the dialog."""
        if not is_open:
            self.open_as = ""

    def _leave(self) -> None:
        self.open_as = ""

    @rx.event(supersedes=True)
    async def pick(self, role: str) -> Events:
        """Select the new role."""
        self.chosen, self.steps = one_of(role, Role, self.chosen), []
        yield
        if self.open_as == "role" and self.chosen != self.member.role:
            update = MemberUpdate(role=Role(self.chosen))
            await self._plan(self._api.change_member(self._org_id(), self.member.id, update, dry_run=True))

    async def _below(self) -> int:
        """Return how many organizations are below this one; 0 if that could not be read."""
        try:
            return (await self._api.get_summary(self._org_id())).sub_organizations_all
        except ApiProblem:
            return 0

    async def _who_approves(self) -> str:
        session = await self.get_state(Session)
        try:
            page = await self._api.list_access(self._org_id(), limit=100)
            people = [one for one in page.access if one.cannot_approve is None]
        except ApiProblem:
            people = []
        return approvers(people, {session.user_id, self.member.user_id})

    async def _plan(self, dry_run: Awaitable[MemberPlan]) -> None:
        """Show in advance what blocks the change, and whether it needs a second person."""
        try:
            steps = (await dry_run).steps
            self.steps, self.form_problem = steps if len(steps) > 1 else [], ""
            self.approvers = await self._who_approves() if self.steps else ""
        except ApiProblem as problem:
            self.form_problem = problem.detail or problem.title

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Change the role."""
        self._begin()
        yield
        member = self.member
        undo = {"org": self._org_id(), "id": member.id, "name": member.name, "was": member.role, "now": self.chosen}
        yield await self._write(self._change(), f"{member.name} has a new role", undo)

    async def _undo(self, facts: dict[str, str]) -> Next:
        known, name = (facts["org"], facts["id"]), facts["name"]
        with self._api.response_headers() as headers:
            current = await self._api.get_member(*known)
        if current.role != facts["now"]:
            await self._notify("This cannot be undone", f"The role of {name} has changed since.", "bad")
            return MembersState.reload
        update = MemberUpdate(role=Role(facts["was"]))
        return await self._shown(await self._api.change_member(*known, update, if_match=headers["etag"]), name)

    async def _shown(
        self, answer: Member | MemberAccepted | None, name: str, words: str = "", undo: dict[str, str] | None = None
    ) -> Next:
        """Report a change, and return the event that shows its effect."""
        if isinstance(answer, MemberAccepted):
            await self._accepted(f"Change of {name}", answer.request_id, "A second person must approve.")
            return Bell.look
        if undo:
            await self._notify_undoable(words, undo)
        else:
            await self._notify(words or f"{name} has the earlier role again")
        return MembersState.reload

    async def _change(self) -> Member | MemberAccepted:
        update = body(MemberUpdate, {"role": self.chosen})
        known = (self._org_id(), self.member.id)
        return await self._api.change_member(*known, update, idempotency_key=self._form_key, if_match=self._version)

    @rx.event
    async def remove(self) -> Events:
        """Remove the member."""
        self._begin()
        yield
        removal = self._api.remove_member(self._org_id(), self.member.id, if_match=self._version)
        yield await self._write(removal, f"{self.member.name} is removed")

    async def _write(
        self, change: Awaitable[Member | MemberAccepted | None], words: str, undo: dict[str, str] | None = None
    ) -> Next:
        """Make the change, and return the event that shows its effect; `words` report it, `undo` are facts to undo
        it with."""
        try:
            answer = await change
        except ApiProblem as problem:
            await self._reject(problem)
            return None
        self._done()
        self.open_as = ""
        return await self._shown(answer, self.member.name, words, undo)


def _values(member: Member) -> dict[str, str]:
    """Return what people decide about a member, by its names on the page."""
    return {"Role": str(member.role).replace("_", " "), "Status": str(member.status)}


def member_view(member: Member) -> MemberView:
    """Convert the API's member."""
    user, appointment, wallets = member.user, member.appointment, member.user.wallet_addresses
    name = user.display_name or user.email or (shortened(wallets[0]) if wallets else "Unnamed")
    return MemberView(
        id=str(member.id),
        user_id=str(member.user_id),
        name=name,
        initials=initials(name),
        email=user.email or "",
        wallet=wallets[0] if wallets else "",
        more_wallets=max(0, len(wallets) - 1),
        role=member.role,
        given_by=" and ".join(filter(None, (appointment.by, appointment.agreed_by))),
        status=member.status,
        created_at=stamp(member.created_at),
    )
