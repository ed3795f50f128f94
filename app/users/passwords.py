"""The pages that reset a forgotten password. They work without a session."""

import reflex as rx

from app.shell.layout import entrance
from components.ui.button import button, link_button
from components.ui.form import text_field
from components.ui.note import note, problem_note, skeleton
from state.core.session import Session
from state.invitations.invitation import PASSWORD_RULE
from state.users.passwords import ForgottenPassword, NewPassword


@rx.page(route="/forgot-password", title="Reset password · Signum", on_load=[Session.arrive, ForgottenPassword.load])
def forgot_password() -> rx.Component:
    """Ask for the email address."""
    state = ForgottenPassword
    asked = rx.el.div(
        problem_note(state.form_problem),
        note(
            rx.el.b(rx.cond(state.is_repeated, "Sent again. ", "Check your email. ")),
            "If there is an account with ", rx.el.b(state.email),
            ", a link to choose a new password was sent. It works once, for 30 minutes.",
            tone="ok",
            role="status",
        ),
        button("Send again", "rotate-cw", busy=state.saving, on_click=state.repeat, class_name="large"),
        button("Use another address", on_click=state.load, class_name="large"),
        link_button("Back to sign in", "/sign-in", class_name="large"),
        class_name="card",
    )  # fmt: skip
    form = rx.el.form(
        problem_note(ForgottenPassword.form_problem),
        text_field(
            "Email", "email", type="email", errors=ForgottenPassword.errors, auto_complete="username", max_length=320
        ),
        button("Send link", kind="primary", type="submit", busy=ForgottenPassword.saving, class_name="large"),
        link_button("Back to sign in", "/sign-in", class_name="large"),
        on_submit=ForgottenPassword.submit,
        class_name="card",
    )
    said = "You get an email with a link to choose a new password."
    return entrance("Reset your password", rx.cond(state.is_requested, asked, form), sub=said)


@rx.page(route="/reset-password", title="New password · Signum", on_load=[Session.arrive, NewPassword.load])
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
            "Sign in and unlink wallets that are not yours under Linked wallets.",
            tone="warn",
        ),
        link_button("Sign in", "/sign-in", kind="primary", class_name="large"),
        link_button("Review linked wallets", "/sign-in?next=/account", class_name="large"),
        class_name="card",
    )
    form = rx.el.form(
        problem_note(NewPassword.form_problem),
        text_field(
            "New password", "password", type="password", errors=NewPassword.errors, hint=PASSWORD_RULE,
            auto_complete="new-password", max_length=256,
        ),
        button("Change password", kind="primary", type="submit", busy=NewPassword.saving, class_name="large"),
        link_button("Request a new link", "/forgot-password", class_name="large"),
        on_submit=NewPassword.submit,
        class_name="card",
    )  # fmt: skip
    lost = rx.el.div(
        note(rx.el.b("This link cannot be used. "), NewPassword.link_problem, tone="bad", role="alert"),
        link_button("Request a new link", "/forgot-password", kind="primary", class_name="large"),
        link_button("Back to sign in", "/sign-in", class_name="large"),
        class_name="card",
    )
    checking = rx.el.div(skeleton(2), class_name="card")
    wanted = rx.cond(NewPassword.link_problem != "", lost, rx.cond(NewPassword.changed, changed, form))
    return entrance("Choose a new password", rx.cond(NewPassword.is_ready, wanted, checking))
