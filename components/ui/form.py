"""Forms: fields with label, hint and error, choices, settings, the save bar, and the one native post."""

from collections.abc import Sequence
from typing import Any

import reflex as rx
from reflex_components_core.el.elements.base import BaseHTML
from reflex_components_core.el.elements.forms import Select

from components.ui.button import Kind, button
from components.ui.icon import icon
from components.ui.in_view import Uncovers
from components.ui.note import problem_note
from components.ui.progress import conflict
from components.ui.value import DateWords, Local


class NativeForm(BaseHTML):
    """A form that the browser posts itself. Reflex's own forms always prevent that."""

    tag = "form"

    action: rx.Var[str]
    method: rx.Var[str]


class Choice(Select):
    """A select with a value of a state, which shows a choice before the server has answered."""

    library = "$/public/react/choice.jsx"
    tag = "Choice"


def field(
    label: Any,
    control: rx.Component,
    *,
    for_id: str,
    hint: Any = None,
    error: rx.Var[str] | None = None,
    optional: bool = False,
) -> rx.Component:
    """Draw a control with its label, a hint and, if there is one, an error. `for_id` is the control's id."""
    tail = [rx.el.span("optional", class_name="optional")] if optional else []
    return rx.el.div(
        rx.el.label(label, *tail, html_for=for_id, class_name="label"),
        control,
        *([_error(error, for_id)] if error is not None else []),
        *([rx.el.div(hint, class_name="hint", id=f"{for_id}-hint")] if hint is not None else []),
        class_name="field",
    )


def _error(error: rx.Var[str], for_id: str) -> rx.Component:
    words = rx.el.div(
        icon("circle-alert", 13), rx.el.span(error), class_name="error", id=f"{for_id}-error", role="alert"
    )
    return rx.cond(error != "", words, rx.fragment())


def _describe(name_id: str, hint: Any, error: rx.Var[str] | None) -> dict[str, Any]:
    """Return the ARIA attributes that tie hint and error to a control."""
    ids = [f"{name_id}-hint"] if hint is not None else []
    if error is None:
        return {"aria_describedby": " ".join(ids)} if ids else {}
    with_error = " ".join([f"{name_id}-error", *ids])
    return {
        "aria_invalid": rx.cond(error != "", "true", "false"),
        "aria_describedby": rx.cond(error != "", with_error, " ".join(ids)),
    }


def error_of(errors: rx.Var[dict[str, str]] | None, name: str) -> rx.Var[str] | None:
    """Return the error of one field in a state's `errors`, or an empty string."""
    if errors is None:
        return None
    return rx.cond(errors.contains(name), errors[name], "").to(str)


SELECTS_ALL: rx.Var[Any] = rx.Var("(event) => event.target.select()", _var_type=rx.EventChain)
"""For `on_focus` of a field that is filled in already: what is typed replaces its text."""


class Prefill(Local):
    """Writes `text` into the field with the ID `input` whenever `times` grows; what someone has begun to type stays."""

    library = "$/public/react/prefill.jsx"
    tag = "Prefill"

    input: rx.Var[str]
    text: rx.Var[str]
    times: rx.Var[int]


def text_field(
    label: Any,
    name: str,
    *,
    hint: Any = None,
    errors: rx.Var[dict[str, str]] | None = None,
    optional: bool = False,
    id: str | None = None,
    **props: Any,
) -> rx.Component:
    """Draw a field for a line of text. `errors` is the state's dict by field name; other props go to the input."""
    name_id, error = id or f"f-{name}", error_of(errors, name)
    props.setdefault("auto_complete", "off")
    if props.get("type") == "date":
        given = props.get("value", props.get("default_value", ""))
        hint = rx.fragment(DateWords.create(input=name_id, value=given), "" if hint is None else hint)
    control = rx.el.input(
        id=name_id,
        name=name,
        type=props.pop("type", "text"),
        required=props.pop("required", not optional),
        class_name=f"input {props.pop('class_name', '')}".strip(),
        **_describe(name_id, hint, error),
        **props,
    )
    return field(label, control, for_id=name_id, hint=hint, error=error, optional=optional)


def area_field(
    label: Any,
    name: str,
    *,
    hint: Any = None,
    errors: rx.Var[dict[str, str]] | None = None,
    optional: bool = False,
    id: str | None = None,
    **props: Any,
) -> rx.Component:
    """Draw a field for several lines of text."""
    name_id, error = id or f"f-{name}", error_of(errors, name)
    classes = f"input {props.pop('class_name', '')}".strip()
    control = rx.el.textarea(
        id=name_id, name=name, required=not optional, class_name=classes, **_describe(name_id, hint, error), **props
    )
    return field(label, control, for_id=name_id, hint=hint, error=error, optional=optional)


