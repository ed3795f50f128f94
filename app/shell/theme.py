"""The style sheet's parts in order, and what is drawn before the first page."""

import reflex as rx
from reflex_components_core.base.error_boundary import error_boundary
from reflex_components_core.core.banner import has_connection_errors

from components.ui.icon import icon
from components.ui.note import failure
from components.ui.value import Local

PARTS = (
    "fonts", "tokens", "base", "radix", "button", "status", "surface", "table", "form", "progress", "tree", "dialog",
    "shell", "charts", "cap_table", "sign_in", "issuance",
    "overview", "organizations", "members", "eligibility", "api_keys", "cases", "outbox", "webhooks", "settings",
    "distributions", "factors", "investor", "attempts", "tour", "print",
)  # fmt: skip
STYLES = [f"/style/{part}.css" for part in PARTS]


def brand() -> list[rx.Component]:
    """Draw the product's sign and name, as they are at the foot of the sidebar."""
    sign = rx.el.img(src="/favicon.svg", alt="", style={"width": "18px", "height": "18px"})
    return [sign, rx.el.span("Signum", class_name="strong")]


def hydrating() -> rx.Component:
    """Draw a page's frame and the brand while its code loads: they are seen before any script runs, and stay where they
    are when it does."""
    blocks = [
        rx.el.span(class_name="skeleton", style={"width": width}) for width in ("60%", "48%", "54%", "40%", "52%")
    ]
    return rx.el.div(
        rx.el.div(
            rx.el.div(
                rx.el.div(*blocks, class_name="nav col wide", style={"padding": "24px 18px"}),
                rx.el.div(*brand(), class_name="side-foot"),
                class_name="side-in",
            ),
            class_name="side",
        ),
        rx.el.div(
            rx.el.div(class_name="head"),
            rx.el.div(
                rx.el.div(class_name="skeleton", style={"width": "180px", "height": "22px", "marginBottom": "24px"}),
                rx.el.div(class_name="card", style={"height": "280px"}),
                class_name="page",
            ),
            class_name="body",
        ),
        class_name="shell",
        aria_busy="true",
    )


def crashed() -> rx.Component:
    """Report that a page failed in the browser. The cause goes to the server's log, not onto the page."""
    again = rx.el.a("Go to the overview", href="/", class_name="btn", custom_attrs={"reloadDocument": True})
    return rx.el.main(
        rx.el.h1("This page failed", class_name="sr"),
        failure("This page failed", "What you saved before is kept. Open the overview to continue.", again),
        class_name="page alone",
    )


class KeepPlace(Local):
    """Keeps how far the page is scrolled while the connection is `lost`."""

    library = "$/public/react/keep_place.jsx"
    tag = "KeepPlace"

    lost: rx.Var[bool]


def lost() -> rx.Component:
    """Show that the connection is lost; Reflex reconnects on its own."""
    words = rx.el.div(
        icon("wifi-off", 15), rx.el.span("Connection lost. Reconnecting."), class_name="lost", role="status"
    )
    return rx.fragment(
        KeepPlace.create(lost=has_connection_errors), rx.cond(has_connection_errors, words, rx.fragment())
    )


WRAPS = {
    (55, "ErrorBoundary"): lambda stateful: error_boundary(
        fallback_render=rx.Var.create(crashed()), **({} if stateful else {"on_error": rx.noop()})
    ),
    (5, "Overlay"): lambda stateful: lost() if stateful else None,
}
"""Replace Reflex's own components, which show a stack trace and a pulsing icon."""
