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


def _asking() -> rx.Component:
    """Two buttons of one native form: the answer leaves the console."""
    return NativeForm.create(
        rx.el.p(rx.el.b(State.name), " of ", rx.el.b(State.organization), " asks to:"),
        rx.el.ul(rx.foreach(State.wishes, _wish), class_name="wishes"),
        note("You are signed in as ", rx.el.b(State.email), ". Afterwards you are on ", rx.el.b(State.host), "."),
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
        rx.cond(State.name != "", "Sign in to " + State.name, "Sign in with Signum"),
        rx.cond(State.problem != "", wrong, rx.cond(State.name != "", _asking(), waiting)),
    )
