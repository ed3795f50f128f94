"""The list of invitations, and the question before one is revoked."""

import reflex as rx

from components.access import is_admin
from components.csv_link import csv_of
from components.roles import role_name
from components.ui.button import button, link_button
from components.ui.card import panel
from components.ui.dialog import confirm
from components.ui.note import empty
from components.ui.status import status
from components.ui.table import Col, pager, table, td, toolbar, tr
from components.ui.tabs import filters
from components.ui.value import when
from state.invitations import InvitationRow, InvitationsState, Revocation
from state.session import Session

STATUSES = [
    ("", "All"),
    ("pending", "Pending"),
    ("accepted", "Accepted"),
    ("expired", "Expired"),
    ("revoked", "Revoked"),
]


def invitations_panel() -> rx.Component:
    """Draw the table with its filter."""
    outbox = link_button("Their mails", "/o/" + Session.org.id + "/outbox", "mail")
    none = rx.cond(
        InvitationsState.status != "",
        empty("mail-search", "None of this status"),
        empty("mail", "Nobody has been invited", "An invitation is a mail with a link that works for seven days."),
    )
    return panel(
        toolbar(
            filters("Status", InvitationsState.status, InvitationsState.filter, STATUSES),
            rx.cond((Session.network == "devnet") & is_admin(), outbox, rx.fragment()),
        ),
        table(
            "Invitations",
            [
                Col("Email"),
                Col("Role"),
                Col("Status"),
                Col("Ends"),
                Col("Sent", narrow=False),
                Col("Actions", hidden=True),
            ],
            InvitationsState.rows,
            _row,
            empty=none,
            loading=InvitationsState.loading,
            problem=InvitationsState.problem,
            is_forbidden=InvitationsState.is_forbidden,
            on_retry=InvitationsState.reload,
        ),
        pager(
            "Newest first, 50 a page",
            has_newer=InvitationsState.has_newer,
            has_older=InvitationsState.has_older,
            on_newer=InvitationsState.newer,
            on_older=InvitationsState.older,
            busy=InvitationsState.busy,
            csv=csv_of("/invitations", status=InvitationsState.status),
        ),
        label="Invitations",
    )


def _row(invitation: rx.Var[InvitationRow]) -> rx.Component:
    revoke = button(
        "Revoke", small=True, on_click=Revocation.ask(invitation.id),
        aria_label="Revoke the invitation of " + invitation.email,
    )  # fmt: skip
    is_pending = invitation.status == "pending"
    return tr(
        td(invitation.email, class_name="strong break", full=True),
        td(role_name(invitation.role)),
        td(status(invitation.status)),
        td(rx.cond(is_pending, when(invitation.expires_at), ""), class_name="muted", label="Ends"),
        td(when(invitation.created_at), narrow=False, class_name="muted"),
        td(rx.cond(is_pending & is_admin(), revoke, ""), right=True),
        key=invitation.id,
    )


def revoke_dialog() -> rx.Component:
    """Ask before an invitation is revoked."""
    return confirm(
        "Revoke the invitation",
        "The link sent to " + Revocation.about.email + " stops working. The person can be invited again.",
        is_open=Revocation.is_open,
        on_open_change=Revocation.show,
        on_confirm=Revocation.confirm,
        problem=Revocation.form_problem,
        busy=Revocation.saving,
        word="Revoke",
    )
