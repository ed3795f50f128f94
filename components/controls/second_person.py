"""What the dialog of a control says where a second person must approve it."""

from typing import Any

import reflex as rx

from components.core.permission import Scope
from components.requests.waiting import other_people
from components.ui.note import note


def second_person(state: Any) -> rx.Component:
    """Draw the note; nothing unless the policy requires a second person (`is_guarded`)."""
    waits = note(
        rx.el.b("A second person must approve this. "),
        other_people(Scope.ASSETS_WRITE),
        "The request waits until then, and nothing changes on the chain.",
        tone="info",
        role="status",
    )
    return rx.cond(state.is_guarded, waits, rx.fragment())
