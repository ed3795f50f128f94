"""Keyboard shortcuts of a list with a drawer."""

from typing import Any

import reflex as rx

from components.ui.button import icon_button, kbd
from components.ui.value import Local


class ListKeys(Local):
    """Handles J, K, Escape and the keys of marks while no text field has focus and no dialog is open."""

    library = "$/public/react/list_keys.jsx"
    tag = "ListKeys"

    on_step: rx.EventHandler[rx.event.passthrough_event_spec(int)]
    on_leave: rx.EventHandler[rx.event.no_args_event_spec]
    on_mark: rx.EventHandler[rx.event.no_args_event_spec]
    on_mark_next: rx.EventHandler[rx.event.passthrough_event_spec(int)]


def list_keys(on_step: Any, on_leave: Any, marks: Any = None) -> rx.Component:
    """Listen to J (next), K (previous) and Escape (leave); with `marks`, the state of a list whose rows can be marked
    (`Marks`), also to Space and X (mark), Shift with J and K (mark the next one) and A (go to the actions)."""
    more = {} if marks is None else {"on_mark": marks.mark_chosen, "on_mark_next": marks.mark_next}
    return ListKeys.create(on_step=on_step, on_leave=on_leave, **more)


def keys_hint(*more: Any) -> rx.Component:
    """Show that J and K work, on devices with a keyboard; `more` are further hints."""
    return rx.el.span(kbd("J"), " ", kbd("K"), " next, previous", *more, class_name="row tight hide-narrow")


def marks_hint() -> rx.Component:
    """Show that rows can be marked by keyboard."""
    return rx.fragment(kbd("X"), " select ", kbd("A"), " actions")


def step_buttons(on_step: Any) -> tuple[rx.Component, ...]:
    """Draw previous and next as buttons, for a drawer's head."""
    return (
        icon_button("chevron-up", "Previous", small=True, on_click=on_step(-1)),
        icon_button("chevron-down", "Next", small=True, on_click=on_step(1)),
    )
