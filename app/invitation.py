"""The page of an invitation's link. Nobody has to be signed in to see it."""

import reflex as rx

from app.layout import entrance
from components.invitation import step
from components.ui.button import link_button
from components.ui.note import note, skeleton
from state.invitation import InvitationState as State
from state.session import Session


@rx.page(route="/invitation", title="Invitation · Signum", on_load=[Session.arrive, State.load])
def invitation() -> rx.Component:
    """Draw whose invitation it is and what comes next."""
    unknown = rx.el.div(
        note(rx.el.b("There is no such invitation. "), State.problem, tone="bad", role="alert"),
        link_button("Go to Signum", "/", class_name="large"),
        class_name="card",
    )
    waiting = rx.el.div(skeleton(2), class_name="card")
    name = State.invited.organization_name
    return entrance(
        rx.cond(name != "", "Join " + name, "Invitation"),
        rx.cond(State.loading, waiting, rx.cond(State.problem != "", unknown, step())),
    )
