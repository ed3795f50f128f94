"""A wrapper that keeps a page from showing stale state for a moment."""

from typing import Any

import reflex as rx

from components.ui.value import Local


class Arrival(Local):
    """Shows its first child until the state is filled for this visit, then the second."""

    library = "$/public/react/arrival.jsx"
    tag = "Arrival"

    place: rx.Var[str]
    visits: rx.Var[int]


def arrival(state: Any, waiting: rx.Component, shown: rx.Component) -> rx.Component:
    """Draw `waiting` until `state` belongs to this visit, by its `place` and number of `visits`, then `shown`."""
    return Arrival.create(waiting, shown, place=state.place, visits=state.visits)
