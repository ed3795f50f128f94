"""The heading of a column, with a button where the list can be sorted by it."""

from typing import Any

import reflex as rx

from components.ui.icon import icon
from components.ui.value import Local

ASCENDING = ("name", "label", "expires_at")
"""Sorts that begin ascending, and an expiry with the soonest; other times begin with the newest."""


class SortButton(Local):
    """Writes the sort of a column into the page's address, and has the list read again."""

    library = "$/public/react/sort_button.jsx"
    tag = "SortButton"

    field: rx.Var[str]
    table: rx.Var[str]
    sort: rx.Var[str]
    down: rx.Var[bool]
    first: rx.Var[str]
    on_sort: rx.EventHandler[rx.event.no_args_event_spec]


def sort_heading(title: Any, sort: str, state: Any, **props: Any) -> rx.Component:
    """Draw a heading. `sort` is the API's sort of the column, empty if it has none; `state` is that of the list."""
    plain = rx.el.th(title, scope="col", **props)
    if not sort or state is None:
        return plain
    if sort not in state._sorts:
        raise ValueError(f"The list of {state.__name__} has no sort {sort}.")
    is_sorted = state.sort == sort
    arrow = rx.cond(state.down, icon("arrow-down", 12), icon("arrow-up", 12))
    press = SortButton.create(
        title,
        rx.cond(is_sorted, arrow, icon("arrow-up-down", 12)),
        field=sort,
        table=state._table,
        sort=state.sort,
        down=state.down,
        first="asc" if sort in ASCENDING else "desc",
        on_sort=state.sort_again,
    )
    order = rx.cond(is_sorted, rx.cond(state.down, "descending", "ascending"), "none")
    return rx.el.th(press, scope="col", aria_sort=order, **props)
