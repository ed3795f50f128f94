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
    inside = link_button("Go to your page", "/", class_name="large")
    outside = link_button("Go to sign in", "/sign-in", class_name="large")
    unknown = rx.el.div(
        note(rx.el.b("This invitation cannot be opened. "), State.problem, tone="bad", role="alert"),
        rx.cond(State.signed_in != "", inside, outside),
        class_name="card",
    )
    waiting = rx.el.div(skeleton(2), class_name="card")
    name = State.invited.organization_name
    return entrance(
        rx.cond(name != "", "Join " + name, "Invitation"),
        rx.cond(State.loading, waiting, rx.cond(State.problem != "", unknown, step())),
    )
