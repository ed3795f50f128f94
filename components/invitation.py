"""The pieces of the invitation's page: what to do, by who is looking and what has become of it."""

from typing import Any

import reflex as rx

from components.roles import role_about, role_name
from components.ui.button import button, link_button
from components.ui.form import NativeForm, text_field
from components.ui.note import note, problem_note
from components.ui.value import Local, when
from state.invitation import PASSWORD_RULE
from state.invitation import InvitationState as State

INVITED = State.invited


class SignsIn(Local):
    """A form whose fields go to `on_submit`, and once `ready`, by the browser itself to `action`."""

    library = "$/public/react/signs_in.jsx"
    tag = "SignsIn"

    ready: rx.Var[bool]
    action: rx.Var[str]

    on_submit: rx.EventHandler[rx.event.passthrough_event_spec(dict[str, Any])]


def step() -> rx.Component:
    """Draw what comes next."""
    is_theirs = State.signed_in == INVITED.email
    pending = rx.cond(
        is_theirs,
        joining(),
        rx.cond(State.signed_in != "", stranger(), rx.cond(INVITED.has_account, signing_in(), account())),
    )
    return rx.cond(INVITED.status == "pending", pending, over())


def _terms() -> rx.Component:
    """What is offered, and until when."""
    return note(
        rx.el.b(role_name(INVITED.role), ". "),
        role_about(INVITED.role),
        ". The invitation ends ",
        when(INVITED.expires_at),
        ".",
        sign="user-check",
    )


def account() -> rx.Component:
    """Ask a new person for name and password."""
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
            "Make account and join", kind="primary", type="submit", busy=State.saving | State.joined, class_name="large"
        ),
        ready=State.joined,
        action="/session",
        on_submit=State.submit,
        class_name="card",
    )  # fmt: skip


def joining() -> rx.Component:
    """One button for the person who was invited."""
    return rx.el.div(
        _terms(),
        problem_note(State.form_problem),
        rx.el.p("You are signed in as ", rx.el.b(State.signed_in), "."),
        button("Accept and join", kind="primary", busy=State.saving, on_click=State.accept, class_name="large"),
        class_name="card",
    )


def signing_in() -> rx.Component:
    """Send a person with an account to the sign-in page, and back."""
    return rx.el.div(
        _terms(),
        rx.el.p("There is an account for ", rx.el.b(INVITED.email), " already. Sign in, then accept."),
        link_button("Sign in", State.sign_in_path, kind="primary", class_name="large"),
        class_name="card",
    )


def stranger() -> rx.Component:
    """Tell somebody else that the invitation is not theirs."""
    return NativeForm.create(
        note(
            rx.el.b("This invitation is for somebody else. "),
            rx.el.span("It went to ", rx.el.b(INVITED.email), "; you are signed in as ", rx.el.b(State.signed_in), "."),
            tone="warn",
        ),
        rx.el.input(type="hidden", name="next", value=State.here, read_only=True),
        rx.el.button("Sign out and go on", type="submit", class_name="btn primary large"),
        link_button("Stay signed in", "/", class_name="large"),
        action="/session/end",
        method="post",
        class_name="card",
    )


def over() -> rx.Component:
    """Say what has become of it."""
    again = "Ask " + INVITED.organization_name + " for a new one."
    words = rx.match(
        INVITED.status,
        ("accepted", "It has been accepted already; each link works once."),
        ("expired", "It has ended. " + again),
        ("revoked", "It has been taken back. " + again),
        "",
    )
    return rx.el.div(
        note(rx.el.b("This invitation is over. "), words, tone="warn"),
        link_button("Go to Signum", "/", kind="primary", class_name="large"),
        class_name="card",
    )
