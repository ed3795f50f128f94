"""The person of the organization whom an investor can contact, and what the investor asks them about."""

from typing import Any

import reflex as rx

from components.ui.note import note


def contact(state: Any) -> rx.Component:
    """Name the contact of a page's state, with a link that writes an email; without one, name the organization."""
    address = rx.el.a(state.contact_email, href="mailto:" + state.contact_email, class_name="link break")
    person = rx.fragment(
        rx.cond(state.contact != state.contact_email, rx.fragment(state.contact, " at "), rx.fragment()), address
    )
    return rx.cond(state.contact_email != "", person, state.organization)


def frozen_note(words: rx.Var[str], state: Any) -> rx.Component:
    """Say what is frozen and whom to ask about it; draw nothing if nothing is frozen."""
    said = note(rx.el.b("Frozen. "), words, " To find out why, contact ", contact(state), ".", tone="warn")
    return rx.cond(words != "", said, rx.fragment())
