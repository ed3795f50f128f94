"""A form that sends a list, pasted or as a file, to the API: first to check it, then to save it."""

from typing import Any

import reflex as rx

from components.ui.value import Local


def _checked(plan: rx.Var[str]) -> tuple[rx.Var[str]]:
    return (plan,)


def _made(id: rx.Var[str]) -> tuple[rx.Var[str]]:
    return (id,)


class CsvForm(Local):
    """Text, file and button. `action` is a path of the API with a query; empty while an input is missing. `further` is
    added to the query when the list is saved, which is not offered while `is_unusable`."""

    library = "$/public/react/csv_form.jsx"
    tag = "CsvForm"

    action: rx.Var[str]
    further: rx.Var[str]
    is_unusable: rx.Var[bool]
    most: rx.Var[int]
    label: rx.Var[str]
    example: rx.Var[str]
    what: rx.Var[str]
    hint: rx.Var[str]
    file_hint: rx.Var[str]
    missing: rx.Var[str]
    word: rx.Var[str]
    actions: rx.Var[str]

    on_checked: rx.EventHandler[_checked]
    on_made: rx.EventHandler[_made]


def csv_form(
    label: str,
    action: Any,
    *,
    further: Any,
    is_unusable: Any,
    most: int,
    example: Any,
    on_checked: Any,
    on_made: Any,
    what: str,
    hint: str,
    word: str,
    file_hint: str = "",
    missing: str = "",
    actions: str = "",
) -> rx.Component:
    """Draw the form. `on_checked` gets the plan of the dry run as JSON, `on_made` the new record's id, or the response
    as JSON. `what` is the label of the list, `word` the button that saves it. `actions` is the id of the element that
    shows the button, such as a dialog's foot or the result that it confirms; without one it is below the fields."""
    return CsvForm.create(
        action=action,
        further=further,
        is_unusable=is_unusable,
        most=most,
        label=label,
        example=example,
        what=what,
        hint=hint,
        file_hint=file_hint,
        missing=missing,
        word=word,
        actions=actions,
        on_checked=on_checked,
        on_made=on_made,
    )
