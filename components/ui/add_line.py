"""A button that adds a line to a text area."""

import reflex as rx

from components.ui.value import Local


class AddLine(Local):
    """The button. `target` is the id of the text area."""

    library = "$/public/react/add_line.jsx"
    tag = "AddLine"

    line: rx.Var[str]
    target: rx.Var[str]
    word: rx.Var[str]


def add_line(word: str, line: rx.Var[str], target: str) -> rx.Component:
    """Draw a button that adds `line` to the text area `target`, unless the line is there."""
    return AddLine.create(line=line, target=target, word=word, class_name="link")
