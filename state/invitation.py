"""The page a mail's link leads to: whose invitation it is, and accepting it."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import reflex as rx

from backend.auth.accounts import MIN_PASSWORD
from backend.client import ApiProblem
from state.api import Form, SignedOut
from state.given import texts

UNKNOWN = "This link is not one of ours, or not whole. Open it again from the mail, or ask for a new invitation."
PASSWORD_RULE = f"At least {MIN_PASSWORD} characters, and none that is easy to guess"


@dataclass
class Invited:
    """An invitation as its holder may see it."""

    organization_id: str = ""
    organization_name: str = ""
    email: str = ""
    role: str = ""
    status: str = ""
    has_account: bool = False
    expires_at: str = ""


class InvitationState(Form, rx.State):
    """The invitation of the link, and who is looking at it."""

    loading: bool = True
    problem: str = ""
    invited: Invited = Invited()
    signed_in: str = ""
    joined: bool = False
    here: str = ""
    sign_in_path: str = ""
    overview: str = ""

    @rx.event
    async def load(self):
        """Read what the link is."""
        self._done()
        self.joined, self.here = False, self._here()
        self.sign_in_path = f"/sign-in?next={quote(self.here, safe='')}"
        try:
            told = await self._api("POST", "/invitations/preview", json=self._token())
            self.invited, self.problem = Invited(**{name: told[name] for name in Invited.__dataclass_fields__}), ""
        except ApiProblem as problem:
            unknown = problem.status in (404, 422)
            self.invited, self.problem = Invited(), UNKNOWN if unknown else problem.detail or problem.title
        self.overview = f"/o/{self.invited.organization_id}/overview"
        self.signed_in = await self._who()
        self.loading = False

    def _token(self) -> dict[str, str]:
        return {"token": self._query("token")[:300]}

    async def _who(self) -> str:
        """The address of the person who is signed in, or an empty string. Nobody has to be, here."""
        try:
            return str((await self._api("GET", "/auth/me"))["user"]["email"] or "")
        except (ApiProblem, SignedOut):
            return ""

    @rx.event
    async def accept(self):
        """Join, as the person who is signed in."""
        if await self._join({}):
            return rx.redirect(self.overview, replace=True)
        return None

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Make an account and join; the browser signs in by itself then, with what it has in the form."""
        fields = texts(data, 300)
        body = {"display_name": fields.get("display_name", "").strip(), "password": fields.get("password", "")}
        self._begin()
        yield
        if not self._fits(body):
            self.saving = False
        elif await self._join(body):
            self.joined = True

    def _fits(self, body: dict[str, str]) -> bool:
        found = {} if body["display_name"] else {"display_name": "Write your name"}
        if len(body["password"]) < MIN_PASSWORD:
            found["password"] = f"This is too short: {len(body['password'])} of {MIN_PASSWORD} characters"
        self.errors = found
        return not found

    async def _join(self, body: dict[str, str]) -> bool:
        """Accept; False where it was refused. What changed meanwhile is shown at once."""
        self._begin()
        try:
            await self._api("POST", "/invitations/accept", json=self._token() | body)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("display_name", "password")
            return False
        self._done()
        return True
