"""Keyboard shortcuts of a list with a drawer."""

from typing import Any

import reflex as rx

from components.ui.button import icon_button, kbd
from components.ui.value import Local


class ListKeys(Local):
    """Handles J, K and Escape while no text field has focus and no dialog is open."""

    library = "$/public/react/list_keys.jsx"
    tag = "ListKeys"

    on_step: rx.EventHandler[rx.event.passthrough_event_spec(int)]
    on_leave: rx.EventHandler[rx.event.no_args_event_spec]


def list_keys(on_step: Any, on_leave: Any) -> rx.Component:
    """Listen to J (next), K (previous) and Escape (leave)."""
    return ListKeys.create(on_step=on_step, on_leave=on_leave)


def keys_hint() -> rx.Component:
    """Show that J and K work, on devices with a keyboard."""
    return rx.el.span(kbd("J"), " ", kbd("K"), " next, previous", class_name="row tight hide-narrow")


def step_buttons(on_step: Any) -> tuple[rx.Component, ...]:
    """Draw previous and next as buttons, for a drawer's head."""
    return (
        icon_button("chevron-up", "Previous", small=True, on_click=on_step(-1)),
        icon_button("chevron-down", "Next", small=True, on_click=on_step(1)),
    )
