"""The look of a status: a map from the API's values to a word, a tone and an icon."""

from typing import NamedTuple

import reflex as rx

from components.ui.icon import icon


class Look(NamedTuple):
    """Displayed word, tone (ok, warn, bad, info, mute) and icon of a status."""

    word: str
    tone: str
    icon: str


DONE, RUN, WAIT, OFF = "circle-check", "loader-circle", "clock", "circle-slash"

LOOKS: dict[str, Look] = {
    # organizations, members, chains, keys, webhooks
    "active": Look("Active", "ok", DONE),
    "inactive": Look("Inactive", "mute", OFF),
    "suspended": Look("Suspended", "warn", "circle-pause"),
    "archived": Look("Archived", "mute", "archive"),
    "enabled": Look("Enabled", "ok", DONE),
    "disabled": Look("Disabled", "mute", OFF),
    "failing": Look("Failing", "warn", "triangle-alert"),
    "degraded": Look("Degraded", "warn", "triangle-alert"),
    "down": Look("Down", "bad", "circle-x"),
    "pending": Look("Pending", "warn", WAIT),
    # invitations
    "accepted": Look("Accepted", "ok", DONE),
    "expired": Look("Expired", "warn", "hourglass"),
    "expiring": Look("Expiring", "warn", "hourglass"),
    "revoked": Look("Revoked", "bad", "ban"),
    "invited": Look("Invited", "ok", DONE),
    # parties, attestations, issuers
    "created": Look("To review", "info", "circle-dot"),
    "verifying": Look("In review", "info", "file-search"),
    "verified": Look("Verified", "ok", DONE),
    "rejected": Look("Rejected", "bad", "circle-x"),
    "registered": Look("Registered", "ok", DONE),
    # assets, markets, distributions
    "draft": Look("Draft", "mute", "circle-dashed"),
    "deploying": Look("Deploying", "info", RUN),
    "updating": Look("Updating", "info", RUN),
    "pending_bridge": Look("Bridging first", "info", RUN),
    "activating": Look("Activating", "info", RUN),
    "paused": Look("Paused", "warn", "circle-pause"),
    "halted": Look("Halted", "warn", "circle-pause"),
    "claimed": Look("Claimed", "ok", DONE),
    "paid": Look("Paid", "ok", DONE),
    "completed": Look("Completed", "ok", DONE),
    "cancelled": Look("Cancelled", "mute", OFF),
    "failed": Look("Failed", "bad", "circle-x"),
    # bridges, transfers, transactions
    "submitting": Look("Sending", "info", RUN),
    "confirmed": Look("Confirmed", "ok", DONE),
    # faults of embedded chains ("down" is a status of chains too)
    "slow": Look("Slow", "warn", WAIT),
    "refuse_packets": Look("Refuses packets", "bad", "ban"),
    "drop_transactions": Look("Drops transactions", "bad", "circle-x"),
    # emails
    "kept": Look("Not sent", "mute", "archive"),
    "queued": Look("Being sent", "info", RUN),
    "sent": Look("Sent", "ok", DONE),
    # orders
    "open": Look("Open", "info", "circle"),
    "partial": Look("Partly filled", "info", "circle-dot"),
    "filled": Look("Filled", "ok", DONE),
    # requests, their steps, approvals, deliveries
    "awaiting_approval": Look("Needs approval", "warn", "user-check"),
    "approved": Look("Approved", "ok", DONE),
    "denied": Look("Denied", "bad", "ban"),
    "withdrawn": Look("Withdrawn", "mute", "undo-2"),
    "to_start": Look("Waiting to start", "info", WAIT),
    "running": Look("Running", "info", RUN),
    "retrying": Look("Retrying", "warn", "rotate-cw"),
    "succeeded": Look("Done", "ok", DONE),
    "skipped": Look("Skipped", "mute", OFF),
    "update": Look("Update", "info", "pencil"),
    "claimable": Look("Can claim now", "info", "circle-dot"),
    "eligible": Look("Eligible", "ok", DONE),
    "waiting": Look("Waiting", "mute", "circle-dashed"),
    "delivered": Look("Delivered", "ok", DONE),
    # findings: the eligibility check's severities, checks before an action
    "error": Look("Error", "bad", "circle-x"),
    "warning": Look("Warning", "warn", "triangle-alert"),
    "info": Look("Note", "mute", "info"),
    "ready": Look("Ready", "ok", DONE),
    "needs_confirmation": Look("Needs confirmation", "warn", "circle-alert"),
    "passed": Look("Passed", "ok", DONE),
    "refused": Look("Refused", "bad", "circle-x"),
    "blocked": Look("Blocked", "mute", "lock"),
    # attempts to break the demo
    "attempt_refused": Look("Refused", "ok", "shield-check"),
    "attempt_repaired": Look("Repaired", "ok", "shield-check"),
    "broken": Look("Broken", "bad", "circle-x"),
    "not_made": Look("Could not be tried", "warn", "triangle-alert"),
    # checks of an evidence pack
    "ok": Look("OK", "ok", DONE),
    "differs": Look("Differs", "bad", "circle-x"),
    "unchecked": Look("Not checked", "warn", "circle-dashed"),
    # nodes of a chain
    "good_enough": Look("Suitable", "ok", DONE),
    "not_good_enough": Look("Not suitable", "bad", "circle-x"),
    "no_answer": Look("Not responding", "bad", "cloud-off"),
}


def _one(look: Look, kind: str) -> rx.Component:
    size = 13 if kind == "badge" else 15
    return rx.el.span(
        icon(look.icon, size, stroke_width=2, spin=look.icon == RUN), look.word, class_name=f"{kind} {look.tone}"
    )


@rx.memo
def status_badge(value: rx.Var[str]) -> rx.Component:
    """Draw a filled badge, for heads. Memoized: compiled once for all uses."""
    return rx.match(
        value, *[(key, _one(look, "badge")) for key, look in LOOKS.items()], rx.el.span(value, class_name="badge word")
    )


@rx.memo
def status_text(value: rx.Var[str]) -> rx.Component:
    """Draw icon and word without a fill, for tables and lists."""
    return rx.match(value, *[(key, _one(look, "status")) for key, look in LOOKS.items()], rx.el.span(value))


def badge(value: rx.Var[str] | str) -> rx.Component:
    """Show a status of the API in a page's or card's head."""
    return status_badge(value=value)


def status(value: rx.Var[str] | str) -> rx.Component:
    """Show a status of the API in a table or list."""
    return status_text(value=value)


def of_request(value: rx.Var[str]) -> rx.Var[str]:
    """Return the look of a request's status: an accepted request waits to start, an accepted invitation is over."""
    return rx.cond(value == "accepted", "to_start", value).to(str)


def tag(word: rx.Var[str] | str, tone: str = "") -> rx.Component:
    """Show a word in a small badge: "Changed", "Owner", "Reg D". Tones: ok, warn, bad, info."""
    return rx.el.span(word, class_name=f"badge word {tone}".strip())
