"""Asking whether the console may make a key for a moment."""

from typing import Any

import reflex as rx

from components.ui.form import check_field
from components.ui.icon import icon
from components.ui.note import note

WORDS = (
    "Registering wants an API key beside your session. The console makes one with the scope attestations:write, "
    "which ends after 5 minutes, uses it once, and revokes it at once, also where registering fails."
)


def consent_field(error: rx.Var[str] | Any) -> rx.Component:
    """Say what will be made, and take the person's yes (`consent` in the form's data)."""
    words = rx.el.div(icon("circle-alert", 13), rx.el.span(error), class_name="error", role="alert")
    return rx.el.div(
        note(rx.el.b("A key for this once. "), WORDS, sign="key-round"),
        check_field("Make the key, use it once, revoke it", "consent"),
        rx.cond(error != "", words, rx.fragment()),
        class_name="col",
    )
