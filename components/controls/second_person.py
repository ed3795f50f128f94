"""What the dialog of a control says where a second person must approve it."""

from typing import Any

import reflex as rx

from components.ui.note import note


def second_person(state: Any) -> rx.Component:
    """Draw the note; nothing unless the policy requires a second person (`is_guarded`)."""
    waits = note(
        rx.el.b("A second person must approve this. "),
        "The request waits until then, and nothing changes on the chain.",
        tone="info",
        role="status",
    )
    return rx.cond(state.is_guarded, waits, rx.fragment())
