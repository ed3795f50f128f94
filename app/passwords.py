"""The pages of a forgotten password. Nobody has to be signed in to see them."""

import reflex as rx

from app.layout import entrance
from components.ui.button import button, link_button
from components.ui.form import text_field
from components.ui.note import note, problem_note
from state.invitation import PASSWORD_RULE
from state.passwords import Chosen, Forgotten
from state.session import Session


@rx.page(route="/forgot-password", title="Forgotten password · Signum", on_load=[Session.arrive, Forgotten.load])
def forgot_password() -> rx.Component:
    """Ask for the address."""
    asked = rx.el.div(
        note(
            rx.el.b("Look into your mail. "),
            "If there is an account with this address, a link to choose a new password is on its way. It works once, "
            "for 30 minutes.",
            tone="ok",
            role="status",
        ),
        link_button("Back to sign in", "/sign-in", class_name="large"),
        class_name="card",
    )
    form = rx.el.form(
        problem_note(Forgotten.form_problem),
        text_field("Email", "email", type="email", errors=Forgotten.errors, auto_complete="username", max_length=320),
        button("Send a link", kind="primary", type="submit", busy=Forgotten.saving, class_name="large"),
        link_button("Back to sign in", "/sign-in", class_name="large"),
        on_submit=Forgotten.submit,
        class_name="card",
    )
    return entrance("Forgotten password", rx.cond(Forgotten.asked, asked, form))


@rx.page(route="/reset-password", title="New password · Signum", on_load=[Session.arrive, Chosen.load])
def reset_password() -> rx.Component:
    """Ask for the new password."""
    changed = rx.el.div(
        note(
            rx.el.b("Your password is changed. "),
            "All your sessions have ended.",
            tone="ok",
            role="status",
        ),
        note(
            rx.el.b("Linked wallets can still sign in. "),
            "Sign in and unlink those that are not yours under Linked wallets.",
            tone="warn",
        ),
        link_button("Sign in", "/sign-in", kind="primary", class_name="large"),
        link_button("Review linked wallets", "/sign-in?next=/account", class_name="large"),
        class_name="card",
    )
    form = rx.el.form(
        problem_note(Chosen.form_problem),
        text_field(
            "New password", "password", type="password", errors=Chosen.errors, hint=PASSWORD_RULE,
            auto_complete="new-password", max_length=256,
        ),
        button("Change password", kind="primary", type="submit", busy=Chosen.saving, class_name="large"),
        link_button("Ask for another link", "/forgot-password", class_name="large"),
        on_submit=Chosen.submit,
        class_name="card",
    )  # fmt: skip
    return entrance("Choose a new password", rx.cond(Chosen.changed, changed, form))
