"""The shell around every page, and `@page`, which adds a page to the shell, the router and the sidebar."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import reflex as rx

from app.shell.header import header, network_badge
from app.shell.sidebar import Action, Place, View, keys_dialog, places, sidebar, sidebar_in_sheet
from components.core.permission import Scope, may, who_can
from components.members.memberships import pending_memberships
from components.requests.fix import fix_dialog
from components.tour.card import tour
from components.ui.address import address
from components.ui.button import link_button
from components.ui.card import page_head, print_head
from components.ui.note import empty, failure, page_skeleton
from components.ui.overlay import FieldMessages, Keys, Palette, Sheet
from components.ui.overlay import Notices as Toasts
from components.ui.value import Zone
from components.users.factors import factor_advice, proof_dialogs
from state.core.address import Addressed
from state.core.search import DialogLink, Finder, dialogs
from state.core.session import Session
from state.core.toasts import Notices
from state.members.memberships import PendingMemberships
from state.notifications.bell import Bell
from state.notifications.undo import Undo
from state.requests.tracker import Tracker
from state.users.preferences import MyPreferences

SLOGAN = "Tokenized assets, under your rules"


@dataclass(frozen=True)
class Nav:
    """A page's entry in the sidebar. `key` is the letter of its shortcut (`g`, then the letter).

    `count`: a Var of text: a number, empty, or "?" where it is unknown.
    `shown`: a Var that hides the entry, for pages that only some installations have.
    `views`: views of the page that the palette finds too; `actions`: what people create there; `words`: what else they
    call the page.
    """

    group: str
    icon: str
    order: int
    key: str = ""
    label: str = ""
    count: Any = None
    shown: Any = True
    views: Sequence[View] = ()
    actions: Sequence[Action] = ()
    words: str = ""


addressed: dict[str, tuple[type[Addressed], ...]] = {}
"""By route: the states whose view is in the page's URL."""
ADVISED = ("/o/[org_id]/overview",)
"""The pages that advise to set up a second factor; the account's page has the buttons itself."""


def page(
    *,
    route: str,
    title: str,
    nav: Nav | None = None,
    under: str = "",
    crumbs: Sequence[tuple[Any, Any]] = (),
    on_load: Sequence[Any] = (),
    is_own: bool = False,
    needs: Scope | None = None,
    in_url: Sequence[type[Addressed]] = (),
) -> Callable[[Callable[[], rx.Component]], Callable[[], rx.Component]]:
    """Register a page.

    `route` begins with `/o/[org_id]/`; `under` is the route of the sidebar entry that a detail page belongs to;
    `crumbs` are (text, href) pairs after the organization, the last one with an empty href; by default the title. If
    the last crumb is a Var, it is the document's title too. `is_own`: the page is about the user, so it is drawn even
    where the organization cannot be shown. `needs`: the scope of the page's only purpose, such as a new asset; people
    without it read who has it instead. `in_url`: the states whose view is in the page's URL.
    """

    def wrap(draw: Callable[[], rx.Component]) -> Callable[[], rx.Component]:
        if nav is not None:
            places.append(Place(route, **(vars(nav) | {"label": nav.label or title})))
        opened = {one.name: (one.needs, one.opens) for one in nav.actions if one.opens} if nav is not None else {}
        dialogs.update(opened)
        states = [*in_url, DialogLink] if opened else in_url
        addressed[route] = tuple(states)

        def render() -> rx.Component:
            drawn = draw() if needs is None else rx.cond(may(needs), draw(), _not_permitted(title, needs, crumbs[:-1]))
            shown = rx.fragment(drawn, address(states)) if states else drawn
            return shell(shown, current=under or route, crumbs=crumbs or [(title, "")], is_own=is_own)

        render.__name__ = draw.__name__
        render.__module__ = draw.__module__
        name = crumbs[-1][0] if crumbs and isinstance(crumbs[-1][0], rx.Var) else title
        shown = name if is_own else rx.cond(Session.problem != "", "Not available", name).to(str)
        look = [PendingMemberships.look, Bell.look, Tracker.watch]
        opening = [DialogLink.follow] if opened else []
        events = [Session.enter, MyPreferences.look, *on_load, *opening, *look]
        rx.page(route=route, title=shown + " · Signum", on_load=events)(render)
        return draw

    return wrap


def _not_permitted(title: str, scope: Scope, above: Sequence[tuple[Any, Any]]) -> rx.Component:
    """Draw who may do what a page is for, and the ways back."""
    places = above or [("Overview", "/o/" + Session.org.id + "/overview")]
    back = [link_button(f"Back to {name.lower()}", href, "arrow-left") for name, href in places]
    return rx.fragment(
        page_head(title),
        rx.el.div(empty("lock", "Your role cannot do this", who_can(scope), *back), class_name="card"),
    )


