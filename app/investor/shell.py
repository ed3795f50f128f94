"""The shell of an investor's pages: one column, no sidebar, phones first."""

from collections.abc import Callable, Sequence
from typing import Any

import reflex as rx

from app.shell.header import network_badge
from app.shell.layout import stripe
from components.members.memberships import pending_memberships
from components.ui.button import icon_button, link_button
from components.ui.card import avatar, print_head
from components.ui.form import NativeForm
from components.ui.icon import icon
from components.ui.note import empty
from components.ui.overlay import Notices as Toasts
from components.ui.value import Zone
from components.users.factors import proof_dialogs
from state.core.session import Session
from state.core.toasts import Notices
from state.investor.place import InvestorPlace
from state.members.memberships import PendingMemberships
from state.notifications.undo import Undo
from state.users.preferences import MyPreferences

HOME = "/i/[membership_id]"
PLACES = (
    ("Home", "house", HOME, ""),
    ("Trade", "arrow-left-right", f"{HOME}/trade", "/trade"),
    ("Documents", "file-text", f"{HOME}/documents", "/documents"),
    ("Account", "user-cog", f"{HOME}/account", "/account"),
)


def investor_page(
    *, route: str, title: str, on_load: Sequence[Any] = ()
) -> Callable[[Callable[[], rx.Component]], Callable[[], rx.Component]]:
    """Register a page of an investor. `route` begins with `/i`."""

    def wrap(draw: Callable[[], rx.Component]) -> Callable[[], rx.Component]:
        def render() -> rx.Component:
            return _shell(draw(), route)

        render.__name__, render.__module__ = draw.__name__, draw.__module__
        before = [Session.enter, MyPreferences.look, InvestorPlace.enter]
        rx.page(route=route, title=f"{title} · Signum", on_load=[*before, *on_load, PendingMemberships.look])(render)
        return draw

    return wrap


def _shell(content: rx.Component, route: str) -> rx.Component:
    lost = rx.fragment(
        rx.el.h1("Not available", class_name="sr"),
        empty(
            "lock",
            "You have no access here",
            "Your membership may have ended, or it belongs to another account. Your tokens are safe: they stay in your "
            "wallet. To get access again, ask the organization to invite you.",
            link_button("Go to your page", "/", "arrow-left"),
        ),
    )
    return rx.el.div(
        rx.el.a("Skip to content", href="#main", class_name="skip", custom_attrs={"reloadDocument": True}),
        stripe(),
        print_head(InvestorPlace.here.organization_name),
        _header(),
        _places(route),
        rx.el.main(
            pending_memberships(),
            rx.cond(InvestorPlace.is_missing, lost, content),
            id="main",
            class_name="investor-page",
            tab_index=-1,
        ),
        Zone.create(name=MyPreferences.time_zone),
        Toasts.create(items=Notices.items, on_close=Notices.close, on_undo=Undo.run),
        proof_dialogs(),
        rx.el.input(type="hidden", id="client-token", value=rx.State.router.session.client_token, read_only=True),
        class_name=rx.cond(Session.network == "devnet", "investor devnet", "investor"),
        custom_attrs={"data-hydrated": rx.State.is_hydrated},
    )


def _header() -> rx.Component:
    name = rx.cond(InvestorPlace.here.organization_name != "", InvestorPlace.here.organization_name, "Signum")
    others = rx.cond(
        InvestorPlace.places.length() > 1,
        rx.el.a("Change", href="/i", class_name="link", aria_label="Change organization"),
        rx.fragment(),
    )
    return rx.el.header(
        rx.el.span(name, class_name="strong trunc"),
        others,
        rx.el.span(class_name="end"),
        network_badge(),
        rx.color_mode_cond(
            icon_button("moon", "Use dark theme", on_click=rx.toggle_color_mode),
            icon_button("sun", "Use light theme", on_click=rx.toggle_color_mode),
        ),
        _account(),
        class_name="head",
    )


def _account() -> rx.Component:
    name = rx.el.span("Account: ", Session.name, class_name="sr")
    face = rx.el.button(avatar(Session.initials), name, class_name="icon-btn", type="button")
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
        leave,
        class_name="pop menu",
        style={"paddingBottom": "6px"},
    )
    return rx.popover.root(
        rx.popover.trigger(face),
        rx.popover.content(body, align="end", aria_label="Account", on_open_auto_focus=rx.prevent_default),
    )


def _places(route: str) -> rx.Component:
    """Draw the places: tabs on a desk, a bar at the bottom of a phone."""

    def one(name: str, sign: str, of: str, end: str) -> rx.Component:
        here = {"aria_current": "page"} if of == route else {}
        return rx.el.a(icon(sign, 16), name, href="/i/" + InvestorPlace.here.id + end, **here)

    bar = rx.el.nav(*[one(*place) for place in PLACES], class_name="investor-places", aria_label="Pages")
    return rx.cond(InvestorPlace.here.id != "", bar, rx.fragment())
