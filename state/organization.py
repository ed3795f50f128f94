"""The page of organizations: what the tree has selected, with who can reach it."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pycountry
import reflex as rx

from backend.client import ApiProblem
from backend.members.schemas import Role
from state.api import Loads
from state.hierarchy import Hierarchy, is_id, path_of
from state.session import Session, initials

SUBS, PEOPLE = 8, 10


@dataclass
class Detail:
    """An organization with everything the page says of it; empty strings where the API has null."""

    id: str = ""
    name: str = ""
    initials: str = ""
    status: str = ""
    parent_id: str = ""
    above: str = ""
    depth: int = 0
    org_type: str = ""
    email: str = ""
    website: str = ""
    description: str = ""
    jurisdiction: str = ""
    country: str = ""
    network: str = ""
    created_at: str = ""
    members: int = 0
    assets: int = 0
    wallets: int = 0
    subs: int = 0
    path: list[str] = field(default_factory=list)


@dataclass
class Sub:
    """An organization directly below."""

    id: str
    name: str
    status: str
    below: int
    created_at: str


@dataclass
class Access:
    """A person whose role reaches the organization; `origin` is where the role is given, empty where it is here."""

    id: str
    name: str
    initials: str
    email: str
    role: str
    origin: str


class OrganizationState(Loads, rx.State):
    """The selected organization. On phones it is a view of its own, with a way back to the tree."""

    item: Detail = Detail()
    subs: list[Sub] = []
    people: list[Access] = []
    more_people: bool = False
    is_opened: bool = False
    can_write: bool = False
    _people_next: str = ""
    _admin_of: list[str] = []

    @rx.event
    async def load(self):
        """Show the tree, and the organization of `?id=`, of the last visit, or of the URL."""
        tree = await self.get_state(Hierarchy)
        try:
            me, here = await self._api_all("/auth/me", "/orgs/{org}")
            self._admin_of = [entry["id"] for entry in me["organizations"] if entry["role"] == Role.ADMIN]
            await tree._start(here, [entry["id"] for entry in me["organizations"]])
            tree._loaded()
        except ApiProblem as problem:
            tree._failed(problem)
            self._failed(problem)
            return
        asked = self._query("id") if is_id(self._query("id")) else ""
        last = self.item.id if self.item.id and tree._forest.row(self.item.id) else ""
        self.is_opened = bool(asked)
        await self._go(asked or last or here["id"])

    async def _go(self, id: str) -> bool:
        """Reveal an organization in the tree and show it; False where it is not in this tree."""
        tree = await self.get_state(Hierarchy)
        try:
            record = await self._api("GET", f"/orgs/{id}")
            if not await tree._reveal(path_of(record)):
                return False
            tree.selected = record["id"]
            await self._show(record["id"])
        except ApiProblem as problem:
            self._failed(problem)
        return True

    async def _show(self, id: str) -> None:
        """Read what the page says of one organization."""
        try:
            record, counts, subs, access = await asyncio.gather(
                self._api("GET", f"/orgs/{id}"),
                self._api("GET", f"/orgs/{id}/summary"),
                self._api("GET", f"/orgs/{id}/sub-orgs", params={"limit": SUBS}),
                self._api("GET", f"/orgs/{id}/access", params={"limit": PEOPLE}),
            )
        except ApiProblem as problem:
            self._failed(problem)
            return
        tree = await self.get_state(Hierarchy)
        self.item = _detail(record, counts, tree._forest.names(path_of(record)[:-1]))
        # Cosmetic: the API decides, and says no in words.
        self.can_write = any(id in self._admin_of for id in self.item.path)
        self.subs = [_sub(row) for row in subs["organizations"]]
        self.people = []
        self._add_people(access)
        self._loaded()

    def _add_people(self, page: dict[str, Any]) -> None:
        self.people = [*self.people, *(_access(row) for row in page["access"])]
        self._people_next = page["nextCursor"] or ""
        self.more_people = bool(self._people_next) and len(self.people) < 100

    async def _changed(self, *parents: str) -> None:
        """Something was created, renamed or moved: read tree, page and header again."""
        tree, session = await self.get_state(Hierarchy), await self.get_state(Session)
        await tree._reload(*parents)
        me = await self._api("GET", "/auth/me")
        await session._view(me["organizations"])

    @rx.event
    async def press(self, key: str):
        """A key of the tree; Enter opens what is in focus."""
        tree = await self.get_state(Hierarchy)
        if key == "Enter":
            await self._choose(tree.active)
            return
        try:
            await tree._step(str(key)[:12])
        except ApiProblem as problem:
            await self._notify("The branch did not open", problem.detail, "bad")

    @rx.event
    async def choose(self, id: str):
        """A click on a row of the tree."""
        await self._choose(id)

    async def _choose(self, id: str) -> None:
        tree = await self.get_state(Hierarchy)
        try:
            chosen = await tree._press(id)
        except ApiProblem as problem:
            await self._notify("The rest did not load", problem.detail, "bad")
            return
        if chosen:
            self.is_opened = True
            await self._show(chosen)

    @rx.event
    async def find(self, id: str):
        """A result of the search, or a sub-organization; what is in another tree is opened there."""
        tree = await self.get_state(Hierarchy)
        known = {found["id"] for found in tree.found} | {sub.id for sub in self.subs}
        if str(id) not in known:
            return None
        tree.found, tree.searched = [], False
        self.is_opened = True
        if not await self._go(str(id)):
            return rx.redirect(f"/o/{id}/organizations?id={id}")
        return None

    @rx.event
    async def rest(self):
        """The next people with access."""
        if self._people_next:
            params = {"limit": PEOPLE, "cursor": self._people_next}
            self._add_people(await self._api("GET", f"/orgs/{self.item.id}/access", params=params))

    @rx.event
    async def retry(self):
        """Try again to read the selected organization."""
        await self._show(self.item.id or str(self.org_id))

    @rx.event
    def back(self):
        """Return to the tree (phones)."""
        self.is_opened = False


def _detail(record: dict[str, Any], counts: dict[str, Any], above: list[str]) -> Detail:
    words = {name: record.get(name) or "" for name in ("org_type", "email", "website", "description", "jurisdiction")}
    country = pycountry.countries.get(alpha_3=words["jurisdiction"]) if words["jurisdiction"] else None
    return Detail(
        id=record["id"],
        name=record["name"],
        initials=initials(record["name"]),
        status=record["status"],
        parent_id=record["parent_id"] or "",
        above=" / ".join(above),
        depth=int(record["depth"] or 0),
        country=country.name if country else "",
        network=record["network"],
        created_at=record["created_at"],
        members=counts["members"]["total"],
        assets=counts["assets"]["total"],
        wallets=counts["wallets"],
        subs=counts["sub_organizations"],
        path=path_of(record),
        **words,
    )


def _sub(row: dict[str, Any]) -> Sub:
    return Sub(row["id"], row["name"], row["status"], row["child_count"], row["created_at"])


def _access(row: dict[str, Any]) -> Access:
    name = row["display_name"] or row["email"] or "Unnamed"
    origin = row["organization_name"] if row["inherited"] else ""
    key = f"{row['user_id']}{row['organization_id']}{row['role']}"
    return Access(key, name, initials(name), row["email"] or "", row["role"], origin)
