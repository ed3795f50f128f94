"""Local React components: picker, tree, toasts, and what the shell opens over the page."""

from typing import Any

import reflex as rx

from components.ui.icon import icon
from components.ui.value import Local


class Picker(Local):
    """A combobox: a search field with a list. Items: `{id, label, sub, hint, keys, depth, group, mark, href, off}`.

    `found_for` is the text that the items of `on_search` were found for, None before the first search.
    `search` lets `/` move the focus there; without items and with an empty `none` only the field is drawn.
    """

    library = "$/public/react/picker.jsx"
    tag = "Picker"

    items: rx.Var[list[dict[str, Any]]]
    found_for: rx.Var[str | None]
    value: rx.Var[str]
    label: rx.Var[str]
    placeholder: rx.Var[str]
    none: rx.Var[str]
    framed: rx.Var[bool]
    focused: rx.Var[bool]
    local: rx.Var[bool]
    name: rx.Var[str]
    search: rx.Var[bool]

    on_search: rx.EventHandler[rx.event.passthrough_event_spec(str)]
    on_pick: rx.EventHandler[rx.event.passthrough_event_spec(str)]


class Tree(Local):
    """Keyboard navigation of a tree; its rows are children drawn by `tree_row`."""

    library = "$/public/react/tree.jsx"
    tag = "Tree"

    label: rx.Var[str]
    active: rx.Var[str]
    above: rx.Var[int]
    total: rx.Var[int]

    on_window: rx.EventHandler[rx.event.passthrough_event_spec(int)]
    on_key: rx.EventHandler[rx.event.passthrough_event_spec(str)]
    on_type: rx.EventHandler[rx.event.passthrough_event_spec(str)]


class Notices(Local):
    """The toasts in the corner. Items: `{id, tone, title, detail, href, link, undo}`."""

    library = "$/public/react/notices.jsx"
    tag = "Notices"

    items: rx.Var[list[Any]]

    on_close: rx.EventHandler[rx.event.passthrough_event_spec(str)]

    on_undo: rx.EventHandler[rx.event.passthrough_event_spec(str)]


class OpenButton(Local):
    """A button that opens the sheet or palette with that name."""

    library = "$/public/react/overlay.jsx"
    tag = "OpenButton"

    target: rx.Var[str]
    label: rx.Var[str]


class Sheet(Local):
    """A native dialog at the left edge; it closes on navigation."""

    library = "$/public/react/overlay.jsx"
    tag = "Sheet"

    name: rx.Var[str]
    label: rx.Var[str]


class Palette(Local):
    """The Cmd-K palette: pages are found in the browser, everything else by the server."""

    library = "$/public/react/overlay.jsx"
    tag = "Palette"

    pages: rx.Var[list[dict[str, Any]]]
    found: rx.Var[list[dict[str, Any]]]
    found_for: rx.Var[str | None]

    on_search: rx.EventHandler[rx.event.passthrough_event_spec(str)]


class FieldMessages(Local):
    """Messages at a form's fields, instead of the browser's bubbles."""

    library = "$/public/react/field_messages.jsx"
    tag = "FieldMessages"


class Live(Local):
    """Calls `on_turn` when the page opens and after each new `turn`, as long as the page is visible."""

    library = "$/public/react/live.jsx"
    tag = "Live"

    turn: rx.Var[int]

    on_turn: rx.EventHandler[rx.event.no_args_event_spec]


class Keys(Local):
    """The console's global keyboard shortcuts."""

    library = "$/public/react/overlay.jsx"
    tag = "Keys"


def picker(
    items: rx.Var[list[dict[str, Any]]], label: str, *, on_pick: Any, on_search: Any = None, **props: Any
) -> rx.Component:
    """Draw a picker of one among many, by typing. Without `on_search` the list is filtered in the browser; with it,
    `found_for` is needed."""
    if on_search is None:
        return Picker.create(items=items, label=label, on_pick=on_pick, local=True, **props)
    return Picker.create(items=items, label=label, on_pick=on_pick, on_search=on_search, **props)


def tree(label: str, *rows: Any, active: rx.Var[str], on_key: Any, on_type: Any, **window: Any) -> rx.Component:
    """Draw a tree. `active` is the DOM id of the row in focus; `on_key` gets ArrowUp, …, Home, End, Enter.

    If the state holds only a window of the rows, `above` rows are missing before it, of `total`; `on_window(first)`
    requests the rows in view.
    """
    return Tree.create(*rows, label=label, active=active, on_key=on_key, on_type=on_type, **window)


def tree_row(
    *content: Any,
    id: rx.Var[str],
    depth: rx.Var[int],
    selected: rx.Var[bool],
    active: rx.Var[bool],
    branch: rx.Var[bool],
    expanded: rx.Var[bool],
    position: rx.Var[int],
    size: rx.Var[int],
    on_click: Any,
    on_toggle: Any,
    **props: Any,
) -> rx.Component:
    """Draw one visible row; `depth` counts from 1. Leaves have no `aria-expanded`."""
    twist = rx.el.span(icon("chevron-right", 14), class_name="twist", on_click=on_toggle.stop_propagation)
    indent = rx.el.span(class_name="indent", style={"width": ((depth - 1) * 20).to_string() + "px"})
    shared = {
        "id": id,
        "role": "treeitem",
        "class_name": "tree-row",
        "aria_level": depth,
        "aria_selected": selected,
        "aria_posinset": position,
        "aria_setsize": size,
        "custom_attrs": {"data-active": active},
        "on_click": on_click,
        **props,
    }
    leaf = rx.el.div(indent, rx.el.span(class_name="twist"), *content, **shared)
    return rx.cond(branch, rx.el.div(indent, twist, *content, aria_expanded=expanded, **shared), leaf)
