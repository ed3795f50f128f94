"""An API call, hidden until it is asked for: most people who read a page do not call the API."""

import reflex as rx


def api_call(call: rx.Var[str]) -> rx.Component:
    """Draw "Show API call" above a call (method and address), or nothing without one."""
    shown = rx.el.details(
        rx.el.summary("Show API call"), rx.el.code(call, class_name="mono break"), class_name="api-call muted small"
    )
    return rx.cond(call != "", shown, rx.fragment())
