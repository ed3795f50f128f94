"""Tables: caption, sticky head, keyset pages, and their empty, loading and failed states."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import reflex as rx

from components.ui.button import button, download
from components.ui.icon import icon
from components.ui.note import failure, forbidden, skeleton
from components.ui.sort_heading import sort_heading


@dataclass(frozen=True)
class Col:
    """A column: `right` aligns numbers, `narrow=False` hides it on phones, `sort` is the field it sorts by."""

    title: str
    right: bool = False
    narrow: bool = True
    sort: str = ""
    hidden: bool = False

    @property
    def cls(self) -> str:
        """Return the CSS classes of head and cells."""
        return " ".join(filter(None, ["r" if self.right else "", "" if self.narrow else "hide-narrow"]))


def _head(column: Col, state: Any) -> rx.Component:
    title = rx.el.span(column.title, class_name="sr") if column.hidden else column.title
    return sort_heading(title, column.sort, state, class_name=column.cls)


def table(
    caption: str,
    columns: Sequence[Col],
    rows: rx.Var[list[Any]],
    row: Callable[[Any], rx.Component],
    *,
    empty: rx.Component,
    loading: rx.Var[bool],
    problem: rx.Var[str],
    is_forbidden: rx.Var[bool] | None = None,
    on_retry: Any = None,
    two: bool = False,
    slim: bool = False,
    stack: bool = True,
    sorts: Any = None,
) -> rx.Component:
    """Draw a table and its states.

    `row` gets a row's Var and returns `tr(…, key=row.id)`. `loading` matters only before there are rows;
    `problem` is the API's text; on phones rows are stacked unless `stack=False`. `sorts` is the state of a list
    (`Pages`) that its columns sort.
    """
    classes = " ".join(filter(None, ["table", "two" if two else "", "slim" if slim else "", "stack" if stack else ""]))
    full = rx.el.div(
        rx.el.table(
            rx.el.caption(caption, class_name="sr"),
            rx.el.thead(rx.el.tr(*[_head(column, sorts) for column in columns])),
            rx.el.tbody(rx.foreach(rows, row)),
            class_name=classes,
        ),
        class_name="table-wrap",
        tab_index=0,
        role="region",
        aria_label=f"{caption}, table",
    )
    again = [button("Try again", "rotate-cw", on_click=on_retry)] if on_retry is not None else []
    broken = failure("This did not load", problem, *again)
    if is_forbidden is not None:
        broken = rx.cond(is_forbidden, forbidden(problem), broken)
    nothing = rx.cond(loading, skeleton(), empty)
    return rx.cond(problem != "", broken, rx.cond(rows.length() > 0, full, nothing))


def list_table(
    caption: str, columns: Sequence[Col], state: Any, row: Callable[[Any], rx.Component], **options: Any
) -> rx.Component:
    """Draw the table of a state that has `rows`, loads them and can `reload` them; `options` are those of `table`."""
    return table(
        caption,
        columns,
        state.rows,
        row,
        loading=state.loading,
        problem=state.problem,
        is_forbidden=state.is_forbidden,
        on_retry=state.reload,
        sorts=state,
        **options,
    )


def tr(*cells: rx.Component, **props: Any) -> rx.Component:
    """Draw a row; give it a `key`, and `aria_selected` where a row can be selected."""
    return rx.el.tr(*cells, **props)


def td(
    *children: Any, right: bool = False, narrow: bool = True, full: bool = False, label: Any = "", **props: Any
) -> rx.Component:
    """Draw a cell. On phones `narrow=False` hides it, `full` gives it a line, and `label` is written before it."""
    words = ["r" if right else "", "" if narrow else "hide-narrow", "full" if full else "", props.pop("class_name", "")]
    attrs = {"custom_attrs": {"data-label": label}} if isinstance(label, rx.Var) or label else {}
    return rx.el.td(*children, class_name=" ".join(filter(None, words)), **attrs, **props)


def name_link(label: Any, href: Any) -> rx.Component:
    """Draw the link in a row's first cell; the row itself is never a link."""
    return rx.el.a(label, href=href, class_name="name")


def toolbar(*children: Any) -> rx.Component:
    """Draw the line of filters above a table."""
    return rx.el.div(*children, class_name="toolbar")


def pager(words: Any, state: Any, *, csv: rx.Var[str] | None = None, size: int = 50) -> rx.Component:
    """Draw the foot of a list in keyset pages (`Pages`); without buttons if one page holds all rows.

    `words` say what, below rows only, the list shows in its usual order. `csv` is the address of all rows, `size` the
    number of rows per page.
    """
    order = rx.cond(state.down, "desc", "asc").to(str)
    sorted_ = rx.cond(state.is_sorted, rx.Var.create("&sort=") + state.sort + "&order=" + order, "").to(str)
    whole = (
        [download(rx.fragment(icon("download", 13), "Download CSV"), csv + sorted_, class_name="link csv")]
        if csv is not None
        else []
    )
    usual = ~state.is_sorted
    buttons = rx.fragment(
        button(
            rx.cond(usual, "Newer", "Previous"),
            "chevron-left",
            small=True,
            disabled=~state.has_newer | state.busy,
            on_click=state.newer,
        ),
        button(
            rx.cond(usual, "Older", "Next"),
            "chevron-right",
            small=True,
            disabled=~state.has_older | state.busy,
            on_click=state.older,
        ),
    )
    has_rows = state.rows.length() > 0
    foot = rx.el.div(
        rx.cond(has_rows, rx.el.span(rx.cond(usual, words, f"{size} per page"), class_name="words"), rx.fragment()),
        rx.el.span(class_name="end"),
        *whole,
        rx.cond(state.has_newer | state.has_older, buttons, rx.fragment()),
        class_name="card-foot pager",
    )
    if whole:
        return rx.cond(state.is_forbidden, rx.fragment(), foot)
    return rx.cond(has_rows | state.has_newer, foot, rx.fragment())
