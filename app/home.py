"""The page at `/`, which redirects to an organization, and the page of unknown paths."""

import reflex as rx

from app.shell.layout import entrance
from components.members.memberships import pending_memberships
from components.ui.button import link_button
from components.ui.note import empty, page_skeleton, skeleton
from state.core.session import Session
from state.members.memberships import PendingMemberships


@rx.page(route="/", title="Signum", on_load=[Session.start, PendingMemberships.look])
def home() -> rx.Component:
    """Draw a skeleton until the redirect, or why no organization can be opened."""
    nowhere = empty("building-2", "No organization yet", Session.problem)
    asked = rx.fragment(pending_memberships(), nowhere)
    return rx.el.main(rx.cond(Session.problem != "", asked, page_skeleton()), class_name="page")


@rx.page(route="404", title="Not found · Signum", on_load=[Session.arrive, Session.recognize])
def missing() -> rx.Component:
    """Draw the page of unknown paths; "/" leads everyone to their own page."""
    way = rx.match(
        Session.visit,
        ("visitor", link_button("Go to sign in", "/sign-in", kind="primary", class_name="large")),
        ("user", link_button("Go to your page", "/", kind="primary", class_name="large")),
        skeleton(1),
    )
    said = "The address may be mistyped, or the page was removed."
    return entrance("Page not found", rx.el.div(way, class_name="card"), sub=said)
