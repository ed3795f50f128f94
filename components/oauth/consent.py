"""The consent to a short-lived API key that the console creates for one call."""

from typing import Any

import reflex as rx

from components.ui.form import check_field
from components.ui.icon import icon

WORDS = "The registry accepts this change only with an API key. Signum creates a key, uses it once and then revokes it."
KEY = "The key has only the scope attestations:write, expires after 5 minutes and is revoked even if the request fails."


def consent_field(error: rx.Var[str] | Any) -> rx.Component:
    """Explain which key is created, and ask for consent (`consent` in the form's data)."""
    words = rx.el.div(icon("circle-alert", 13), rx.el.span(error), class_name="error", role="alert")
    return rx.el.div(
        check_field("I agree to a one-time API key", "consent", hint=WORDS),
        rx.el.details(
            rx.el.summary(icon("chevron-right", 13), "What the key may do"),
            rx.el.p(KEY, class_name="muted small"),
            class_name="followed",
        ),
        rx.cond(error != "", words, rx.fragment()),
        class_name="col",
    )
