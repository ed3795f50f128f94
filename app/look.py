"""The style sheet's parts, in order, and what is drawn before the first page."""

import reflex as rx

PARTS = (
    "fonts", "tokens", "base", "radix", "button", "status", "surface", "table", "form", "progress", "tree", "dialog",
    "shell", "sign_in",
)  # fmt: skip
STYLES = [f"/style/{part}.css" for part in PARTS]


def hydrating() -> rx.Component:
    """Draw the frame of a page while its code loads, so that nothing jumps."""
    blocks = [rx.el.div(class_name="skeleton", style={"width": width}) for width in ("60%", "48%", "54%", "40%", "52%")]
    return rx.el.div(
        rx.el.div(rx.el.div(*blocks, class_name="col wide", style={"padding": "24px 18px"}), class_name="side"),
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
