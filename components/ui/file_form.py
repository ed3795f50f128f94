"""A form that sends one file to the API."""

from typing import Any

import reflex as rx

from components.ui.value import Local


class FileForm(Local):
    """Kind, file and button. `action` is a path of the API that takes the file as its body; `most` is in bytes."""

    library = "$/public/react/file_form.jsx"
    tag = "FileForm"

    action: rx.Var[str]
    kinds: rx.Var[list[dict[str, str]]]
    accept: rx.Var[str]
    most: rx.Var[int]
    label: rx.Var[str]

    on_sent: rx.EventHandler[rx.event.no_args_event_spec]


def file_form(label: str, action: Any, kinds: list[dict[str, str]], *, accept: str, most: int, **props: Any) -> Any:
    """Draw the form; `on_sent` is called once the API has taken the file."""
    return FileForm.create(action=action, kinds=kinds, accept=accept, most=most, label=label, **props)
