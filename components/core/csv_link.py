"""The address of a list's CSV, with the page's current filters."""

from typing import Any

import reflex as rx

from state.core.session import Session


def csv_of(path: Any, **filters: Any) -> rx.Var[str]:
    """Return the CSV address of a list below the organization, such as `/assets`; empty filters are omitted."""
    return csv_at("/v1/orgs/" + Session.org.id + path, **filters)


def csv_at(path: Any, **filters: Any) -> rx.Var[str]:
    """Return the CSV address of a list at any path."""
    query: Any = ""
    for name, value in filters.items():
        query = rx.cond(value == "", "", rx.Var.create(f"&{name}=") + url_encoded(value)).to(str) + query
    return path + ".csv?" + query


def url_encoded(value: Any) -> rx.Var[str]:
    """URL-encode a filter's value."""
    text = rx.Var.create(value)
    return rx.Var(f"encodeURIComponent({text!s})", _var_data=text._get_all_var_data()).to(str)
