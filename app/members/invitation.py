"""The page of an invitation link. It works without a session."""

import reflex as rx

from app.shell.layout import entrance
from components.invitations.invitation import step
from components.ui.button import link_button
from components.ui.note import note, skeleton
from state.core.session import Session
from state.invitations.invitation import InvitationState as State


@rx.page(route="/invitation", title="Invitation · Signum", on_load=[Session.arrive, State.load])
def invitation() -> rx.Component:
    """Draw which organization invites, and the next step."""
    unknown = rx.el.div(
        note(rx.el.b("This invitation does not exist. "), State.problem, tone="bad", role="alert"),
        link_button("Go to Signum", "/", class_name="large"),
        class_name="card",
    )
    waiting = rx.el.div(skeleton(2), class_name="card")
    name = State.invited.organization_name
    return entrance(
        rx.cond(name != "", "Join " + name, "Invitation"),
        rx.cond(State.loading, waiting, rx.cond(State.problem != "", unknown, step())),
    )
