"""The sidebar: the organization switcher and the list of pages.

What every page shows is memoized (`rx.memo`): compiled once, in one module that the browser loads once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import reflex as rx

from app.shell.theme import brand
from components.core.permission import Scope
from components.ui.button import icon_button, kbd
from components.ui.card import logo
from components.ui.dialog import dialog
from components.ui.icon import icon
from components.ui.overlay import OpenButton, Picker
from state.core.session import Session
from state.core.shell import Shell


@dataclass(frozen=True)
class View:
    """What a page shows with `query` in its URL. The palette finds it by its label and further `words`."""

    label: str
    query: str
    words: str = ""


@dataclass(frozen=True)
class Action:
    """Something to create on a page, which the palette finds by the label of its button and further `words`.

    `opens`: the event that opens its dialog; `path`: instead, its page below this one.
    """

    label: str
    needs: Scope
    opens: Any = None
    path: str = ""
    words: str = ""

    @property
    def name(self) -> str:
        """Return its name in the page's URL."""
        return self.label.lower().replace(" ", "-")


@dataclass(frozen=True)
class Place:
    """A page in the sidebar."""

    route: str
    label: str
    icon: str
    group: str
    order: int
    key: str
    count: Any
    shown: Any
    views: Sequence[View] = ()
    actions: Sequence[Action] = ()
    words: str = ""

    @property
    def href(self) -> rx.Var[str]:
        """Return the page's path for the current organization."""
        return "/o/" + Session.org.id + self.route.removeprefix("/o/[org_id]")


places: list[Place] = []
"""Every page with a `nav`, added by `@page` when its module is imported."""


@rx.memo
def sidebar(current: rx.Var[str]) -> rx.Component:
    """Draw the sidebar at the left; `current` is the route to mark."""
    return _sidebar(switcher(), current, _keys_button())


@rx.memo
def sidebar_in_sheet(current: rx.Var[str]) -> rx.Component:
    """Draw the sidebar in the sheet of a phone; `current` is the route to mark."""
    return _sidebar(switcher_in_sheet(), current)


def _sidebar(top: rx.Component, current: rx.Var[str], *foot: rx.Component) -> rx.Component:
    ordered = sorted(places, key=lambda place: place.order)
    entries: list[rx.Component] = []
    for group, members in groupby(ordered, key=lambda place: place.group):
        if group:
            entries.append(rx.el.h2(group))
        entries.extend(_entry(place, current) for place in members)
    return rx.el.div(
        rx.el.div(top, class_name="side-top"),
        rx.el.nav(*entries, class_name="nav", aria_label="Main"),
        rx.el.div(
            *brand(),
            rx.el.span(class_name="end"),
            *foot,
            class_name="side-foot",
        ),
        class_name="side-in",
    )


def _keys_button() -> rx.Component:
    return icon_button(
        "keyboard", "Keyboard shortcuts", small=True, on_click=Shell.show_keys(True), custom_attrs={"data-keys": ""}
    )


def _entry(place: Place, current: rx.Var[str]) -> rx.Component:
    here = rx.cond(current == place.route, "page", rx.Var("undefined"))
    count = []
    if place.count is not None:
        unknown = rx.el.span(
            "?", class_name="count", title="The count is unavailable", role="img", aria_label="not counted"
        )
        known = rx.el.span(place.count, class_name="count")
        count = [rx.cond(place.count == "", rx.fragment(), rx.cond(place.count == "?", unknown, known))]
    attrs = {"custom_attrs": {"data-go": place.key}} if place.key else {}
    link = rx.el.a(icon(place.icon), place.label, *count, href=place.href, aria_current=here, **attrs)
    return link if place.shown is True else rx.cond(place.shown, link, rx.fragment())


def _face() -> list[rx.Component]:
    """Draw the current organization and its parent."""
    above = rx.cond(Session.org.above != "", Session.org.above, Session.org.role.replace("_", " "))
    return [
        logo(Session.org.initials),
        rx.el.span(
            rx.el.span(Session.org.name, class_name="name trunc"),
            rx.el.span(above, class_name="above trunc"),
            class_name="grow col none",
        ),
        rx.el.span(". Switch organization", class_name="sr"),
        icon("chevrons-up-down", 14, color="var(--fg-2)"),
    ]


def switcher_in_sheet() -> rx.Component:
    """Draw the current organization; pressed, it opens the palette, because a popover would be below the sheet."""
    return OpenButton.create(*_face(), target="palette", class_name="switch")


def switcher() -> rx.Component:
    """Draw the current organization; pressed, it finds another one and opens the same kind of page there."""
    face = rx.el.button(*_face(), class_name="switch", type="button")
    body = rx.el.div(
        Picker.create(
            items=Session.found, found_for=Session.found_for, value=Session.org.id, on_search=Session.find,
            on_pick=Shell.switched, focused=True,
            label="Find an organization", placeholder="Find an organization", none="No organizations match",
        ),
        class_name="pop narrow",
    )  # fmt: skip
    return rx.popover.root(
        rx.popover.trigger(face),
        rx.popover.content(body, align="start", side_offset=6, aria_label="Switch organization"),
        open=Shell.switching,
        on_open_change=Shell.open_switcher,
    )


def _keys(rows: list[tuple[str, list[str]]]) -> rx.Component:
    lines = [
        rx.el.div(rx.el.dt(words), rx.el.dd(*[part for key in keys for part in (kbd(key), " ")]))
        for words, keys in rows
    ]
    return rx.el.dl(*lines, class_name="keys")


@rx.memo
def keys_dialog() -> rx.Component:
    """List the keyboard shortcuts."""
    rows = [
        ("Find on this page", ["/"]),
        ("Jump to a page or organization", ["⌘ or Ctrl", "K"]),
        ("Show shortcuts", ["?"]),
    ]
    lists = [
        ("Next or previous row of a list", ["J", "K"]),
        ("Select the row", ["X"]),
        ("Select further rows", ["Shift", "J or K"]),
        ("Actions on selected rows", ["A"]),
        ("Close the row's details", ["Esc"]),
    ]
    pages = [
        (f"Go to {place.label}", ["G", place.key.upper()])
        for place in sorted(places, key=lambda p: p.order)
        if place.key
    ]
    return dialog(
        "Keyboard shortcuts",
        "Shortcuts work while no text field has focus.",
        *[
            rx.fragment(rx.el.h2(title, class_name="label"), _keys(shown))
            for title, shown in (("General", rows), ("Lists", lists), ("Pages", pages))
        ],
        is_open=Shell.keys_shown,
        on_open_change=Shell.show_keys,
        width="720px",
        is_text=True,
    )
