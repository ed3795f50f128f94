"""The field for allowed IP ranges, with the user's current address."""

from typing import Any

import reflex as rx

from components.ui.form import area_field
from components.ui.value import Local
from state.core.session import Session


class AddLine(Local):
    """A button that adds `line` to a text area, unless it is there. `target` is the id of the text area."""

    library = "$/public/react/add_line.jsx"
    tag = "AddLine"

    line: rx.Var[str]
    target: rx.Var[str]
    word: rx.Var[str]


def ip_ranges_field(id: str, *, errors: rx.Var[dict[str, str]], about: str, **props: Any) -> rx.Component:
    """Draw the field for IP addresses and CIDR ranges, one per line; `about` says to whom they apply."""
    own = rx.el.span(
        "Your address is ", rx.el.span(Session.ip_address, class_name="mono"), ". ",
        AddLine.create(line=Session.ip_address, target=id, word="Add my address", class_name="link"),
    )  # fmt: skip
    hint = rx.el.span(about, " ", rx.cond(Session.ip_address != "", own, rx.fragment()))
    return area_field(
        "Allowed IP ranges", "allowed_ip_ranges", errors=errors, id=id, optional=True, rows=3, max_length=6_000,
        class_name="mono", placeholder="203.0.113.0/24", hint=hint, spell_check=False, **props,
    )  # fmt: skip
