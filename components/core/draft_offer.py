"""The offer to continue a draft."""

from typing import Any

import reflex as rx

from components.ui.button import button
from components.ui.note import note
from components.ui.value import when


def draft_offer(state: Any) -> rx.Component:
    """Offer the draft of a form (`Drafts`), and say where its last step was not saved."""
    offer = note(
        rx.el.div(
            rx.el.span(
                rx.el.b("You have a draft"), ", saved ", when(state.draft_at), ". What you enter here replaces it."
            ),
            rx.el.span(class_name="end"),
            button("Start over", small=True, on_click=state.start_over),
            button("Resume draft", small=True, kind="primary", on_click=state.continue_draft),
            class_name="row wrap",
        ),
        tone="info",
        sign="file-clock",
        role="region",
        aria_label="Draft",
    )
    lost = note(state.draft_problem, tone="warn", role="status")
    return rx.fragment(
        rx.cond(state.draft_at != "", rx.el.div(offer, class_name="following"), rx.fragment()),
        rx.cond(state.draft_problem != "", rx.el.div(lost, class_name="following"), rx.fragment()),
    )
