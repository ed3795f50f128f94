"""The person of the organization whom an investor can contact."""

from typing import Any

import reflex as rx


def contact(state: Any) -> rx.Component:
    """Name the contact of a page's state, with a link that writes an email; without one, name the organization."""
    address = rx.el.a(state.contact_email, href="mailto:" + state.contact_email, class_name="link break")
    person = rx.fragment(
        rx.cond(state.contact != state.contact_email, rx.fragment(state.contact, " at "), rx.fragment()), address
    )
    return rx.cond(state.contact_email != "", person, state.organization)
