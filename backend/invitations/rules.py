"""The life of an invitation. Pure."""

import re
from datetime import datetime, timedelta

from backend.errors import BadRequest, Conflict, Forbidden, Invalid
from backend.invitations.schemas import InvitationAccept, InvitationStatus

LIFETIME = timedelta(days=7)
_LINK = re.compile(r"[?&]token=([A-Za-z0-9_-]+)")


def status_at(status: InvitationStatus, expires_at: datetime, now: datetime) -> InvitationStatus:
    """The status now: time alone makes a pending invitation an expired one."""
    over = status is InvitationStatus.PENDING and expires_at <= now
    return InvitationStatus.EXPIRED if over else status


def check_revocable(status: InvitationStatus) -> None:
    """400 where an invitation is not pending."""
    if status is not InvitationStatus.PENDING:
        raise BadRequest(f"Only a pending invitation can be revoked; this one is {status}.")


def check_acceptable(status: InvitationStatus) -> None:
    """409 where an invitation is not pending."""
    if status is not InvitationStatus.PENDING:
        raise Conflict(f"Only a pending invitation can be accepted; this one is {status}.")


def check_addressee(invited: str, own: str) -> None:
    """403 where a signed-in person is not the one who was invited: a link that was passed on gives nobody access."""
    if invited.lower() != own.lower():
        raise Forbidden("This invitation is for another address. Sign out, or sign in as the person who was invited.")


def account_of(body: InvitationAccept) -> tuple[str, str]:
    """Name and password of the account to make; 422 where one is missing."""
    missing = [n for n in ("display_name", "password") if getattr(body, n) is None]
    if body.display_name is None or body.password is None:
        raise Invalid([{"pointer": f"/{n}", "detail": "is needed to make an account"} for n in missing])
    return body.display_name, body.password


def link(origin: str, token: str) -> str:
    """Where the mail leads."""
    return f"{origin}/invitation?token={token}"


def token_in(text: str) -> str | None:
    """The token in a mail's text."""
    found = _LINK.search(text)
    return found.group(1) if found else None


def letter(organization: str, role: str, address: str, lifetime: timedelta) -> tuple[str, str]:
    """Subject and text of the mail."""
    subject = f"You are invited to {organization} on Signum"
    text = (
        f"{organization} invites you as {role.replace('_', ' ')}.\n\nAccept here: {address}\n\n"
        f"The link works once and ends after {max(lifetime.days, 0)} days. "
        f"If you do not know {organization}, ignore this mail."
    )
    return subject, text
