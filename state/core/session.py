"""The signed-in user and the current organization. Only the page's URL selects the organization."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote
from uuid import UUID

import reflex as rx

from backend.auth.credentials import session_secret
from backend.auth.scopes import RANK, ROLE_SCOPES, Scope, highest
from backend.auth.secrets import digest
from backend.client import ApiProblem, client
from backend.organizations.schemas import Access, OrganizationListed
from backend.sign_in.schemas import EMAIL_COOKIE, Reach
from backend.users.schemas import Role
from state.core import arguments
from state.core.api import Api, SignedOut
from state.core.events import Next
from state.core.refusals import needed_role
from state.core.visits import leave_all


@dataclass
class Crumb:
    """An organization above the current one; `href` is empty if the user has no role there."""

    name: str
    href: str = ""


@dataclass
class Organization:
    """The current organization."""

    id: str = ""
    name: str = ""
    initials: str = ""
    above: str = ""
    network: str = ""
    role: str = ""
    scopes: list[str] = field(default_factory=list)
    """Scopes of the user's roles here, which add up."""
    holders: dict[str, str] = field(default_factory=dict)
    """By scope that the user lacks: who has it, as sentences."""
    others: dict[str, str] = field(default_factory=dict)
    """By scope: other people who have it. Empty for users who may do everything, whose colleagues are not read."""


