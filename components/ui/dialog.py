"""Dialogs and drawers."""

from typing import Any

import reflex as rx

from components.ui.button import button, icon_button
from components.ui.icon import icon
from components.ui.note import problem_note
from components.ui.progress import conflict


def _close() -> rx.Component:
    """Draw the close button: last in the DOM, placed by the style sheet, so that focus starts in the first field."""
    return rx.dialog.close(
        rx.el.button(icon("x", 16), class_name="icon-btn small dialog-close", aria_label="Close", type="button")
    )


def _head(title: Any, about: Any) -> rx.Component:
    return rx.el.div(rx.dialog.title(title), rx.dialog.description(about), class_name="dialog-head")


def _own(form: Any, name: str, given: Any) -> Any:
    """Return the argument that was given, or else what a dialog's state has under a name."""
    return getattr(form, name) if given is None else given


def dialog(
    title: Any,
    about: Any,
    *body: Any,
    is_open: rx.Var[bool],
    on_open_change: Any,
    foot: tuple[Any, ...] = (),
    width: str = "560px",
    flush: bool = False,
    is_text: bool = False,
) -> rx.Component:
    """Draw a dialog driven by a state's var; on phones it is a bottom sheet. `flush` removes the body's padding.

    `is_text`: the body has nothing that takes the focus, so it takes the focus itself and is scrolled by keyboard.
    """
    focus: dict[str, Any] = {"tab_index": 0, "role": "region", "aria_label": title} if is_text else {}
    return rx.dialog.root(
        rx.dialog.content(
            _head(title, about),
            rx.el.div(*body, class_name="dialog-body flush" if flush else "dialog-body", **focus),
            *([rx.el.div(*foot, class_name="dialog-foot")] if foot else []),
            _close(),
            class_name="dialog",
            max_width=width,
        ),
        open=is_open,
        on_open_change=on_open_change,
    )


def form_dialog(
    title: Any,
    about: Any,
    *fields: Any,
    form: Any,
    submit: Any,
    is_open: rx.Var[bool] | None = None,
    on_open_change: Any = None,
    on_submit: Any = None,
    busy: rx.Var[bool] | None = None,
    kind: str = "primary",
    foot: Any = None,
    width: str = "520px",
) -> rx.Component:
    """Draw a dialog that is a form: fields, the problem below them, Cancel and `submit`.

    `form` is its state: a `Dialog` with a handler `submit`, or a `Form` and the arguments that it lacks.
    """
    body = rx.el.form(
        rx.el.div(*fields, problem_note(form.form_problem), conflict(form), class_name="dialog-body form"),
        rx.el.div(
            *([foot] if foot is not None else []),
            rx.el.span(class_name="end"),
            rx.dialog.close(button("Cancel")),
            button(submit, kind=kind, type="submit", busy=_own(form, "saving", busy)),
            class_name="dialog-foot",
        ),
        on_submit=_own(form, "submit", on_submit),
    )
    return rx.dialog.root(
        rx.dialog.content(_head(title, about), body, _close(), class_name="dialog", max_width=width),
        open=_own(form, "is_open", is_open),
        on_open_change=_own(form, "show", on_open_change),
    )


def confirm(
    title: Any,
    about: Any,
    *body: Any,
    word: str,
    form: Any = None,
    is_open: rx.Var[bool] | None = None,
    on_open_change: Any = None,
    on_confirm: Any = None,
    problem: rx.Var[str] | None = None,
    busy: rx.Var[bool] | None = None,
    danger: bool = True,
    keep: str = "Cancel",
) -> rx.Component:
    """Ask for confirmation of an action; `word` names it on the button ("Revoke"), never "OK". `keep` names the other
    button where "Cancel" could mean the action.

    `form` is its state: a `Dialog` with a handler `confirm`. Without it, give the arguments that it would have.
    """
    kind = "danger" if danger else "primary"
    return dialog(
        title,
        about,
        *body,
        problem_note(_own(form, "form_problem", problem)),
        conflict(form),
        is_open=_own(form, "is_open", is_open),
        on_open_change=_own(form, "show", on_open_change),
        foot=(
            rx.el.span(class_name="end"),
            rx.dialog.close(button(keep)),
            button(word, kind=kind, busy=_own(form, "saving", busy), on_click=_own(form, "confirm", on_confirm)),
        ),
        width="460px",
    )


def drawer(
    title: Any,
    about: Any,
    *body: Any,
    is_open: rx.Var[bool],
    on_close: Any,
    foot: tuple[Any, ...] = (),
    head: Any = None,
    tools: tuple[Any, ...] = (),
) -> rx.Component:
    """Draw a panel beside a list; it is not modal. Give the page's content `with-drawer` while it is open.

    `head` is placed before the title, `tools` are buttons before the close button.
    """
    panel = rx.el.aside(
        rx.el.div(
            *([head] if head is not None else []),
            rx.el.div(
                rx.el.h2(title, class_name="title-3"), rx.el.div(about, class_name="muted small"), class_name="grow"
            ),
            *tools,
            icon_button("x", "Close", small=True, on_click=on_close),
            class_name="drawer-head",
        ),
        rx.el.div(*body, class_name="drawer-body", tab_index=0, role="region", aria_label="Details"),
        *([rx.el.div(*foot, class_name="drawer-foot")] if foot else []),
        class_name="drawer",
        aria_label=title,
    )
    return rx.cond(is_open, panel, rx.fragment())
