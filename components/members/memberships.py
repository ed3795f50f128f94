"""The banner that asks a user to accept or decline a membership."""

import reflex as rx

from components.core.roles import role_name
from components.ui.box import row
from components.ui.button import button
from components.ui.note import note, problem_note
from state.members.memberships import PendingMemberships, PendingMembershipView


@rx.memo
def pending_memberships() -> rx.Component:
    """Draw a line for each pending membership."""
    lines = rx.el.div(
        rx.foreach(PendingMemberships.rows, _line),
        problem_note(PendingMemberships.problem),
        rx.cond(PendingMemberships.unread != "", _unread(), rx.fragment()),
        class_name="col",
        style={"marginBottom": "16px"},
        role="region",
        aria_label="Pending memberships",
    )
    is_known = (PendingMemberships.problem == "") & (PendingMemberships.unread == "")
    return rx.cond((PendingMemberships.rows.length() > 0) | ~is_known, lines, rx.fragment())


def _unread() -> rx.Component:
    words = "Your pending memberships did not load. " + PendingMemberships.unread
    again = button("Try again", small=True, on_click=PendingMemberships.look)
    return note(row(rx.el.span(words, class_name="grow"), again, cls="wrap"), tone="warn", sign="cloud-off")


def _line(waiting: rx.Var[PendingMembershipView]) -> rx.Component:
    name = waiting.organization_name
    answers = row(
        button(
            "Accept", kind="primary", small=True, on_click=PendingMemberships.accept(waiting.id),
            aria_label="Accept " + name,
        ),
        button("Decline", small=True, on_click=PendingMemberships.decline(waiting.id), aria_label="Decline " + name),
    )  # fmt: skip
    words = rx.el.span(
        rx.el.b(name, class_name="break"), " invites you as ", rx.el.b(role_name(waiting.role)),
        ". If you accept, the organization sees your name, email and wallets.",
        class_name="grow",
    )  # fmt: skip
    return rx.el.div(note(row(words, answers, cls="wrap"), tone="info", sign="user-plus"), key=waiting.id)
