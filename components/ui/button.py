"""Buttons and links."""

from typing import Any, Literal

import reflex as rx

from components.ui.icon import icon

Kind = Literal["plain", "primary", "danger", "quiet"]


def _class(kind: Kind, small: bool, more: str) -> str:
    return " ".join(filter(None, ["btn", "" if kind == "plain" else kind, "small" if small else "", more]))


def button(
    label: Any,
    sign: str | None = None,
    *,
    kind: Kind = "plain",
    small: bool = False,
    busy: rx.Var[bool] | bool = False,
    **props: Any,
) -> rx.Component:
    """Draw a button; `sign` is its icon. While `busy` it is disabled and its icon turns."""
    if isinstance(busy, rx.Var):
        spinner, still = icon("loader-circle", 15, spin=True), icon(sign, 15) if sign else rx.fragment()
        head: list[Any] = [rx.cond(busy, spinner, still)]
        disabled = props.pop("disabled", False)
        props["disabled"] = busy | disabled if isinstance(disabled, rx.Var) else busy
        props["aria_busy"] = busy
    else:
        head = [icon(sign, 14 if small else 15)] if sign else []
    classes = _class(kind, small, props.pop("class_name", ""))
    return rx.el.button(*head, label, type=props.pop("type", "button"), class_name=classes, **props)


def explained(label: Any, why: rx.Var[str] | str, sign: str | None = None, **look: Any) -> rx.Component:
    """Draw a button that the user may not press. It keeps the focus, so that its reason can be read by keyboard too."""
    reason = rx.el.span(why, class_name="why", role="tooltip")
    blocked = button(rx.fragment(label, rx.el.span(". ", why, class_name="sr")), sign, aria_disabled="true", **look)
    return rx.el.span(blocked, reason, class_name="explained")


def link_button(
    label: Any,
    href: rx.Var[str] | str,
    sign: str | None = None,
    *,
    kind: Kind = "plain",
    small: bool = False,
    **props: Any,
) -> rx.Component:
    """Draw a link that looks like a button: for navigation, not for actions."""
    classes = _class(kind, small, props.pop("class_name", ""))
    return rx.el.a(*([icon(sign, 15)] if sign else []), label, href=href, class_name=classes, **props)


def icon_button(sign: str, label: rx.Var[str] | str, *, small: bool = False, **props: Any) -> rx.Component:
    """Draw a button that is only an icon; `label` is its name and its tooltip."""
    classes = f"icon-btn {'small' if small else ''} {props.pop('class_name', '')}".strip()
    return rx.el.button(
        icon(sign, 15 if small else 16), type="button", class_name=classes, aria_label=label, title=label, **props
    )


def link(label: Any, href: rx.Var[str] | str, **props: Any) -> rx.Component:
    """Draw a link within the console (a router link: no page load)."""
    return rx.el.a(label, href=href, class_name=f"link {props.pop('class_name', '')}".strip(), **props)


def download(label: Any, href: rx.Var[str] | str, **props: Any) -> rx.Component:
    """Draw a link to a file of the API: the browser downloads it, and the router ignores it."""
    classes = props.pop("class_name", "link")
    return rx.el.a(label, href=href, download=True, class_name=classes, custom_attrs={"reloadDocument": True}, **props)


def text_button(label: Any, **props: Any) -> rx.Component:
    """Draw a button that looks like a link: for small actions within text or a table's row."""
    return rx.el.button(label, type="button", class_name="link", **props)


def kbd(key: str) -> rx.Component:
    """Draw a key of the keyboard."""
    return rx.el.kbd(key, class_name="kbd")
