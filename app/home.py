"""The page at `/`, which redirects to an organization, and the page of unknown paths."""

import reflex as rx

from components.members.memberships import pending_memberships
from components.ui.button import link_button
from components.ui.note import empty, page_skeleton
from state.core.session import Session
from state.members.memberships import PendingMemberships


@rx.page(route="/", title="Signum", on_load=[Session.start, PendingMemberships.look])
def home() -> rx.Component:
    """Draw a skeleton until the redirect, or why no organization can be opened."""
    nowhere = empty("building-2", "No organization yet", Session.problem)
    asked = rx.fragment(pending_memberships(), nowhere)
    return rx.el.main(rx.cond(Session.problem != "", asked, page_skeleton()), class_name="page")


@rx.page(route="404", title="Not found · Signum")
def missing() -> rx.Component:
    """Draw the page of unknown paths."""
    return rx.el.main(
        rx.el.h1("Not found", class_name="sr"),
        empty(
            "compass",
            "Page not found",
            "The address may be mistyped, or the page was removed.",
            link_button("Go to the overview", "/", "arrow-left"),
        ),
        class_name="page alone",
    )
