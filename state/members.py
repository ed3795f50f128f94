"""Members of an organization, and what can be done with each."""

from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from backend.members.schemas import MemberStatus, Role
from state.api import Form
from state.approvals import ApprovalCount
from state.given import named, one_of
from state.paging import Pages
from state.session import initials

TABS = ("members", "invitations")


@dataclass
class MemberRow:
    """A member. `email` is empty for who was added by wallet and has not agreed yet."""

    id: str = ""
    name: str = ""
    initials: str = ""
    email: str = ""
    wallet: str = ""
    more_wallets: int = 0
    role: str = ""
    given_by: str = ""
    """Who gave the role, and who agreed; empty for a founder."""
    status: str = ""
    created_at: str = ""


class MembersState(Pages, rx.State):
    """The list by pages, and which of the page's two lists is shown."""

    tab: str = "members"
    rows: list[MemberRow] = []
    role: str = ""
    words: str = ""

    async def _fetch(self, cursor: str) -> str | None:
        params = {"role": self.role, "search": self.words, "cursor": cursor}
        page = await self._api("GET", "/orgs/{org}/members", params=params)
        self.rows = [_member(member) for member in page["members"]]
        next_cursor: str | None = page["nextCursor"]
        return next_cursor

    @rx.event
    async def load(self):
        """Read the first page; `?tab=` chooses the list."""
        if (tab := self._query("tab")) in TABS:
            self.tab = tab
        await self._restart()

    @rx.event
    def turn(self, tab: str):
        """Show members or invitations."""
        self.tab = one_of(tab, TABS, "members")

    @rx.event(supersedes=True)
    async def filter(self, role: str):
        """Show one role, or all."""
        self.role = one_of(role, Role)
        await self._restart()

    @rx.event(supersedes=True)
    async def search(self, words: str):
        """Search by name, email or wallet."""
        self.words = str(words).strip()[:100]
        await self._restart()


class MemberAct(Form, rx.State):
    """The dialogs that change a member's role and that remove one: `open_as` is "role", "remove" or empty."""

    open_as: str = ""
    member: MemberRow = MemberRow()
    chosen: str = ""
    steps: list[str] = []
    """What it takes, where that is more than doing it."""

    async def _begin_with(self, id: str, dialog: str) -> None:
        self.steps = []
        rows = (await self.get_state(MembersState)).rows
        member = next((row for row in rows if row.id == str(id)), None)
        if member is not None:
            self._done()
            self.member, self.chosen, self.open_as = member, member.role, dialog

    @rx.event
    async def change(self, id: str):
        """Ask for a member's new role."""
        await self._begin_with(id, "role")

    @rx.event
    async def ask(self, id: str):
        """Ask whether to remove a member."""
        await self._begin_with(id, "remove")
        yield
        if self.open_as == "remove":
            await self._plan("DELETE", None)

    @rx.event
    def show(self, is_open: bool):
        """Close the dialog."""
        if not is_open:
            self.open_as = ""

    @rx.event(supersedes=True)
    async def pick(self, role: str):
        """Choose the new role."""
        self.chosen, self.steps = one_of(role, Role, self.chosen), []
        yield
        if self.open_as == "role" and self.chosen != self.member.role:
            await self._plan("PATCH", {"role": self.chosen})

    async def _plan(self, method: str, body: dict[str, str] | None) -> None:
        """Say beforehand what stands in the way, and whether it waits for another person."""
        path = f"/orgs/{{org}}/members/{self.member.id}"
        try:
            steps = (await self._api(method, path, json=body, params={"dry_run": "true"}))["steps"]
            self.steps, self.form_problem = steps if len(steps) > 1 else [], ""
        except ApiProblem as problem:
            self.form_problem = problem.detail or problem.title

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Change the role."""
        self._begin()
        yield
        async for event in self._write("PATCH", {"role": self.chosen}, f"{self.member.name} has a new role"):
            yield event

    @rx.event
    async def remove(self):
        """Remove the member."""
        self._begin()
        yield
        async for event in self._write("DELETE", None, f"{self.member.name} is removed"):
            yield event

    async def _write(self, method: str, body: dict[str, str] | None, words: str) -> Any:
        try:
            path = f"/orgs/{{org}}/members/{self.member.id}"
            answer = await self._api(method, path, json=body, key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            self.form_problem = problem.detail or problem.title
            return
        self._done()
        self.open_as = ""
        if answer and "requestId" in answer:
            await self._accepted(f"Change of {self.member.name}", answer["requestId"], "A second person approves it.")
            yield ApprovalCount.look
            return
        await self._notify(words)
        yield MembersState.reload


class WalletMember(Form, rx.State):
    """The dialog that adds a person by wallet address."""

    is_open: bool = False

    @rx.event
    def show(self, is_open: bool):
        """Open or close it."""
        self._done()
        self.is_open = bool(is_open)

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Add the person; who is not known here is asked first."""
        self._begin()
        yield
        given = named(data, "wallet_address", "display_name", "email", "role")
        body = {name: value for name, value in given.items() if value}
        if "wallet_address" not in body:
            self.saving = False
            self.errors = {"wallet_address": "A wallet address is needed"}
            return
        try:
            made = await self._api("POST", "/orgs/{org}/members", json=body, key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            return
        self._done()
        self.is_open = False
        name = given["display_name"] or "The wallet"
        if "requestId" in made:
            await self._accepted(f"Adding {name}", made["requestId"], "A second person approves it.")
            yield ApprovalCount.look
            return
        if made["status"] == MemberStatus.PENDING:
            await self._notify(f"{name} is asked", "Whoever has the wallet is a member once they agree.", "info")
        else:
            await self._notify(f"{name} is a member")
        yield MembersState.load


def _member(member: dict[str, Any]) -> MemberRow:
    user, appointment = member["user"], member["appointment"]
    wallets = user["wallet_addresses"]
    name = user["display_name"] or user["email"] or (f"{wallets[0][:6]}…{wallets[0][-4:]}" if wallets else "Unnamed")
    return MemberRow(
        id=member["id"],
        name=name,
        initials=initials(name),
        email=user["email"] or "",
        wallet=wallets[0] if wallets else "",
        more_wallets=max(0, len(wallets) - 1),
        role=member["role"],
        given_by=" and ".join(name for name in (appointment["by"], appointment["agreed_by"]) if name),
        status=member["status"],
        created_at=member["created_at"],
    )
