"""The sign-in page: a native post, because only a page load changes what the socket's cookie says."""

import reflex as rx

from app.header import network_badge
from app.layout import stripe
from components.ui.form import NativeForm
from components.ui.note import note
from state.session import Session


def _field(label: str, name: str, kind: str, complete: str) -> rx.Component:
    control = rx.el.input(
        id=name, name=name, type=kind, required=True, auto_complete=complete, class_name="input large", max_length=256
    )
    return rx.el.div(rx.el.label(label, html_for=name, class_name="label"), control, class_name="field")


@rx.page(route="/sign-in", title="Sign in · Signum", on_load=Session.arrive)
def sign_in() -> rx.Component:
    """Draw the form; it works before the socket is there, and without it."""
    failed = note(rx.el.b("That did not work. "), Session.sign_in_error, tone="bad", role="alert")
    form = NativeForm.create(
        rx.cond(Session.sign_in_error != "", failed, rx.fragment()),
        _field("Email", "email", "email", "username"),
        _field("Password", "password", "password", "current-password"),
        rx.el.input(type="hidden", name="next", value=Session.next_path, read_only=True),
        rx.el.button("Sign in", type="submit", class_name="btn primary large"),
        action="/session",
        method="post",
        class_name="card",
    )
    below = rx.el.div(network_badge(), "Local chains. Nothing here has value.", class_name="below")
    return rx.el.div(
        stripe(),
        rx.el.main(
            rx.el.header(
                rx.el.img(src="/favicon.svg", alt=""),
                rx.el.h1("Sign in to Signum"),
                rx.el.p("Tokenized assets, under your rules", class_name="muted"),
            ),
            form,
            rx.cond(Session.network == "devnet", below, rx.fragment()),
            class_name="sign-in",
        ),
        class_name=rx.cond(Session.network == "devnet", "sign-in-page devnet", "sign-in-page"),
    )
