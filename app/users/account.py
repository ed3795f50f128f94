"""The page of the user's account: second factors, linked wallets, preferences, sessions and password."""

import reflex as rx

from app.shell.layout import page
from components.ui.button import button, link_button
from components.ui.card import card, page_head
from components.ui.dialog import dialog, form_dialog
from components.ui.form import NativeForm, text_field
from components.ui.note import empty, page_skeleton
from components.ui.status import tag
from components.ui.table import Col, list_table, pager, td, tr
from components.ui.value import when
from components.users.factors import factor_dialogs, factors_card
from components.users.linked_wallets import link_dialogs, linked_wallets_card, unlink_dialog
from components.users.preferences import preferences_card
from state.core.session import Session
from state.invitations.invitation import PASSWORD_RULE
from state.users.account import AccountRedirect, PasswordForm
from state.users.factors import FactorsState
from state.users.linked_wallets import LinkedWallets
from state.users.sessions import SessionsState, SessionView, SignOutEverywhere


@rx.page(route="/account", title="Account · Signum", on_load=AccountRedirect.start)
def account_redirect() -> rx.Component:
    """Draw a skeleton until the redirect, or why no organization can be opened."""
    nowhere = empty("building-2", "No organization yet", AccountRedirect.problem)
    return rx.el.main(rx.cond(AccountRedirect.problem != "", nowhere, page_skeleton()), class_name="page")


@page(
    route="/o/[org_id]/account",
    title="Account",
    on_load=[FactorsState.load, LinkedWallets.load, SessionsState.load],
    is_own=True,
)
def account() -> rx.Component:
    """Draw second factors, linked wallets, preferences, sessions, and the password change."""
    applications = rx.cond(
        Session.org.id != "",
        link_button("Connected applications", "/o/" + Session.org.id + "/connections", "app-window"),
        rx.fragment(),
    )
    several = (SessionsState.rows.length() > 1) | SessionsState.has_newer | SessionsState.has_older
    leave = button("Sign out everywhere", "log-out", on_click=SignOutEverywhere.show(True))
    change = button("Change password", "key-round", on_click=PasswordForm.show(True))
    who = rx.cond(Session.name == Session.email, Session.email, Session.name + ", " + Session.email)
    return rx.fragment(
        page_head("Account", who, applications, leave, change),
        factors_card(),
        linked_wallets_card(),
        preferences_card(),
        card(
            "Sessions",
            list_table(
                "Sessions",
                [Col("Signed in with"), Col("Kind"), Col("IP address"), Col("Last used"),
                 Col("Signed in", sort="created_at"), Col("Sign out", hidden=True)],
                SessionsState, _row,
                empty=empty("monitor", "No sessions", "Sessions appear here after you sign in."),
            ),
            rx.cond(several, pager("Newest first, 50 per page", SessionsState), rx.fragment()),
            class_name=rx.cond(several, "sessions", "sessions only-one"),
        ),
        _password_dialog(),
        factor_dialogs(),
        unlink_dialog(),
        link_dialogs(),
        _everywhere_dialog(),
    )  # fmt: skip


def _row(session: rx.Var[SessionView]) -> rx.Component:
    here = rx.cond(session.is_current, tag("this session", "ok"), rx.fragment())
    leave = button(
        "Sign out", small=True, on_click=SessionsState.end(session.id), aria_label="Sign out " + session.name
    )
    return tr(
        td(session.name, " ", here, full=True),
        td(session.kind, label="Kind"),
        td(session.address, class_name="muted", label="IP address"),
        td(when(session.last_used_at), label="Last used"),
        td(when(session.signed_in_at), class_name="muted", label="Signed in"),
        td(rx.cond(session.is_current, rx.fragment(), leave), right=True),
        class_name="facts",
        key=session.id,
    )


def _everywhere_dialog() -> rx.Component:
    leave = NativeForm.create(
        rx.el.input(type="hidden", name="everywhere", value="yes", read_only=True),
        rx.el.button("Sign out everywhere", type="submit", class_name="btn danger"),
        action="/session/end",
        method="post",
    )
    wallets = rx.el.p(
        "Linked wallets can still sign in. Close this dialog and unlink wallets that are not yours under ",
        rx.el.b("Linked wallets"),
        ".",
    )
    return dialog(
        "Sign out everywhere",
        "Signs out every browser, program and connected application, including this browser.",
        rx.el.p("API keys keep working."),
        rx.cond(LinkedWallets.rows.length() > 0, wallets, rx.fragment()),
        is_open=SignOutEverywhere.is_open,
        on_open_change=SignOutEverywhere.show,
        foot=(rx.el.span(class_name="end"), rx.dialog.close(button("Cancel")), leave),
        width="460px",
    )


def _password_dialog() -> rx.Component:
    return form_dialog(
        "Change password",
        "Changing it signs out your other sessions.",
        text_field(
            "Current password", "current_password", type="password", errors=PasswordForm.errors,
            auto_complete="current-password", max_length=256,
        ),
        text_field(
            "New password", "new_password", type="password", errors=PasswordForm.errors, hint=PASSWORD_RULE,
            auto_complete="new-password", max_length=256,
        ),
        form=PasswordForm,
        submit="Change password",
    )  # fmt: skip
