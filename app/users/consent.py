"""The page on which a user grants or denies an application's request for access."""

import reflex as rx

from app.shell.layout import entrance
from components.ui.button import link_button
from components.ui.form import NativeForm
from components.ui.note import note, skeleton
from state.core.session import Session
from state.oauth.consent import ConsentState as State


def _requested(title: rx.Var[str] | str, words: rx.Var[list[str]]) -> rx.Component:
    """Draw the requested permissions under one heading; nothing where the list is empty."""
    scopes = rx.foreach(words, lambda scope: rx.el.li(scope, key=scope))
    listed = rx.el.section(rx.el.h2(title), rx.el.ul(scopes, class_name="requested-scopes"))
    return rx.cond(words.length() > 0, listed, rx.fragment())


def _asking() -> rx.Component:
    """Draw the request and a native form with two buttons: the answer leaves the console."""
    return NativeForm.create(
        rx.el.p(rx.el.b(State.name), ", an application of ", rx.el.b(State.organization), ", requests permission to:"),
        _requested("About you", State.about_person),
        _requested("In " + State.organization + " and below it, within your role", State.in_organization),
        note(
            "You are signed in as ",
            rx.el.b(State.email),
            ". In both cases your browser continues to ",
            rx.el.b(State.host),
            ".",
        ),
        rx.el.input(type="hidden", name="query", value=State.query, read_only=True),
        rx.el.button("Allow", type="submit", name="decision", value="approve", class_name="btn primary large"),
        rx.el.button("Deny", type="submit", name="decision", value="deny", class_name="btn large"),
        action="/oauth/decide",
        method="post",
        class_name="card",
    )


@rx.page(route="/oauth/consent", title="Allow access · Signum", on_load=[Session.arrive, State.load])
def consent() -> rx.Component:
    """Draw the request for access."""
    wrong = rx.el.div(
        note(rx.el.b("This request is invalid. "), State.problem, tone="bad", role="alert"),
        link_button("Go to your page", "/", class_name="large"),
        class_name="card",
    )
    waiting = rx.el.div(skeleton(3), class_name="card")
    return entrance(
        rx.cond(State.name != "", State.name + " requests access", "An application requests access"),
        rx.cond(State.problem != "", wrong, rx.cond(State.name != "", _asking(), waiting)),
    )