class Session(Api, rx.State):
    """The signed-in user and the current organization."""

    user_id: str = ""
    email: str = ""
    name: str = ""
    initials: str = ""
    org: Organization = Organization()
    trail: list[Crumb] = []
    problem: str = ""
    found: list[dict[str, Any]] = []
    found_for: str | None = None
    next_path: str = "/"
    is_for_application: bool = False
    """An application's request for access has led to the sign-in."""
    visit: str = ""
    """`user` or `visitor`, empty until `recognize` has run."""
    sign_in_error: str = ""
    sign_in_email: str = ""
    """The email of the sign-in that has just failed."""
    resumes_as: str = ""
    """On the sign-in page: who is signed in in this browser, and can continue. Empty for visitors."""
    is_replaced: bool = False
    """This tab belonged to another person."""
    ended: str = ""
    """On the sign-in page: a mark of the tab's session, which has ended. Empty without a session."""
    has_ended: bool = False
    """A page of a session that has ended led to the sign-in."""
    needs_factor: bool = False
    """The current organization requires a second factor, and the user has none."""
    advises_factor: bool = False
    account_path: str = "/account"
    ip_address: str = ""
    """The browser's address as the API sees it."""
    _puts_off_factor: bool = False
    _earlier_user_id: str = ""
    """Whose session filled this tab before the present one; empty if none did."""
    network: str = ""

    @rx.event
    async def enter(self) -> Next:
        """Run first on every page: read the user, and the organization if the URL names another one. Redirect investors
        of that organization to their own page.

        For display only: the API authorizes every call. A revoked session raises SignedOut here.
        """
        await leave_all(self)
        me = await self._api.get_me()
        self.user_id = str(me.user.id)
        self.email = me.user.email or ""
        self.name = me.user.display_name or self.email
        self.initials = initials(self.name)
        self.ip_address = me.ip_address or ""
        self.advises_factor = me.should_add_second_factor and not self._puts_off_factor
        self.account_path = f"/o/{self._org_id()}/account" if self._org_id() else "/account"
        if me.has_second_factor and self.needs_factor:
            self.org = Organization()  # it could not be read before
        if self._org_id() and self.org.id != self._org_id():
            await self._view(me.organizations)
            if self.problem and self._org_id() in _invested(me.organizations):
                return rx.redirect(await self._investor_page(self._org_id()), replace=True)
        return None

    async def _investor_page(self, organization_id: str = "") -> str:
        """Return the user's page as an investor of an organization, by default of the only one; else the choice."""
        found = (await self._api.get_investor_memberships()).memberships
        pages = [f"/i/{one.id}" for one in found if organization_id in ("", str(one.organization_id))]
        is_account = self.router.url.path.endswith("/account")
        return f"{pages[0]}/account" if len(pages) == 1 and is_account else pages[0] if len(pages) == 1 else "/i"

    async def _again(self) -> None:
        """Read the current organization again after a change."""
        await self._view((await self._api.get_me()).organizations)

    async def _view(self, reach: list[Reach]) -> None:
        """Read the current organization; if it is forbidden or missing, show the problem instead of the page."""
        try:
            record = await self._api.get_organization(self._org_id())
        except ApiProblem as problem:
            self._shut_out(problem)
            return
        ids = [part for part in (record.hierarchy_path or "").split("/") if part][:-1]
        names = {str(entry.id): entry.name for entry in reach}
        own = [entry for entry in reach if str(entry.id) in [*ids, str(record.id)]]
        scopes = {scope for entry in own for scope in entry.scopes}
        people = await self._colleagues(scopes)
        others = [one for one in people if str(one.user_id) != self.user_id]
        able = [one for one in others if one.cannot_approve is None]
        self.trail = [Crumb(names[id], f"/o/{id}/overview") for id in ids if id in names]
        self.problem, self.network, self.needs_factor = "", shown_network(record.network), False
        self.org = Organization(
            id=str(record.id),
            name=record.name,
            initials=initials(record.name),
            above=self.trail[-1].name if self.trail else "",
            network=record.network,
            role=highest([entry.role for entry in own]) or "",
            scopes=sorted(scopes),
            holders=holders(set(Scope) - scopes, people),
            others={scope: names_of(scope, able) for scope in Scope},
        )

    async def _colleagues(self, scopes: set[Scope]) -> list[Access]:
        """Return people with access here, for a user who may not do everything; without permission, none."""
        if set(Scope) <= scopes or Scope.MEMBERS_READ not in scopes:
            return []
        try:
            return (await self._api.list_access(self._org_id(), limit=100)).access
        except ApiProblem:
            return []  # the roles are named without people

    def _shut_out(self, problem: ApiProblem) -> None:
        """Show why the organization refuses the user instead of the page; the next page asks again."""
        self.problem, self.org, self.trail = problem.detail or problem.title, Organization(), []
        self.needs_factor = problem.rule == "second_factor_required"

    @rx.event
    def put_off_factor(self) -> None:
        """Hide the advice to set up a second factor until the next sign-in."""
        self.advises_factor, self._puts_off_factor = False, True

    @rx.event
    async def start(self) -> Next:
        """Go from `/` to the session's organization, or the first one the user has access to. Investors go to their own
        page."""
        me = await self._api.get_me()
        invested = _invested(me.organizations)
        staffed = [str(reach.id) for reach in me.organizations if str(reach.id) not in invested]
        own = str(me.org_id or "")
        wanted = self.org.id or ("" if own in invested else own) or (staffed[0] if staffed else "")
        if wanted:
            return rx.redirect(f"/o/{wanted}/overview", replace=True)
        if invested:
            return rx.redirect(await self._investor_page(), replace=True)
        self.problem = "You have no role in any organization yet. An admin can invite you."
        return None

    @rx.event
    async def arrive(self) -> None:
        """Prepare the sign-in page: the path to return to, and the last failure in our own words."""
        self.next_path, self.network = safe_path(self._query("next")), shown_network("")
        self.is_for_application = self.next_path.startswith(APPLICATIONS)
        self.sign_in_error = SIGN_IN_ERRORS.get(self._query("error"), "")
        self.sign_in_email = kept_email(self.router.headers.cookie) if self.sign_in_error else ""
        self.resumes_as, self.is_replaced, self.ended, self.has_ended = "", False, "", False

    @rx.event
    async def resume(self) -> Next:
        """Lead a browser that is signed in to the path it wanted: only the earlier session of its tab has ended.

        Without a path, or if the tab was another person's, offer to continue instead. An application may require a new
        sign-in, and so does a person whose sign-in has just failed.
        """
        secret = session_secret(self.router.headers.cookie)
        if self.is_for_application or self.sign_in_error:
            return None
        if not secret:
            self.has_ended = bool(self._earlier_user_id) and self.next_path != "/"
            return None
        try:
            me = await self._api.get_me()
        except SignedOut:
            self.ended, self.has_ended = digest(secret)[:12], True
            return None
        except ApiProblem:
            return None
        is_other = bool(self._earlier_user_id) and str(me.user.id) not in (self._earlier_user_id, self.user_id)
        self.is_replaced = is_other and self._earlier_user_id != UNKNOWN
        if self.next_path == "/" or is_other:
            self.resumes_as = me.user.display_name or me.user.email or "the signed-in person"
            return None
        return rx.redirect(self.next_path, replace=True)

    @rx.event
    async def recognize(self) -> None:
        """Find out whether the browser is signed in, on pages that work for both."""
        try:
            await self._api.get_me()
        except (ApiProblem, SignedOut):
            self.visit = "visitor"
        else:
            self.visit = "user"

    @rx.event(supersedes=True)
    async def find(self, words: str) -> None:
        """Search organizations, for the switcher."""
        self.found, self.found_for = await self._organizations(arguments.words(words)), arguments.typed(words)

    async def _organizations(self, words: str) -> list[dict[str, Any]]:
        page = await self._api.list_organizations(q=words or None, limit=50)
        rows = sorted(page.organizations, key=lambda row: [*row.ancestors, row.name])
        depths: dict[UUID, int] = {}
        for row in rows:
            depths[row.id] = depths[row.parent_id] + 1 if row.parent_id in depths else 0
        return [self._option(row, depths[row.id]) for row in rows]

    def _option(self, row: OrganizationListed, depth: int) -> dict[str, Any]:
        place = self.router.url.path.removeprefix(f"/o/{self._org_id()}/").partition("/")[0]
        return {
            "id": str(row.id),
            "label": row.name,
            "sub": "" if depth else " / ".join(row.ancestors),
            "depth": depth,
            "mark": initials(row.name),
            "group": "Organizations",
            "hint": f"{row.child_count} direct" if row.child_count else "",
            "href": f"/o/{row.id}/{place or 'overview'}",
        }


