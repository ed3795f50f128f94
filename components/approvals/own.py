"""The user's own requests that wait for another person: on the overview, and where a list has nothing to approve."""

import reflex as rx

from components.requests.waiting import other_people
from components.ui.box import text
from components.ui.button import link_button
from components.ui.card import items
from components.ui.icon import mark
from components.ui.value import when
from state.approvals.own import OwnApprovals
from state.approvals.views import ApprovalView
from state.core.session import Session

PLACE = "/o/" + Session.org.id + "/approvals?view=mine"


def own_waiting() -> rx.Component:
    """Draw the user's requests that wait for another person; nothing without any."""
    rows = OwnApprovals.rows
    listed = rx.el.section(
        rx.el.h3("Your requests wait for another person", class_name="own-waiting small muted"),
        items(rx.foreach(rows, _waiting)),
        aria_label="Your requests wait for another person",
    )
    return rx.cond(rows.length() > 0, listed, rx.fragment())


def _waiting(approval: rx.Var[ApprovalView]) -> rx.Component:
    href = PLACE + "&id=" + approval.id
    return rx.el.li(
        mark("hourglass"),
        rx.el.div(
            rx.el.a(approval.title, href=href, class_name="link plain title"),
            rx.el.div(other_people(approval.scope), "Expires ", when(approval.expires_at), class_name="below break"),
            class_name="grow",
        ),
        rx.el.div(
            text(when(approval.created_at), cls="muted small nowrap"),
            link_button("View", href, small=True),
            class_name="waiting-side",
        ),
        class_name="item",
        key=approval.id,
    )
