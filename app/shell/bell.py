"""The bell: how much waits for the user, and the list of it, live."""

import reflex as rx

from components.notifications.list import entered, no_entries, sign, words
from components.ui.icon import icon
from components.ui.note import unread
from components.ui.overlay import Live
from components.ui.status import tag
from state.notifications.bell import Bell
from state.notifications.views import NotificationView

MOST = 99


@rx.memo
def bell_menu() -> rx.Component:
    """Draw the bell with the number of what waits; pressed, the list of it."""
    shown = rx.cond(Bell.total > MOST, f"{MOST}+", Bell.total.to_string())
    count = rx.cond(Bell.total > 0, rx.el.span(shown, class_name="n"), rx.fragment())
    new = rx.cond(Bell.unseen > 0, ", " + Bell.unseen.to_string() + " new", "")
    told = rx.cond(
        Bell.problem != "", " (could not be loaded)", rx.cond(Bell.total > 0, " waiting" + new, "nothing waits")
    )
    face = rx.el.button(
        icon("bell", 16),
        rx.el.span("Notifications: ", class_name="sr"),
        count,
        rx.el.span(told, class_name="sr"),
        class_name=rx.cond(Bell.unseen > 0, "track bell new", "track bell"),
        type="button",
    )
    return rx.fragment(
        rx.popover.root(
            rx.popover.trigger(face),
            rx.popover.content(_list(), align="end", aria_label="Notifications", on_open_auto_focus=rx.prevent_default),
            on_open_change=Bell.see,
        ),
        Live.create(turn=Bell.turn, on_turn=Bell.follow),
    )


def _list() -> rx.Component:
    rows = rx.el.ul(rx.foreach(Bell.rows, _entry), class_name="list")
    stale = rx.el.div(unread("This list may be out of date. " + Bell.problem, Bell.load), class_name="unread-row")
    groups = Bell.rows.length()
    spoken = Bell.total.to_string() + " items in " + groups.to_string() + rx.cond(groups == 1, " group", " groups")
    grouped = rx.cond(Bell.total > groups, rx.el.span(spoken, class_name="end muted small"), rx.fragment())
    return rx.el.div(
        rx.el.div(rx.el.h2("Notifications", class_name="title-3"), grouped, class_name="pop-head"),
        rx.cond(
            Bell.rows.length() > 0,
            rx.fragment(rx.cond(Bell.problem != "", stale, rx.fragment()), rows),
            no_entries(),
        ),
        class_name="pop",
    )


def _entry(entry: rx.Var[NotificationView]) -> rx.Component:
    link = rx.el.a(entry.title, href=entry.href, class_name="link plain")
    return rx.el.li(
        sign(entry.kind),
        words(entry, rx.popover.close(link)),
        rx.el.div(
            rx.el.div(entered(entry), class_name="muted small num nowrap"),
            rx.cond(entry.is_seen, rx.fragment(), tag("New", "info")),
            class_name="right",
        ),
        class_name="item",
        key=entry.id,
    )