def select_field(
    label: Any,
    name: str,
    options: rx.Var[list[dict[str, str]]] | Sequence[tuple[str, str]],
    *,
    hint: Any = None,
    errors: rx.Var[dict[str, str]] | None = None,
    optional: bool = False,
    placeholder: str | None = None,
    id: str | None = None,
    **props: Any,
) -> rx.Component:
    """Draw a field for one of several values: pairs (value, label), or a Var of dicts with `value` and `label`."""
    name_id, error = id or f"f-{name}", error_of(errors, name)
    props.setdefault("required", not optional and placeholder is not None)
    control = select(
        options, id=name_id, name=name, placeholder=placeholder, **_describe(name_id, hint, error), **props
    )
    return field(label, control, for_id=name_id, hint=hint, error=error, optional=optional)


def select(
    options: rx.Var[list[dict[str, str]]] | Sequence[tuple[str, str]], *, placeholder: str | None = None, **props: Any
) -> rx.Component:
    """Draw the browser's own select; give it an `aria_label` if it has no label."""
    if isinstance(options, rx.Var):
        listed: list[Any] = [rx.foreach(options, lambda o: rx.el.option(o["label"], value=o["value"], key=o["value"]))]
    else:
        listed = [rx.el.option(words, value=value) for value, words in options]
    first = [rx.el.option(placeholder, value="")] if placeholder is not None else []
    create = Choice.create if "value" in props else rx.el.select
    return create(*first, *listed, class_name=f"input {props.pop('class_name', '')}".strip(), **props)


def check_field(label: Any, name: str, *, hint: Any = None, **props: Any) -> rx.Component:
    """Draw a checkbox. In the form's data it is "on" or missing."""
    words = rx.el.span(label, *([rx.el.div(hint, class_name="hint")] if hint is not None else []))
    return rx.el.label(rx.el.input(type="checkbox", name=name, **props), words, class_name="check")


def field_row(*fields: rx.Component) -> rx.Component:
    """Put fields side by side where there is room."""
    return rx.el.div(*fields, class_name="field-row")


def search_box(label: str, value: rx.Var[str], **props: Any) -> rx.Component:
    """Draw a search field with the text of the page's URL; `/` puts the focus there.

    Use `on_change=State.search.debounce(250)`.
    """
    return rx.el.div(
        icon("search", 15),
        rx.el.input(
            type="search",
            class_name="input",
            aria_label=label,
            placeholder=label,
            custom_attrs={"data-search": ""},
            default_value=value,
            key=rx.cond(rx.State.is_hydrated, "loaded", "loading"),
            **props,
        ),
        class_name="affix start search",
    )


def choices(label: str, *children: Any) -> rx.Component:
    """Group choice cards; children come from `choice`."""
    return rx.el.fieldset(rx.el.legend(label, class_name="sr"), *children, class_name="choices")


def choice(name: str, value: str, title: Any, *about: Any, **props: Any) -> rx.Component:
    """Draw one card of a choice; it is a real radio button (arrow keys work). `checked`, `on_change` as usual."""
    return rx.el.label(
        rx.el.span(rx.el.input(type="radio", name=name, value=value, **props), title, class_name="pick"),
        *[rx.el.span(line, class_name="about") for line in about],
        class_name="choice",
    )


def setting(
    label: Any, about: Any, *control: Any, changed: rx.Var[bool] | bool = False, tail: Any = None
) -> rx.Component:
    """Draw a line of settings: texts at the left, control at the right, marked if it was changed."""
    changed = rx.Var.create(changed)
    return rx.el.div(
        rx.el.div(
            rx.el.div(
                label,
                rx.cond(changed, rx.el.span("Changed", class_name="badge word info"), rx.fragment()),
                *([rx.el.span(tail, class_name="muted small")] if tail is not None else []),
                class_name="of",
            ),
            rx.el.div(about, class_name="about"),
        ),
        rx.el.div(*control, class_name="control"),
        class_name=rx.cond(changed, "setting changed", "setting"),
    )


def save_bar(shown: rx.Var[bool], words: Any, *actions: rx.Component) -> rx.Component:
    """Stick to the bottom of the page while there is something to save; `words` describe the impact."""
    bar = rx.el.div(
        rx.el.div(words, class_name="grow row wrap wide"),
        *actions,
        Uncovers.create(selector=".setting.changed"),
        class_name="save-bar",
        role="region",
        aria_label="Unsaved changes",
    )
    return rx.cond(shown, bar, rx.fragment())


def form(
    *children: Any,
    on_submit: Any,
    problem: rx.Var[str],
    submit: Any,
    busy: rx.Var[bool],
    sign: str | None = None,
    edits: Any = None,
    kind: Kind = "primary",
    **props: Any,
) -> rx.Component:
    """Draw a form within a page (in a dialog: `form_dialog`). `edits` is its state if that edits a record; its button
    is `plain` where it is one of several on the page."""
    return rx.el.form(
        *children,
        problem_note(problem),
        conflict(edits),
        rx.el.div(button(submit, sign, kind=kind, type="submit", busy=busy), class_name="row"),
        on_submit=on_submit,
        class_name=f"form {props.pop('class_name', '')}".strip(),
        **props,
    )
