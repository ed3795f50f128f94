"""The field for allowed IP ranges, with the caller's own address."""

from typing import Any

import reflex as rx

from components.ui.add_line import add_line
from components.ui.form import area_field
from state.session import Session


def ip_ranges_field(id: str, *, errors: rx.Var[dict[str, str]], about: str, **props: Any) -> rx.Component:
    """Ask for IP addresses and CIDR ranges, one per line; `about` says for whom they hold."""
    own = rx.el.span(
        "Your address is ", rx.el.span(Session.ip_address, class_name="mono"), ". ",
        add_line("Add my address", Session.ip_address, id),
    )  # fmt: skip
    hint = rx.el.span(about, " ", rx.cond(Session.ip_address != "", own, rx.fragment()))
    return area_field(
        "Allowed IP ranges", "allowed_ip_ranges", errors=errors, id=id, optional=True, rows=3, max_length=6_000,
        class_name="mono", placeholder="203.0.113.0/24", hint=hint, spell_check=False, **props,
    )  # fmt: skip
