"""The page on which a person agrees to what an application asks, or does not."""

import reflex as rx

from app.layout import entrance
from components.ui.button import link_button
from components.ui.form import NativeForm
from components.ui.note import note, skeleton
from state.consent import ConsentState as State
from state.session import Session


def _wish(words: rx.Var[str]) -> rx.Component:
    return rx.el.li(words, key=words)


def _wishes(title: rx.Var[str] | str, words: rx.Var[list[str]]) -> rx.Component:
    """What is asked for in one place; nothing where nothing is."""
    listed = rx.el.section(rx.el.h2(title), rx.el.ul(rx.foreach(words, _wish), class_name="wishes"))
    return rx.cond(words.length() > 0, listed, rx.fragment())


def _asking() -> rx.Component:
    """Two buttons of one native form: the answer leaves the console."""
    return NativeForm.create(
        rx.el.p(rx.el.b(State.name), ", an application of ", rx.el.b(State.organization), ", asks to do this for you:"),
        _wishes("About you", State.about_person),
        _wishes("In " + State.organization + " and below it, as far as your role goes", State.in_organization),
        note(
            "You are signed in as ",
            rx.el.b(State.email),
            ". Whatever you choose, your browser goes on to ",
            rx.el.b(State.host),
            ".",
        ),
        rx.el.input(type="hidden", name="query", value=State.query, read_only=True),
        rx.el.button("Allow", type="submit", name="decision", value="approve", class_name="btn primary large"),
        rx.el.button("Refuse", type="submit", name="decision", value="deny", class_name="btn large"),
        action="/oauth/decide",
        method="post",
        class_name="card",
    )


@rx.page(route="/oauth/consent", title="Allow access · Signum", on_load=[Session.arrive, State.load])
def consent() -> rx.Component:
    """Draw what is asked."""
    wrong = rx.el.div(
        note(rx.el.b("This request is not right. "), State.problem, tone="bad", role="alert"),
        link_button("Go to Signum", "/", class_name="large"),
        class_name="card",
    )
    waiting = rx.el.div(skeleton(3), class_name="card")
    return entrance(
        rx.cond(State.name != "", State.name + " wants access", "An application wants access"),
        rx.cond(State.problem != "", wrong, rx.cond(State.name != "", _asking(), waiting)),
    )
