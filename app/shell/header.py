"""The header: breadcrumb, search, network, request tracker, bell, theme and account."""

from collections.abc import Sequence
from typing import Any

import reflex as rx

from app.shell.bell import bell_menu
from components.core.permission import may
from components.ui.button import button, icon_button, kbd, link, link_button
from components.ui.card import avatar
from components.ui.form import NativeForm
from components.ui.icon import icon, mark
from components.ui.note import unread
from components.ui.overlay import OpenButton
from components.ui.value import elapsed, when
from state.core.session import Crumb, Session
from state.requests.tracker import Tracker
from state.requests.views import RequestView


def header(crumbs: Sequence[tuple[Any, Any]]) -> rx.Component:
    """Draw the header of every page."""
    return rx.el.header(
        OpenButton.create(
            icon("menu", 18), target="navigation", label="Open navigation", class_name="icon-btn hamburger"
        ),
        breadcrumb(crumbs),
        request_tracker(),  # first of what is on the right, so that nothing moves when its width changes
        OpenButton.create(
            icon("search", 15),
            "Search or jump to",
            rx.el.span(kbd("⌘K"), class_name="end"),
            target="palette",
            class_name="find",
        ),
        network_badge(),
        bell_menu(),
        theme_button(),
        account_menu(),
        class_name="head",
    )


@rx.memo
def theme_button() -> rx.Component:
    """Draw the button that switches between the light and the dark theme."""
    return rx.el.span(
        rx.color_mode_cond(
            icon_button("moon", "Use dark theme", on_click=rx.toggle_color_mode),
            icon_button("sun", "Use light theme", on_click=rx.toggle_color_mode),
        ),
        class_name="hide-narrow",
    )


def breadcrumb(crumbs: Sequence[tuple[Any, Any]]) -> rx.Component:
    """Draw the parent organizations, the current one, and the page."""
    items = rx.el.ol(trail(), *[_crumb(words, href) for words, href in crumbs], class_name="crumbs")
    return rx.el.nav(items, aria_label="Breadcrumb", class_name="grow")


def _crumb(words: Any, href: Any) -> rx.Component:
    if isinstance(href, str) and not href:
        return rx.el.li(rx.el.span(words, class_name="trunc", aria_current="page"))
    return rx.el.li(rx.el.a(words, href=href, class_name="trunc"))


@rx.memo
def trail() -> rx.Component:
    """Draw the parent organizations and the current one."""

    def above(crumb: rx.Var[Crumb]) -> rx.Component:
        return rx.el.li(rx.el.a(crumb.name, href=crumb.href, class_name="trunc"), key=crumb.href)

    own = _crumb(Session.org.name, "/o/" + Session.org.id + "/overview")
    return rx.fragment(rx.foreach(Session.trail, above), rx.cond(Session.org.id != "", own, rx.fragment()))


@rx.memo
def network_badge() -> rx.Component:
    """Name the network; a devnet is unmistakable."""

    def one(name: str, sign: str, words: str, title: str) -> rx.Component:
        return rx.el.span(
            icon(sign, 14), rx.el.span(words, class_name="word"), class_name=f"network {name}-badge", title=title
        )

    return rx.match(
        Session.network,
        (
            "devnet",
            one(
                "devnet", "flask-conical", "Devnet", "Embedded chains, which count as testnet. Nothing here has value."
            ),
        ),
        ("testnet", one("testnet", "test-tube-diagonal", "Testnet", "Test networks. Assets here have no value.")),
        ("mainnet", one("mainnet", "globe", "Mainnet", "Real networks. Assets here have real value.")),
        rx.fragment(),
    )


@rx.memo
def request_tracker() -> rx.Component:
    """Draw the counts of running and failed requests; pressed, the newest requests, live."""
    running = rx.cond(
        Tracker.running > 0,
        rx.el.span(
            icon("loader-circle", 15, spin=True, class_name="info"),
            Tracker.running,
            rx.el.span(" running", class_name="word"),
            class_name="row tight",
        ),
        rx.fragment(),
    )
    failed = rx.cond(
        Tracker.failed > 0,
        rx.el.span(
            icon("circle-x", 15, class_name="bad"),
            Tracker.failed,
            rx.el.span(" failed", class_name="word"),
            class_name="row tight",
        ),
        rx.fragment(),
    )
    lost = rx.cond(Tracker.problem != "", icon("cloud-off", 15, class_name="bad"), rx.fragment())
    idle = rx.cond(
        (Tracker.running == 0) & (Tracker.failed == 0),
        rx.el.span(
            rx.cond(Tracker.problem == "", icon("list-checks", 15, class_name="idle"), rx.fragment()),
            rx.el.span("Requests", class_name="word", aria_hidden="true"),
            class_name="row tight",
        ),
        rx.fragment(),
    )
    told = rx.el.span(rx.cond(Tracker.problem != "", "Requests could not be loaded. ", "Requests: "), class_name="sr")
    face = rx.el.button(told, lost, running, failed, idle, class_name="track", type="button")
    return rx.popover.root(
        rx.popover.trigger(face),
        rx.popover.content(_tracked(), align="end", aria_label="Requests", on_open_auto_focus=rx.prevent_default),
    )


