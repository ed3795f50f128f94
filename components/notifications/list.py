"""What waits for the user: the list of the overview, and the entries of the bell."""

from typing import Any

import reflex as rx

from components.approvals.own import own_waiting
from components.core.permission import Scope, may
from components.ui.button import button, link_button
from components.ui.card import card, items
from components.ui.icon import mark
from components.ui.note import empty, failure, skeleton
from components.ui.tabs import filters
from components.ui.value import when
from state.core.session import Session
from state.notifications.bell import Bell
from state.notifications.views import NotificationView
from state.requests.tracker import Tracker

NOTHING = (
    "Approvals, comments, failed requests, parties to review, expiring attestations, open invitations and disabled "
    "webhooks appear here, if your role can resolve them."
)
KINDS = [
    ("approval", "Approvals", None),
    ("comment", "Comments", None),
    ("request", "Requests", None),
    ("party", "Parties", Scope.ATTESTATIONS_WRITE),
    ("attestation", "Attestations", Scope.ATTESTATIONS_WRITE),
    ("invitation", "Invitations", Scope.MEMBERS_WRITE),
    ("webhook", "Webhooks", Scope.ORGS_WRITE),
]
"""Kinds of what waits, and the scope without which a user never has one."""


def inbox() -> rx.Component:
    """Draw what waits for the user, each entry linked to the page that resolves it."""
    kinds = Bell.kinds
    options = [("", "All", Bell.total), *[(kind, word, kinds[kind]) for kind, word, _ in KINDS]]
    shown = {kind: may(scope) for kind, _, scope in KINDS if scope}
    bar = rx.el.div(filters("Kind", Bell.kind, Bell.show, options, shown=shown), class_name="toolbar tight")
    nothing = empty("inbox", "Nothing of this kind")
    full = rx.fragment(bar, rx.cond(Bell.shown.length() > 0, items(rx.foreach(Bell.shown, _waiting)), nothing))
    return card("Needs attention", rx.cond(Bell.rows.length() > 0, full, no_entries()), own_waiting())


def no_entries() -> rx.Component:
    """Say that nothing waits, that it is being read, or why it could not be read."""
    again = button("Try again", "rotate-cw", busy=Bell.reading, on_click=Bell.load)
    others = rx.fragment(
        "Failed requests wait for people who can retry them. ",
        rx.el.a("View failed requests", href="/o/" + Session.org.id + "/requests?status=failed", class_name="link"),
    )
    calm = empty("circle-check", "Nothing waits for you", rx.cond(Tracker.failed > 0, others, NOTHING))
    lost = failure("What waits for you did not load", Bell.problem, again)
    return rx.cond(Bell.problem != "", lost, rx.cond(Bell.is_read, calm, skeleton(3)))


def sign(kind: rx.Var[str]) -> rx.Component:
    """Draw the icon of a kind."""
    return rx.match(
        kind,
        ("approval", mark("user-check", "info")),
        ("comment", mark("message-square", "info")),
        ("request", mark("circle-x", "bad")),
        ("party", mark("id-card", "info")),
        ("attestation", mark("hourglass", "warn")),
        ("webhook", mark("webhook", "warn")),
        mark("mail"),
    )


def entered(entry: rx.Var[NotificationView]) -> rx.Component:
    """Draw when an entry appeared; of an attestation only the detail's date counts, on which it expires."""
    return rx.cond(entry.kind == "attestation", rx.fragment(), when(entry.at))


def words(entry: rx.Var[NotificationView], link: Any, *more: rx.Component) -> rx.Component:
    """Draw the title of an entry as a link, its detail, and `more` below."""
    return rx.el.div(
        link,
        rx.cond(entry.detail != "", rx.el.div(entry.detail, class_name="below break"), rx.fragment()),
        *more,
        class_name="grow",
    )


def _waiting(entry: rx.Var[NotificationView]) -> rx.Component:
    fix = rx.el.div(link_button(entry.fix, entry.fix_href, kind="primary", small=True), class_name="fix-step")
    retry = button(
        "Retry", small=True, busy=Bell.retrying == entry.request_id, on_click=Bell.retry(entry.request_id)
    )  # fmt: skip
    return rx.el.li(
        sign(entry.kind),
        words(
            entry,
            rx.el.a(entry.title, href=entry.href, class_name="link plain title"),
            rx.cond((entry.fix_href != "") & ((entry.fix_scope == "") | may(entry.fix_scope)), fix, rx.fragment()),
        ),
        rx.el.div(
            rx.el.span(entered(entry), class_name="muted small nowrap"),
            rx.cond(entry.request_id != "", retry, link_button(entry.word, entry.href, small=True)),
            class_name="waiting-side",
        ),
        class_name="item",
        key=entry.id,
    )