UNKNOWN = "unknown"
"""The earlier user of a tab that no page has named."""
APPLICATIONS = ("/v1/oauth/authorize", "/oauth/consent")
"""Where applications request access."""
SIGN_IN_ERRORS = {
    "invalid": "Email or password is wrong.",
    "slow": "Too many attempts. Try again in a minute.",
    "preparing": "The demo is still being created. Try again in a minute.",
    "expired": "Your session has ended. Sign in again.",
    "code": "The code or passkey is invalid, or the code was already used.",
}


def kept_email(cookies: str) -> str:
    """Return the email of a failed sign-in from a browser's cookies, or an empty string."""
    pairs = (part.strip().partition("=") for part in cookies.split(";"))
    return next((unquote(value)[:320] for name, _, value in pairs if name.removeprefix("__Host-") == EMAIL_COOKIE), "")


def holders(scopes: set[Scope], people: list[Access]) -> dict[str, str]:
    """Return by scope who has it: "You need the role Admin for this. Elin Halvorsen can help." """
    return {str(scope): _who_has(scope, people) for scope in scopes}


def _who_has(scope: Scope, people: list[Access]) -> str:
    needed, names = needed_role(scope), names_of(scope, people)
    return f"{needed} {names} can help." if names else needed


def names_of(scope: Scope, people: list[Access]) -> str:
    """Return up to two people who have a scope: "Elin Halvorsen or Priya Shah". Empty without any."""
    roles = [role for role in RANK if scope in ROLE_SCOPES[role]]
    return first_names(one for one in people if one.role in roles)


def first_names(people: Iterable[Access]) -> str:
    """Return the names of up to two people."""
    return " or ".join(list(dict.fromkeys(one.display_name for one in people if one.display_name))[:2])


def _invested(reach: list[Reach]) -> set[str]:
    """Return the organizations of which the user is an investor only."""
    return {str(one.id) for one in reach if one.role is Role.CLIENT}


def shown_network(network: str) -> str:
    """Return the badge's network: embedded chains are a devnet, even if the organization's network differs."""
    return "devnet" if client.devnet else network


def safe_path(target: str) -> str:
    """Return a path of the console, or `/`; `//` and `/\\` would lead to another site."""
    is_ours = target.startswith("/") and target[1:2] not in ("/", "\\")
    return target if is_ours and not any(ord(letter) < 32 for letter in target) else "/"


def initials(name: str) -> str:
    """Return two letters for a name."""
    words = [word for word in name.replace(".", " ").replace("@", " ").split() if word[0].isalnum()]
    return "".join(word[0] for word in words[:2]).upper() or "?"


__all__ = ["Crumb", "Organization", "Session", "SignedOut", "initials", "safe_path", "shown_network"]