def _tracked() -> rx.Component:
    none = rx.el.div("No requests yet.", class_name="muted", style={"padding": "4px 14px 16px"})
    rows = rx.el.ul(rx.foreach(Tracker.rows, _tracked_row), class_name="list")
    all_requests = "/o/" + Session.org.id + "/requests"
    failed = "View " + Tracker.failed.to_string() + " failed"
    return rx.el.div(
        rx.el.div(
            rx.el.h2("Requests", class_name="title-3"),
            rx.el.span(
                rx.cond(Tracker.failed > 0, link(failed, all_requests + "?status=failed"), rx.fragment()),
                link("All requests", all_requests),
                class_name="end row",
            ),
            class_name="pop-head",
        ),
        rx.cond(
            Tracker.problem != "",
            rx.el.div(unread("Requests did not load. " + Tracker.problem, Tracker.watch), class_name="unread-row"),
            rx.fragment(),
        ),
        rx.cond(Tracker.rows.length() > 0, rows, rx.cond(Tracker.problem != "", rx.fragment(), none)),
        class_name="pop",
    )


def _tracked_row(request: rx.Var[RequestView]) -> rx.Component:
    sign = rx.match(
        request.status,
        ("running", mark("loader-circle", "info", spin=True)),
        ("accepted", mark("clock", "info")),
        ("awaiting_approval", mark("user-check", "warn")),
        ("failed", mark("circle-x", "bad")),
        ("denied", mark("ban", "bad")),
        ("withdrawn", mark("undo-2")),
        mark("check", "ok"),
    )
    moving = (request.status == "running") | (request.status == "accepted")
    retry = button("Retry", small=True, on_click=Tracker.retry(request.id))
    can_retry = request.can_retry & may(request.scope)
    right = rx.cond(moving, elapsed(request.created_at), when(request.updated_at))
    href = "/o/" + Session.org.id + "/requests?id=" + request.id
    step = link_button(request.fix.label, request.fix_href, kind="primary", small=True)
    steps = rx.el.div(
        rx.cond(request.fix_href != "", step, rx.fragment()),
        rx.cond(can_retry, retry, rx.fragment()),
        class_name="row wrap fix-step",
    )
    return rx.el.li(
        sign,
        rx.el.div(
            rx.el.a(request.title, href=href, class_name="link plain two-lines"),
            rx.cond(request.line != "", rx.el.div(request.line, class_name="below two-lines"), rx.fragment()),
            rx.cond((request.fix_href != "") | can_retry, steps, rx.fragment()),
            class_name="grow",
        ),
        rx.el.div(right, class_name="muted small num nowrap"),
        class_name="item",
        key=request.id,
    )


@rx.memo
def account_menu() -> rx.Component:
    """Draw the account menu: theme and sign-out. Signing out loads a page, because only that clears the cookie."""
    name = rx.el.span("Account: ", Session.name, class_name="sr")
    face = rx.el.button(avatar(Session.initials), name, class_name="icon-btn", type="button")
    theme = rx.el.button(
        icon("sun-moon", 16), "Change theme", type="button", class_name="menu-item", on_click=rx.toggle_color_mode
    )
    leave = NativeForm.create(
        rx.el.button(icon("log-out", 16), "Sign out", type="submit", class_name="menu-item"),
        action="/session/end",
        method="post",
    )
    body = rx.el.div(
        rx.el.div(
            rx.el.div(Session.name, class_name="strong trunc"),
            rx.el.div(Session.email, class_name="muted small trunc"),
            style={"padding": "12px 14px 8px"},
        ),
        rx.el.a(icon("user-cog", 16), "Account", href="/o/" + Session.org.id + "/account", class_name="menu-item"),
        theme,
        leave,
        class_name="pop menu",
        style={"paddingBottom": "6px"},
    )
    return rx.popover.root(
        rx.popover.trigger(face),
        rx.popover.content(body, align="end", aria_label="Account", on_open_auto_focus=rx.prevent_default),
    )


__all__ = ["header", "link_button", "network_badge"]