def shell(
    content: rx.Component, *, current: str, crumbs: Sequence[tuple[Any, Any]], is_own: bool = False
) -> rx.Component:
    """Draw sidebar, header and content; instead of the content, a skeleton or why the organization cannot be shown."""
    inner = rx.cond(Session.problem != "", refused(), rx.cond(Session.org.id != "", content, page_skeleton()))
    inner = content if is_own else inner
    return rx.el.div(
        rx.el.a("Skip to content", href="#main", class_name="skip", custom_attrs={"reloadDocument": True}),
        stripe(),
        rx.el.aside(sidebar(current=current), class_name="side", aria_label="Sidebar"),
        rx.el.div(
            print_head(Session.org.name),
            header(crumbs),
            rx.el.main(
                *([factor_advice()] if current in ADVISED else []),
                pending_memberships(),
                inner,
                id="main",
                class_name="page",
                tab_index=-1,
            ),
            class_name="body",
        ),
        Sheet.create(sidebar_in_sheet(current=current), name="navigation", label="Navigation"),
        overlays(),
        tour(),
        FieldMessages.create(),
        keys_dialog(),
        fix_dialog(),
        proof_dialogs(),
        class_name=rx.cond(Session.network == "devnet", "shell devnet", "shell"),
        custom_attrs={"data-hydrated": rx.State.is_hydrated},
    )


@rx.memo
def refused() -> rx.Component:
    """Draw why the organization cannot be shown."""
    unavailable = rx.fragment(
        rx.el.h1("Not available", class_name="sr"),
        failure(
            "This organization cannot be shown", Session.problem, link_button("Your organization", "/", "arrow-left")
        ),
    )
    factorless = rx.fragment(
        rx.el.h1("Second factor required", class_name="sr"),
        empty(
            "shield",
            "Set up a second factor first",
            Session.problem,
            link_button("Set up second factor", Session.account_path, "shield", kind="primary"),
        ),
    )
    return rx.cond(Session.needs_factor, factorless, unavailable)


@rx.memo
def overlays() -> rx.Component:
    """Draw what opens over every page: the palette and the toasts."""
    return rx.fragment(
        Palette.create(pages=jumps(), found=Finder.found, found_for=Finder.found_for, on_search=Finder.find),
        Zone.create(name=MyPreferences.time_zone),
        Toasts.create(items=Notices.items, on_close=Notices.close, on_undo=Undo.run),
        Keys.create(),
        rx.el.input(type="hidden", id="client-token", value=rx.State.router.session.client_token, read_only=True),
    )


def entrance(title: Any, *children: rx.Component, sub: Any = SLOGAN) -> rx.Component:
    """Draw a page outside of any organization: a narrow column for users who are not signed in yet. `sub` says what
    they do here."""
    below = rx.el.div(network_badge(), "Embedded chains. Nothing here has value.", class_name="below")
    return rx.el.div(
        stripe(),
        rx.el.main(
            rx.el.header(
                rx.el.img(src="/favicon.svg", alt=""),
                rx.el.h1(title),
                rx.el.p(sub, class_name="muted"),
            ),
            *children,
            rx.cond(Session.network == "devnet", below, rx.fragment()),
            class_name="sign-in",
        ),
        FieldMessages.create(),
        class_name=rx.cond(Session.network == "devnet", "sign-in-page devnet", "sign-in-page"),
        custom_attrs={"data-hydrated": rx.State.is_hydrated},
    )


@rx.memo
def stripe() -> rx.Component:
    """Draw the warning stripe of a devnet."""
    return rx.cond(Session.network == "devnet", rx.el.div(class_name="stripe", aria_hidden="true"), rx.fragment())


def jumps() -> list[dict[str, Any]]:
    """Return the pages that the command palette lists, and below them their views and actions, which need a text."""
    ordered = sorted(places, key=lambda place: place.order)
    return [
        *[
            {
                "id": place.route,
                "label": place.label,
                "words": place.words,
                "group": "Pages",
                "keys": ["G", place.key.upper()] if place.key else [],
                "href": place.href,
                "off": False if place.shown is True else ~place.shown,
            }
            for place in ordered
        ],
        *[
            {
                "id": f"{place.route}?{view.query}",
                "label": view.label,
                "words": view.words,
                "late": True,
                "group": "Pages",
                "href": place.href + f"?{view.query}",
                "off": False if place.shown is True else ~place.shown,
            }
            for place in ordered
            for view in place.views
        ],
        *[
            {
                "id": f"{place.route}?new={action.name}",
                "label": action.label,
                "sub": place.label,
                "words": f"new, create, {action.words}",
                "late": True,
                "group": "Actions",
                "href": place.href + (action.path or f"?new={action.name}"),
                "off": ~may(action.needs),
            }
            for place in ordered
            for action in place.actions
        ],
    ]
