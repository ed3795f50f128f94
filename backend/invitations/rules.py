"""The life cycle of an invitation. Pure functions."""

import re
from datetime import datetime, timedelta

from backend.core.errors import BadRequest, Conflict, Forbidden, Invalid
from backend.invitations.schemas import InvitationAccept, InvitationStatus

LIFETIME = timedelta(days=7)
_LINK = re.compile(r"[?&]token=([A-Za-z0-9_-]+)")


def status_at(status: InvitationStatus, expires_at: datetime, now: datetime) -> InvitationStatus:
    """Return the current status: a pending invitation expires with time alone."""
    over = status is InvitationStatus.PENDING and expires_at <= now
    return InvitationStatus.EXPIRED if over else status


def check_revocable(status: InvitationStatus) -> None:
    """Raise 400 if an invitation is not pending."""
    if status is not InvitationStatus.PENDING:
        raise BadRequest(f"Only a pending invitation can be revoked; this one is {status}.")


def check_acceptable(status: InvitationStatus) -> None:
    """Raise 409 if an invitation is not pending."""
    if status is not InvitationStatus.PENDING:
        raise Conflict(f"Only a pending invitation can be accepted; this one is {status}.")


def check_addressee(invited: str, own: str) -> None:
    """Raise 403 if the signed-in person is not the invited one: a forwarded link gives no access."""
    if invited.lower() != own.lower():
        raise Forbidden("This invitation is for another address. Sign out, or sign in as the person who was invited.")


def account_of(body: InvitationAccept) -> tuple[str, str]:
    """Return name and password of the new account; 422 if one is missing."""
    missing = [n for n in ("display_name", "password") if getattr(body, n) is None]
    if body.display_name is None or body.password is None:
        raise Invalid([{"pointer": f"/{n}", "detail": "is required to create an account"} for n in missing])
    return body.display_name, body.password


def link(origin: str, token: str) -> str:
    """Return the address of the email's link."""
    return f"{origin}/invitation?token={token}"


def token_in(text: str) -> str | None:
    """Return the token in an email's text."""
    found = _LINK.search(text)
    return found.group(1) if found else None


def letter(organization: str, role: str, address: str, lifetime: timedelta) -> tuple[str, str]:
    """Return subject and text of the email; `role` has its article."""
    subject = f"You are invited to {organization} on Signum"
    text = (
        f"{organization} invites you to join it on Signum as {role}.\n\nAccept here: {address}\n\nThe link "
        f"works once and expires in {_days(lifetime)}. If you do not know {organization}, ignore this email."
    )
    return subject, text


def _days(lifetime: timedelta) -> str:
    """Return a time in whole days, rounded down."""
    if lifetime.days < 1:
        return "less than a day"
    return "1 day" if lifetime.days == 1 else f"{lifetime.days} days"
