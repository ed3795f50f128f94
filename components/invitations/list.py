"""The list of invitations, and the confirmations before one is revoked or repeated."""

import reflex as rx

from components.core.csv_link import csv_of, url_encoded
from components.core.permission import Scope, may
from components.core.roles import role_name
from components.ui.box import end
from components.ui.button import button, link, link_button
from components.ui.card import panel
from components.ui.dialog import confirm
from components.ui.note import empty
from components.ui.status import status
from components.ui.table import Col, list_table, pager, td, toolbar, tr
from components.ui.tabs import filters
from components.ui.value import no_value, when
from state.core.session import Session
from state.invitations.list import InvitationsState, InvitationView, Renewal, Revocation

STATUSES = [
    ("", "All"),
    ("pending", "Pending"),
    ("accepted", "Accepted"),
    ("expired", "Expired"),
    ("revoked", "Revoked"),
]


def invitations_panel() -> rx.Component:
    """Draw the table with its filter."""
    outbox = link_button("View emails", _outbox(), "mail")
    none = rx.cond(
        InvitationsState.status != "",
        empty("mail-search", "No invitations have this status"),
        empty("mail", "No invitations yet", "An invitation is an email with a link that works for 7 days."),
    )
    return panel(
        toolbar(
            filters("Status", InvitationsState.status, InvitationsState.filter_status, STATUSES),
            end(rx.cond(may_see_emails(), outbox, rx.fragment())),
        ),
        list_table(
            "Invitations",
            [
                Col("Email"),
                Col("Role"),
                Col("Status"),
                Col("Delivery"),
                Col("Expires"),
                Col("Invited", sort="created_at"),
                Col("Actions", hidden=True),
            ],
            InvitationsState,
            _row,
            empty=none,
            two=True,
        ),
        pager(
            "Newest first, 50 per page",
            InvitationsState,
            csv=csv_of("/invitations", status=InvitationsState.status),
        ),
        label="Invitations",
    )


def may_see_emails() -> rx.Var[bool]:
    """Return whether the person has the page of emails."""
    return (Session.network == "devnet") & may(Scope.MEMBERS_WRITE)


def _outbox(receiver: rx.Var[str] | None = None) -> rx.Var[str]:
    """Return the address of the emails, or of those to one receiver."""
    page = "/o/" + Session.org.id + "/outbox"
    return page if receiver is None else page + "?q=" + url_encoded(receiver)


def _row(invitation: rx.Var[InvitationView]) -> rx.Component:
    revoke = button(
        "Revoke", small=True, on_click=Revocation.ask(invitation.id),
        aria_label="Revoke the invitation of " + invitation.email,
    )  # fmt: skip
    again = button(
        "Invite again", small=True, on_click=Renewal.ask(invitation.id),
        aria_label="Invite again " + invitation.email,
    )  # fmt: skip
    is_pending, is_over = invitation.status == "pending", invitation.status != "accepted"
    action = rx.cond(is_pending, revoke, rx.cond(is_over, again, ""))
    helps = rx.cond(
        Session.network == "devnet", "An admin can open the email.", "The operator prints the link with signum outbox."
    )
    outbox = rx.cond(
        may_see_emails(),
        link("View email", _outbox(invitation.email)),
        rx.cond(invitation.delivery == "kept", helps, rx.fragment()),
    )
    unsent = rx.el.div(
        rx.cond(invitation.delivery == "kept", "No mail server is set. ", "The mail server refused it. "), outbox,
        class_name="muted small",
    )  # fmt: skip
    is_unsent = (invitation.delivery == "kept") | (invitation.delivery == "failed")
    sent = rx.cond(
        is_pending & (invitation.delivery != ""),
        rx.fragment(status(invitation.delivery), rx.cond(is_unsent, unsent, rx.fragment())),
        no_value(),
    )
    ends = is_pending | (invitation.status == "expired")
    return tr(
        td(invitation.email, class_name="strong break", full=True),
        td(role_name(invitation.role)),
        td(status(invitation.status), class_name="to-end"),
        td(sent, label="Delivery", class_name="wrap if-any", full=True),
        td(
            rx.cond(~is_pending & ends, rx.el.span("Expired ", class_name="hide-narrow"), rx.fragment()),
            rx.cond(ends, when(invitation.expires_at), no_value()),
            class_name="muted if-any",
            label=rx.cond(is_pending, "Expires", "Expired"),
        ),
        td(when(invitation.created_at), class_name="muted", label="Invited"),
        td(rx.cond(may(Scope.MEMBERS_WRITE), action, ""), right=True),
        key=invitation.id,
    )


def revoke_dialog() -> rx.Component:
    """Ask for confirmation before an invitation is revoked."""
    return confirm(
        "Revoke the invitation",
        "The link sent to " + Revocation.about.email + " stops working. You can invite this person again.",
        form=Revocation,
        word="Revoke invitation",
    )


def renewal_dialog() -> rx.Component:
    """Ask for confirmation before a person is invited again."""
    return confirm(
        "Invite again",
        "A new link is sent to " + Renewal.about.email + ", for the same role. It works for 7 days.",
        form=Renewal,
        word="Invite again",
        danger=False,
    )
