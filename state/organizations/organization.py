"""The page of organizations: the tree's selection, with the people who have access."""

import asyncio
from dataclasses import dataclass, field
from typing import ClassVar

import reflex as rx

from backend.client import ApiProblem
from backend.compliance.countries import NAMES
from backend.organizations.schemas import Access, AccessList, Organization, OrganizationListed, Summary
from backend.users.schemas import Role
from state.core.address import Addressed, Param, identifier
from state.core.api import Loads
from state.core.dates import stamp
from state.core.events import Next
from state.core.session import Session, initials
from state.organizations.tree import Hierarchy, path_of

SUBS, PEOPLE = 8, 10


@dataclass
class OrganizationDetail:
    """An organization with everything that the page shows; empty strings for null."""

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
    subs_all: int = 0
    path: list[str] = field(default_factory=list)


@dataclass
class SubOrganizationView:
    """An organization directly below."""

    id: str
    name: str
    status: str
    below: int
    created_at: str


@dataclass
class AccessView:
    """A person whose role applies to the organization; `origin` is where the role is granted, empty if it is here."""

    id: str
    name: str
    initials: str
    email: str
    role: str
    origin: str


class OrganizationState(Loads, Addressed, rx.State):
    """The selected organization. On phones it has its own view, with a button back to the tree."""

    asked: str = ""
    """The id of the organization that the user chose; on phones it is shown instead of the tree."""
    _in_url: ClassVar[dict[str, Param]] = {"id": identifier("asked", "change")}
    item: OrganizationDetail = OrganizationDetail()
    subs: list[SubOrganizationView] = []
    people: list[AccessView] = []
    more_people: bool = False
    can_write: bool = False
    can_create: bool = False
    _people_next: str = ""
    _admin_of: list[str] = []

    @rx.event
    async def load(self) -> None:
        """Show the tree, and the organization of `?id=`, of the last visit, or of the URL."""
        self._read_url()
        tree = await self.get_state(Hierarchy)
        try:
            me, here = await asyncio.gather(self._api.get_me(), self._api.get_organization(self._org_id()))
            self._admin_of = [str(entry.id) for entry in me.organizations if entry.role is Role.ADMIN]
            # For display only, as `can_write`: an admin of any organization may create one.
            self.can_create = bool(self._admin_of)
            await tree._start(here, [str(entry.id) for entry in me.organizations])
            tree._loaded()
        except ApiProblem as problem:
            tree._failed(problem)
            self._failed(problem)
            return
        last = self.item.id if self.item.id and tree._forest.row(self.item.id) else ""
        await self._go(self.asked or last or str(here.id))

    async def _go(self, id: str) -> bool:
        """Reveal an organization in the tree and show it; return False if it is not in this tree."""
        tree = await self.get_state(Hierarchy)
        try:
            organization = await self._api.get_organization(id)
            if not await tree._reveal(path_of(organization)):
                return False
            tree.selected = str(organization.id)
            await self._show(tree.selected)
        except ApiProblem as problem:
            self._failed(problem)
        return True

    async def _show(self, id: str) -> None:
        """Read the page's data of one organization."""
        api = self._api
        try:
            subs, access, organization, summary = await asyncio.gather(
                api.list_sub_organizations(id, limit=SUBS),
                api.list_access(id, limit=PEOPLE),
                api.get_organization(id),
                api.get_summary(id),
            )
        except ApiProblem as problem:
            self._failed(problem)
            return
        tree = await self.get_state(Hierarchy)
        self.item = _detail(organization, summary, tree._forest.names(path_of(organization)[:-1]))
        # For display only: the API decides and explains refusals.
        self.can_write = any(id in self._admin_of for id in self.item.path)
        # By name, as in the tree; more of them than are read are the newest.
        self.subs = sorted(map(_sub_organization, subs.organizations), key=lambda sub: sub.name.casefold())
        self.people = []
        self._add_people(access)
        self._loaded()

    def _add_people(self, page: AccessList) -> None:
        self.people = [*self.people, *(_access(row) for row in page.access)]
        self._people_next = page.nextCursor or ""
        self.more_people = bool(self._people_next) and len(self.people) < 100

    async def _changed(self, *parents: str) -> None:
        """Read tree, page and header again after an organization was created, renamed or moved."""
        tree, session = await self.get_state(Hierarchy), await self.get_state(Session)
        await tree._reload(*parents)
        await session._again()

    @rx.event
    async def press(self, key: str) -> None:
        """Handle a key of the tree; Enter opens the focused row."""
        tree = await self.get_state(Hierarchy)
        if key == "Enter":
            await self._choose(tree.active)
            return
        try:
            await tree._step(str(key)[:12])
        except ApiProblem as problem:
            await self._notify("The branch did not open", problem.detail, "bad")

    @rx.event
    async def choose(self, id: str) -> None:
        """Handle a click on a row of the tree."""
        await self._choose(id)

    async def _choose(self, id: str) -> None:
        tree = await self.get_state(Hierarchy)
        try:
            chosen = await tree._press(id)
        except ApiProblem as problem:
            await self._notify("The rest did not load", problem.detail, "bad")
            return
        if chosen:
            self.asked = chosen
            await self._show(chosen)

    @rx.event
    async def find(self, id: str) -> Next:
        """Open a search result or sub-organization; one of another tree opens there."""
        tree = await self.get_state(Hierarchy)
        known = {found["id"] for found in tree.found} | {sub.id for sub in self.subs}
        if str(id) not in known:
            return None
        tree.found, tree.searched = [], False
        if not await self._go(str(id)):
            return rx.redirect(f"/o/{id}/organizations?id={id}")
        self.asked = str(id)
        return None

    @rx.event
    async def rest(self) -> None:
        """Read the next people with access."""
        if self._people_next:
            self._add_people(await self._api.list_access(self.item.id, limit=PEOPLE, cursor=self._people_next))

    @rx.event
    async def retry(self) -> None:
        """Read the selected organization again."""
        await self._show(self.item.id or self._org_id())

    @rx.event
    def back(self) -> None:
        """Return to the tree (on phones)."""
        self.asked = ""


def _detail(organization: Organization, summary: Summary, above: list[str]) -> OrganizationDetail:
    jurisdiction = organization.jurisdiction or ""
    return OrganizationDetail(
        id=str(organization.id),
        name=organization.name,
        initials=initials(organization.name),
        status=organization.status,
        parent_id=str(organization.parent_id or ""),
        above=" / ".join(above),
        depth=organization.depth or 0,
        org_type=organization.org_type or "",
        email=organization.email or "",
        website=organization.website or "",
        description=organization.description or "",
        jurisdiction=jurisdiction,
        country=NAMES.get(jurisdiction, ""),
        network=organization.network,
        created_at=stamp(organization.created_at),
        members=summary.members.total,
        assets=summary.assets.total,
        wallets=summary.wallets,
        subs=summary.sub_organizations,
        subs_all=summary.sub_organizations_all,
        path=path_of(organization),
    )


def _sub_organization(row: OrganizationListed) -> SubOrganizationView:
    return SubOrganizationView(str(row.id), row.name, row.status, row.child_count, stamp(row.created_at))


def _access(row: Access) -> AccessView:
    name = row.display_name or row.email or "Unnamed"
    origin = row.organization_name if row.inherited else ""
    key = f"{row.user_id}{row.organization_id}{row.role}"
    return AccessView(key, name, initials(name), row.email or "", row.role, origin)
