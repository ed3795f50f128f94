"""The page of an invitation link: the invitation, and accepting it."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import reflex as rx

from backend.client import ApiProblem, body
from backend.invitations.schemas import InvitationAccept, InvitationPreview, InvitationToken
from backend.sign_in.accounts import MIN_PASSWORD
from state.core.api import Form, SignedOut
from state.core.arguments import texts
from state.core.dates import stamp
from state.core.events import Events, Next

UNKNOWN = (
    "The link is incomplete or no longer valid. Open it again from the email, or ask the person who invited you for "
    "another one."
)
PASSWORD_RULE = f"At least {MIN_PASSWORD} characters, not easy to guess"


@dataclass
class InvitationDetail:
    """An invitation as its recipient may see it."""

    organization_id: str = ""
    organization_name: str = ""
    email: str = ""
    role: str = ""
    status: str = ""
    has_account: bool = False
    expires_at: str = ""


class InvitationState(Form, rx.State):
    """The invitation of the link, and the user who views it."""

    loading: bool = True
    problem: str = ""
    invited: InvitationDetail = InvitationDetail()
    signed_in: str = ""
    joined: bool = False
    here: str = ""
    sign_in_path: str = ""
    overview: str = ""

    @rx.event
    async def load(self) -> None:
        """Read the invitation of the link."""
        self._done()
        self.joined, self.here = False, self._here()
        self.sign_in_path = f"/sign-in?next={quote(self.here, safe='')}"
        try:
            preview = await self._api.preview_invitation(body(InvitationToken, self._token()))
            self.invited, self.problem = _detail(preview), ""
        except ApiProblem as problem:
            unknown = problem.status in (404, 422)
            self.invited, self.problem = InvitationDetail(), UNKNOWN if unknown else problem.detail or problem.title
        self.overview = f"/o/{self.invited.organization_id}/overview"
        self.signed_in = await self._who()
        self.loading = False

    def _token(self) -> dict[str, str]:
        return {"token": self._query("token")[:300]}

    async def _who(self) -> str:
        """Return the signed-in user's email, or an empty string; the page works without a session."""
        try:
            return (await self._api.get_me()).user.email or ""
        except (ApiProblem, SignedOut):
            return ""

    @rx.event
    async def accept(self) -> Next:
        """Accept as the signed-in user."""
        if await self._join({}):
            return rx.redirect(self.overview, replace=True)
        return None

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Create an account and accept; then the browser signs in with the form's data."""
        given = texts(data, 300)
        fields = {"display_name": given.get("display_name", "").strip(), "password": given.get("password", "")}
        self._begin()
        yield
        self.errors = _findings(**fields)
        if self.errors:
            self.saving = False
        elif await self._join(fields):
            self.joined = True

    async def _join(self, fields: dict[str, str]) -> bool:
        """Accept; return False if it was refused. Changes in the meantime are shown immediately."""
        self._begin()
        try:
            await self._api.accept_invitation(body(InvitationAccept, self._token() | fields))
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("display_name", "password")
            return False
        self._done()
        return True


def _findings(display_name: str, password: str) -> dict[str, str]:
    """Return what a new account needs, by field."""
    findings = {} if display_name else {"display_name": "Enter your name"}
    if len(password) < MIN_PASSWORD:
        findings["password"] = f"Too short: {len(password)} of {MIN_PASSWORD} characters"
    return findings


def _detail(preview: InvitationPreview) -> InvitationDetail:
    return InvitationDetail(
        organization_id=str(preview.organization_id),
        organization_name=preview.organization_name,
        email=preview.email,
        role=preview.role,
        status=preview.status,
        has_account=preview.has_account,
        expires_at=stamp(preview.expires_at),
    )
