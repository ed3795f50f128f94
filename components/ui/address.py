"""The page's URL, kept equal to what the page shows."""

from collections.abc import Sequence
from typing import Any

import reflex as rx

from components.ui.value import Local


class Address(Local):
    """Writes values into the page's URL when they change, without a navigation."""

    library = "$/public/react/address.jsx"
    tag = "Address"

    values: rx.Var[dict[str, Any]]
    usual: rx.Var[dict[str, str]]
    adds: rx.Var[dict[str, str]]
    ready: rx.Var[bool]


def address(states: Sequence[Any]) -> rx.Component:
    """Keep the view of these states (`Addressed`) in the URL."""
    values: dict[str, Any] = {}
    usual: dict[str, str] = {}
    adds: dict[str, str] = {}
    for state in states:
        for name, param in state._params().items():
            if name in values:
                raise ValueError(f"Two states of this page use the parameter {name}.")
            values[name] = _var(state, param.var)
            usual[name], adds[name] = state._usual(param.var), param.adds
    return Address.create(values=values, usual=usual, adds=adds, ready=rx.State.is_hydrated)


def _var(state: Any, path: str) -> Any:
    for part in path.split("."):
        state = getattr(state, part)
    return state
