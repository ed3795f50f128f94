"""The person's account: their second factors, linked wallets, sessions and password."""

import reflex as rx

from app.layout import page
from components.factors import factor_dialogs, factors_card
from components.linked_wallets import linked_wallets_card, unlink_dialog
from components.ui.button import button, link_button
from components.ui.card import page_head, panel
from components.ui.dialog import dialog, form_dialog
from components.ui.form import NativeForm, text_field
from components.ui.note import empty, page_skeleton
from components.ui.status import tag
from components.ui.table import Col, pager, table, td, tr
from components.ui.value import when
from state.account import AccountDoor, Everywhere, PasswordForm, SessionRow, SessionsState
from state.factors import FactorsState
from state.invitation import PASSWORD_RULE
from state.linked_wallets import LinkedWallets
from state.session import Session


@rx.page(route="/account", title="Account · Signum", on_load=AccountDoor.start)
def account_door() -> rx.Component:
    """Draw a skeleton until the redirect, or why there is nowhere to go."""
    nowhere = empty("building-2", "No organization yet", AccountDoor.problem)
    return rx.el.main(rx.cond(AccountDoor.problem != "", nowhere, page_skeleton()), class_name="page")


@page(
    route="/o/[org_id]/account",
    title="Account",
    on_load=[FactorsState.load, LinkedWallets.load, SessionsState.load],
    is_own=True,
)
def account() -> rx.Component:
    """Draw the second factors, the linked wallets, the sessions, and the way to another password."""
    applications = link_button("Connected applications", "/o/" + Session.org.id + "/connections", "app-window")
    leave = button("Sign out everywhere", "log-out", on_click=Everywhere.show(True))
    change = button("Change password", "key-round", on_click=PasswordForm.show(True))
    return rx.fragment(
        page_head("Account", Session.email, applications, leave, change),
        factors_card(),
        linked_wallets_card(),
        panel(
            table(
                "Sessions",
                [Col("Signed in with"), Col("Kind", narrow=False), Col("Address", narrow=False), Col("Last used"),
                 Col("Since", narrow=False), Col("Sign out", hidden=True)],
                SessionsState.rows, _row,
                empty=empty("monitor", "No sessions", "You are signed in nowhere."),
                loading=SessionsState.loading, problem=SessionsState.problem,
                is_forbidden=SessionsState.is_forbidden, on_retry=SessionsState.reload,
            ),
            pager("Newest first, 50 a page", has_newer=SessionsState.has_newer, has_older=SessionsState.has_older,
                  on_newer=SessionsState.newer, on_older=SessionsState.older, busy=SessionsState.busy),
            label="Sessions",
        ),
        _password_dialog(),
        factor_dialogs(),
        unlink_dialog(),
        _everywhere_dialog(),
    )  # fmt: skip


def _row(session: rx.Var[SessionRow]) -> rx.Component:
    here = rx.cond(session.is_current, tag("this one", "ok"), rx.fragment())
    leave = button(
        "Sign out", small=True, on_click=SessionsState.end(session.id), aria_label="Sign out " + session.name
    )
    return tr(
        td(session.name, " ", here),
        td(session.kind, narrow=False),
        td(session.address, narrow=False, class_name="muted"),
        td(when(session.last_used_at), label="Last used"),
        td(when(session.signed_in_at), narrow=False, class_name="muted"),
        td(rx.cond(session.is_current, rx.fragment(), leave), right=True),
        key=session.id,
    )


def _everywhere_dialog() -> rx.Component:
    leave = NativeForm.create(
        rx.el.input(type="hidden", name="everywhere", value="yes", read_only=True),
        rx.el.button("Sign out everywhere", type="submit", class_name="btn danger"),
        action="/session/end",
        method="post",
    )
    return dialog(
        "Sign out everywhere",
        "Every browser, program and connected application is signed out, this browser too.",
        rx.el.p("API keys go on working."),
        rx.el.p(
            "Linked wallets can still sign in. Close this dialog and unlink those that are not yours under ",
            rx.el.b("Linked wallets"),
            ".",
        ),
        is_open=Everywhere.is_open,
        on_open_change=Everywhere.show,
        foot=(rx.el.span(class_name="end"), rx.dialog.close(button("Cancel")), leave),
        width="460px",
    )


def _password_dialog() -> rx.Component:
    return form_dialog(
        "Change password",
        "Everywhere else you are signed out then.",
        text_field(
            "Current password", "current_password", type="password", errors=PasswordForm.errors,
            auto_complete="current-password", max_length=256,
        ),
        text_field(
            "New password", "new_password", type="password", errors=PasswordForm.errors, hint=PASSWORD_RULE,
            auto_complete="new-password", max_length=256,
        ),
        is_open=PasswordForm.is_open,
        on_open_change=PasswordForm.show,
        on_submit=PasswordForm.submit,
        problem=PasswordForm.form_problem,
        busy=PasswordForm.saving,
        submit="Change password",
    )  # fmt: skip
