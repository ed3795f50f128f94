"""The sign-in pages. The form is a native post, because only a page load updates the socket's cookie."""

from typing import Any

import reflex as rx

from app.shell.layout import SLOGAN, entrance
from components.demo_people.people import demo_people
from components.ui.button import link, link_button
from components.ui.form import NativeForm
from components.ui.note import note
from components.ui.value import Local
from components.users.factors import ShowPasskey
from state.core.session import Session
from state.demo_people.people import DemoPeople

KEPT = Session.sign_in_email


def _field(label: str, name: str, kind: str, complete: str, **props: Any) -> rx.Component:
    control = rx.el.input(
        id=name, name=name, type=kind, required=True, auto_complete=complete, class_name="input large", max_length=256,
        **props,
    )  # fmt: skip
    return rx.el.div(rx.el.label(label, html_for=name, class_name="label"), control, class_name="field")


def _failed() -> rx.Component:
    failed = note(rx.el.b("Sign-in failed. "), Session.sign_in_error, tone="bad", role="alert")
    return rx.cond(Session.sign_in_error != "", failed, rx.fragment())


class Reload(Local):
    """Loads the page again, once, in a tab whose session has ended."""

    library = "$/public/react/reload.jsx"
    tag = "Reload"

    ended: rx.Var[str]


def _signed_in() -> rx.Component:
    """Draw who is signed in in this browser, and offer to continue. It arrives after the page: below the form, it moves
    nothing that is being used."""
    name = Session.resumes_as
    replaced = rx.fragment(
        rx.el.b("Another person has signed in. "),
        rx.fragment("This browser is now signed in as ", name, ". Continue, or sign in to your account."),
    )
    known = rx.fragment(
        rx.el.b("You are signed in as ", name, ". "),
        "Continue, or sign in to another account.",
    )
    said = rx.el.p(rx.cond(Session.is_replaced, replaced, known))
    # A page load, because the browser may have another session by then.
    attrs = {"reloadDocument": True}
    again = link_button(
        rx.fragment("Continue as ", name), Session.next_path, kind="primary", class_name="large", custom_attrs=attrs
    )
    offer = rx.el.section(said, again, class_name="card", aria_label="Signed in")
    shown = rx.cond(name != "", rx.el.div(offer, class_name="after-form"), rx.fragment())
    return rx.fragment(Reload.create(ended=Session.ended), shown)


def _words() -> rx.Component:
    """Draw the line below the title; after the end of a session it says so, in the same place."""
    ended = rx.el.span(rx.el.b("Your session has ended. "), "Sign in again.", role="status")
    return rx.cond(Session.has_ended, ended, rx.fragment(SLOGAN))


@rx.page(route="/sign-in", title="Sign in · Signum", on_load=[Session.arrive, Session.resume, DemoPeople.watch])
def sign_in() -> rx.Component:
    """Draw the form; it works without a socket too."""
    form = NativeForm.create(
        _failed(),
        # The keys draw new inputs once the email of a failed sign-in is known: focus and value apply to new ones only.
        _field("Email", "email", "email", "username", default_value=Session.sign_in_email, key="of-" + KEPT),
        rx.cond(
            KEPT != "",
            _field("Password", "password", "password", "current-password", auto_focus=True, key="again"),
            _field("Password", "password", "password", "current-password", key="first"),
        ),
        rx.el.input(type="hidden", name="next", value=Session.next_path, read_only=True),
        rx.el.button(
            "Sign in", type="submit", class_name=rx.cond(Session.resumes_as != "", "btn large", "btn primary large")
        ),
        link("Forgot your password?", "/forgot-password", class_name="small"),
        action="/session",
        method="post",
        class_name="card",
    )
    asked = note(
        rx.el.b("An application requests access to your account. "),
        "Sign in to see which one, then allow or deny it.",
        tone="info",
    )
    application = rx.cond(Session.is_for_application, rx.el.div(asked, class_name="after-words"), rx.fragment())
    return entrance("Sign in to Signum", application, form, _signed_in(), demo_people(), sub=_words())


@rx.page(route="/sign-in/factor", title="Second factor · Signum", on_load=Session.arrive)
def second_factor() -> rx.Component:
    """Draw the second step: a code, or a passkey."""
    form = NativeForm.create(
        _failed(),
        rx.el.div(
            _field("Code", "code", "text", "one-time-code"),
            rx.el.p("The 6 digits from your authenticator app, or a recovery code.", class_name="hint"),
            class_name="col tight",
        ),
        rx.el.input(type="hidden", name="credential", default_value=""),
        rx.el.input(type="hidden", name="next", value=Session.next_path, read_only=True),
        rx.el.button("Sign in", type="submit", class_name="btn primary large"),
        ShowPasskey.create(url="/session/factor/options", label="Use a passkey", class_name="btn large"),
        link("Sign in as someone else", "/sign-in", class_name="small"),
        action="/session/factor",
        method="post",
        class_name="card",
    )
    said = "Your account has a second factor. Enter its code, or use your passkey."
    return entrance("Confirm your identity", form, sub=said)
