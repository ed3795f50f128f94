"""Pages that would be seen for a moment as they were left."""

from typing import Any

import reflex as rx

from components.ui.value import Local


class Arrival(Local):
    """Its first child until the state was filled for this visit, then the second."""

    library = "$/public/react/arrival.jsx"
    tag = "Arrival"

    place: rx.Var[str]
    visits: rx.Var[int]


def arrival(state: Any, waiting: rx.Component, shown: rx.Component) -> rx.Component:
    """Draw `waiting` until `state` (a `state.arriving.Arrives`) tells of this visit, then `shown`."""
    return Arrival.create(waiting, shown, place=state.place, visits=state.visits)
