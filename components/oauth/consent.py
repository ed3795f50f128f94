"""The consent to a short-lived API key that the console creates for one call."""

from typing import Any

import reflex as rx

from components.ui.form import check_field
from components.ui.icon import icon
from components.ui.note import note

WORDS = (
    "Registering requires an API key in addition to your session. The console creates one with attestations:write "
    "that expires after 5 minutes, uses it once and then revokes it, even if registering fails."
)


def consent_field(error: rx.Var[str] | Any) -> rx.Component:
    """Explain which key is created, and ask for consent (`consent` in the form's data)."""
    words = rx.el.div(icon("circle-alert", 13), rx.el.span(error), class_name="error", role="alert")
    return rx.el.div(
        note(rx.el.b("A temporary API key. "), WORDS, sign="key-round"),
        check_field("Create the key, use it once, revoke it", "consent"),
        rx.cond(error != "", words, rx.fragment()),
        class_name="col",
    )
