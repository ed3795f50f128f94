"""The parts of the invitation page, by who views it and the invitation's status."""

from typing import Any

import reflex as rx

from components.core.roles import role_about, role_name
from components.ui.button import button, link_button
from components.ui.form import NativeForm, text_field
from components.ui.note import note, problem_note
from components.ui.value import Local, when
from state.invitations.invitation import PASSWORD_RULE
from state.invitations.invitation import InvitationState as State

INVITED = State.invited


class SignsIn(Local):
    """A form whose fields go to `on_submit`; once `ready`, the browser posts it to `action`."""

    library = "$/public/react/signs_in.jsx"
    tag = "SignsIn"

    ready: rx.Var[bool]
    action: rx.Var[str]

    on_submit: rx.EventHandler[rx.event.passthrough_event_spec(dict[str, Any])]


def step() -> rx.Component:
    """Draw the next step for this viewer."""
    is_own = State.signed_in == INVITED.email
    pending = rx.cond(
        is_own,
        joining(),
        rx.cond(State.signed_in != "", stranger(), rx.cond(INVITED.has_account, signing_in(), account())),
    )
    return rx.cond(INVITED.status == "pending", pending, over())


def _terms() -> rx.Component:
    """Draw the offered role and when the invitation expires."""
    return note(
        rx.el.b(role_name(INVITED.role), ". "),
        role_about(INVITED.role),
        ". The invitation expires ",
        when(INVITED.expires_at),
        ".",
        sign="user-check",
    )


def account() -> rx.Component:
    """Ask a new user for a name and a password."""
    return SignsIn.create(
        _terms(),
        problem_note(State.form_problem),
        text_field(
            "Email", "email", type="email", default_value=INVITED.email, read_only=True, auto_complete="username"
        ),
        text_field("Your name", "display_name", errors=State.errors, auto_complete="name", max_length=200),
        text_field(
            "Password", "password", type="password", errors=State.errors, hint=PASSWORD_RULE,
            auto_complete="new-password", max_length=256,
        ),
        rx.el.input(type="hidden", name="next", value=State.overview, read_only=True),
        button(
            "Create account and join",
            kind="primary",
            type="submit",
            busy=State.saving | State.joined,
            class_name="large",
        ),
        ready=State.joined,
        action="/session",
        on_submit=State.submit,
        class_name="card",
    )  # fmt: skip


def joining() -> rx.Component:
    """Draw the button with which the invited user accepts."""
    return rx.el.div(
        _terms(),
        problem_note(State.form_problem),
        rx.el.p("You are signed in as ", rx.el.b(State.signed_in), "."),
        button("Accept and join", kind="primary", busy=State.saving, on_click=State.accept, class_name="large"),
        class_name="card",
    )


def signing_in() -> rx.Component:
    """Send a user with an account to the sign-in page and back."""
    return rx.el.div(
        _terms(),
        rx.el.p("You already have an account for ", rx.el.b(INVITED.email), ". Sign in, then accept."),
        link_button("Sign in", State.sign_in_path, kind="primary", class_name="large"),
        class_name="card",
    )


def stranger() -> rx.Component:
    """Say that the invitation is for another user."""
    return NativeForm.create(
        note(
            rx.el.b("This invitation is for someone else. "),
            rx.el.span("Sent to ", rx.el.b(INVITED.email), "; you are signed in as ", rx.el.b(State.signed_in), "."),
            tone="warn",
        ),
        rx.el.input(type="hidden", name="next", value=State.here, read_only=True),
        rx.el.button("Sign out and continue", type="submit", class_name="btn primary large"),
        link_button("Stay signed in", "/", class_name="large"),
        action="/session/end",
        method="post",
        class_name="card",
    )


def over() -> rx.Component:
    """Say why the invitation can no longer be accepted."""
    again = "Ask " + INVITED.organization_name + " for a new one."
    words = rx.match(
        INVITED.status,
        ("accepted", "It was already accepted. Each link works once."),
        ("expired", "It has expired. " + again),
        ("revoked", "It was revoked. " + again),
        "",
    )
    return rx.el.div(
        note(rx.el.b("This invitation is no longer valid. "), words, tone="warn"),
        link_button("Go to Signum", "/", kind="primary", class_name="large"),
        class_name="card",
    )
