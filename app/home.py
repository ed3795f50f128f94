"""The page at `/` goes to an organization; `404` says that nothing is there."""

import reflex as rx

from components.memberships import pending_memberships
from components.ui.button import link_button
from components.ui.note import empty, page_skeleton
from state.memberships import PendingMemberships
from state.session import Session


@rx.page(route="/", title="Signum", on_load=[Session.start, PendingMemberships.look])
def home() -> rx.Component:
    """Draw a skeleton until the redirect, or why there is nowhere to go."""
    nowhere = empty("building-2", "No organization yet", Session.problem)
    asked = rx.fragment(pending_memberships(), nowhere)
    return rx.el.main(rx.cond(Session.problem != "", asked, page_skeleton()), class_name="page")


@rx.page(route="404", title="Not found · Signum")
def missing() -> rx.Component:
    """Draw the page of every path that leads nowhere."""
    return rx.el.main(
        rx.el.h1("Not found", class_name="sr"),
        empty(
            "compass",
            "There is no page here",
            "The address may be mistyped, or what was here is gone.",
            link_button("Go to the overview", "/", "arrow-left"),
        ),
        class_name="page alone",
    )
