"""Who is signed in, and which organization is in view. The page's URL says which; nothing else does."""

from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.client import ApiProblem, client
from state import given
from state.api import Api, SignedOut


@dataclass
class Crumb:
    """An organization above the one in view; `href` is empty where the person has no role there."""

    name: str
    href: str = ""


@dataclass
class Organization:
    """The organization in view."""

    id: str = ""
    name: str = ""
    initials: str = ""
    above: str = ""
    network: str = ""
    role: str = ""


class Session(Api, rx.State):
    """The signed-in person and the organization in view."""

    email: str = ""
    name: str = ""
    initials: str = ""
    org: Organization = Organization()
    trail: list[Crumb] = []
    problem: str = ""
    found: list[dict[str, Any]] = []
    next_path: str = "/"
    sign_in_error: str = ""
    needs_factor: bool = False
    """The organization in view requires a second factor, and the person has none."""
    advises_factor: bool = False
    account_path: str = "/account"
    ip_address: str = ""
    """The browser's address as the API sees it."""
    _puts_off_factor: bool = False
    network: str = ""
    _user_id: str = ""

    @rx.event
    async def enter(self):
        """Run first on every page: read the person, and the organization when the URL names another one.

        Cosmetic: the API authorizes every call anew. A revoked session raises SignedOut here.
        """
        me = await self._api("GET", "/auth/me")
        user = me["user"]
        self._user_id = user["id"]
        self.email, self.name = user["email"], user["display_name"] or user["email"]
        self.initials = initials(self.name)
        self.ip_address = me["ip_address"] or ""
        self.advises_factor = me["should_add_second_factor"] and not self._puts_off_factor
        self.account_path = f"/o/{self._org_id()}/account" if self._org_id() else "/account"
        if me["has_second_factor"] and self.needs_factor:
            self.org = Organization()  # it could not be read before
        if self._org_id() and self.org.id != self._org_id():
            await self._view(me["organizations"])

    async def _again(self) -> None:
        """Read the organization in view once more, as it was changed."""
        await self._view((await self._api("GET", "/auth/me"))["organizations"])

    async def _view(self, reach: list[dict[str, Any]]) -> None:
        """Read the organization in view; forbidden and missing ones show their problem in place of the page."""
        try:
            record = await self._api("GET", "/orgs/{org}")
        except ApiProblem as problem:
            self._shut_out(problem)
            return
        ids = [part for part in (record.get("hierarchy_path") or "").split("/") if part][:-1]
        names = {entry["id"]: entry["name"] for entry in reach}
        self.trail = [Crumb(names[id], f"/o/{id}/overview") for id in ids if id in names]
        self.problem, self.network, self.needs_factor = "", shown_network(record["network"]), False
        self.org = Organization(
            id=record["id"],
            name=record["name"],
            initials=initials(record["name"]),
            above=self.trail[-1].name if self.trail else "",
            network=record["network"],
            role=next((r["role"] for r in reach if r["id"] in [*ids, record["id"]]), ""),
        )

    def _shut_out(self, problem: ApiProblem) -> None:
        """Show why the organization refuses the person, in place of the page; the next page asks again."""
        self.problem, self.org, self.trail = problem.detail or problem.title, Organization(), []
        self.needs_factor = problem.rule == "second_factor_required"

    @rx.event
    def put_off_factor(self):
        """Hide the advice to set up a second factor until the next sign-in."""
        self.advises_factor, self._puts_off_factor = False, True

    @rx.event
    async def start(self):
        """The page at `/`: go to the session's organization, else the first one the person reaches."""
        me = await self._api("GET", "/auth/me")
        organizations = me["organizations"]
        wanted = self.org.id or me.get("org_id") or (organizations[0]["id"] if organizations else "")
        if wanted:
            return rx.redirect(f"/o/{wanted}/overview", replace=True)
        self.problem = "You have no role in any organization yet. An administrator can invite you."
        return None

    @rx.event
    async def arrive(self):
        """The sign-in page: where to go afterwards, and what went wrong before, in our own words."""
        self.next_path, self.network = safe_path(self._query("next")), shown_network("")
        self.sign_in_error = SIGN_IN_ERRORS.get(self._query("error"), "")

    @rx.event(supersedes=True)
    async def find(self, words: str):
        """Search organizations, for the switcher."""
        self.found = await self._organizations(given.words(words))

    async def _organizations(self, words: str) -> list[dict[str, Any]]:
        page = await self._api("GET", "/orgs", params={"search": words, "limit": 50})
        rows = sorted(page["organizations"], key=lambda row: [*row["ancestors"], row["name"]])
        shown = {row["id"] for row in rows}
        depths: dict[str, int] = {}
        for row in rows:
            depths[row["id"]] = depths.get(row["parent_id"], -1) + 1 if row["parent_id"] in shown else 0
        return [self._option(row, depths[row["id"]]) for row in rows]

    def _option(self, row: dict[str, Any], depth: int) -> dict[str, Any]:
        place = self.router.url.path.removeprefix(f"/o/{self._org_id()}/").partition("/")[0]
        return {
            "id": row["id"],
            "label": row["name"],
            "sub": "" if depth else " / ".join(row["ancestors"]),
            "depth": depth,
            "mark": initials(row["name"]),
            "group": "Organizations",
            "hint": str(row["child_count"] or ""),
            "href": f"/o/{row['id']}/{place or 'overview'}",
        }


SIGN_IN_ERRORS = {
    "invalid": "Email or password is wrong.",
    "slow": "Too many attempts. Wait a minute, then try again.",
    "expired": "Your session has ended. Sign in again.",
    "code": "The code or passkey was wrong, or the code was used before.",
}


def shown_network(network: str) -> str:
    """What the badge says: embedded chains are a devnet, whatever the organization's network is called."""
    return "devnet" if client.devnet else network


def safe_path(target: str) -> str:
    """A path of ours, or `/`: never another site by `//` or `/\\`."""
    is_ours = target.startswith("/") and target[1:2] not in ("/", "\\")
    return target if is_ours and not any(ord(letter) < 32 for letter in target) else "/"


def initials(name: str) -> str:
    """Two letters for a name."""
    words = [word for word in name.replace(".", " ").replace("@", " ").split() if word[0].isalnum()]
    return "".join(word[0] for word in words[:2]).upper() or "?"


__all__ = ["Crumb", "Organization", "Session", "SignedOut", "initials", "safe_path", "shown_network"]
