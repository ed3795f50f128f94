"""The guided tour's card at the bottom, and its offer on the overview."""

import reflex as rx

from components.ui.button import button, icon_button, link_button
from components.ui.icon import mark
from components.ui.value import Local
from state.core.session import Session
from state.tour.guide import Tour
from state.users.preferences import MyPreferences

OFFER = "tour"
"""The offer's name among the cards that a person can hide."""
SLOW = 2_000
"""Milliseconds between two looks at what has happened."""


class Guide(Local):
    """Outlines the first of `points` in view, stores `stored` in the browser, and calls `on_look` with it regularly,
    and when the person has another `role`."""

    library = "$/public/react/tour.jsx"
    tag = "Guide"

    points: rx.Var[list[dict[str, str]]]
    pause: rx.Var[int]
    stored: rx.Var[str]
    role: rx.Var[str]

    on_look: rx.EventHandler[rx.event.passthrough_event_spec(str)]


@rx.memo
def tour() -> rx.Component:
    """Draw the tour that the person takes; nothing without one."""
    points = rx.cond(Tour.is_left | (Tour.total == 0), [], Tour.points)
    return rx.fragment(
        Guide.create(points=points, pause=SLOW, stored=Tour.stored, role=Session.org.role, on_look=Tour.look),
        rx.cond(Tour.total > 0, rx.cond(Tour.is_left, _resume(), _card()), rx.fragment()),
    )


def _card() -> rx.Component:
    is_over = Tour.number > Tour.total
    is_second = (Tour.name == "officer") & (Session.org.role != "compliance_officer")
    step = rx.fragment(
        rx.el.div(
            rx.el.span(_place(), class_name="muted small num"),
            rx.el.h2(Tour.title, class_name="title-3"),
            rx.el.p(Tour.why, class_name="muted"),
        ),
        rx.el.p(rx.cond(Tour.progress != "", rx.el.b(Tour.progress, " "), rx.fragment()), Tour.what),
        rx.el.div(
            link_button("Show me", Tour.href, "arrow-right", small=True),
            button("Pause", small=True, kind="quiet", on_click=Tour.leave(True)),
            class_name="row",
        ),
    )  # fmt: skip
    over = rx.fragment(
        mark("party-popper", "ok"),
        rx.el.div(
            rx.el.h2("You have seen it all happen", class_name="title-3"),
            rx.el.p(
                "Every step was real: it is on the chains and in the audit log.",
                rx.cond(is_second, rx.fragment(" You are signed in as ", Session.name, ", the second person."), ""),
                class_name="muted",
            ),
        ),
        rx.cond(
            Session.org.role == "admin",
            link_button(
                "Try to break it", "/o/" + Session.org.id + "/attempts", "hammer", small=True, on_click=Tour.end
            ),
            rx.fragment(),
        ),
    )
    return rx.el.aside(
        rx.cond(is_over, over, step),
        icon_button("x", "End tour", small=True, on_click=Tour.end, class_name="tour-end"),
        class_name="tour",
        aria_label="Guided tour",
        aria_live="polite",
    )


def _place() -> rx.Component:
    return rx.fragment("Step ", Tour.number, " of ", Tour.total)


def _resume() -> rx.Component:
    return rx.el.aside(
        button("Resume tour", "signpost", small=True, on_click=Tour.leave(False)),
        icon_button("x", "End tour", small=True, on_click=Tour.end),
        class_name="tour left",
        aria_label="Guided tour",
    )


def tour_offer() -> rx.Component:
    """Offer the tour for the person's role, on embedded chains, until they begin or hide it; one that they left, for
    now, is offered where it stopped."""
    words = rx.cond(
        Session.org.role == "admin",
        "Issue a fund, verify an investor, open a market and trade, in five minutes.",
        "Review, attest, revoke, force a transfer that a second person decides about, and check the audit log, in five "
        "minutes.",
    )
    offer = rx.el.section(
        mark("signpost", "info"),
        rx.el.div(
            rx.el.h2("New here?", class_name="title-3"), rx.el.p(words, class_name="muted"), class_name="grow"
        ),
        button("Start tour", "play", kind="primary", on_click=Tour.begin),
        button("Hide", kind="quiet", on_click=MyPreferences.hide(OFFER), aria_label="Hide the tour"),
        class_name="card tour-offer",
        aria_label="Guided tour",
    )  # fmt: skip
    has_one = (Session.org.role == "admin") | (Session.org.role == "compliance_officer")
    is_wanted = (Session.network == "devnet") & has_one & (Tour.total == 0) & ~MyPreferences.hidden.contains(OFFER)
    begun = rx.el.section(
        mark("signpost", "info"),
        rx.el.div(
            rx.el.h2(Tour.title, class_name="title-3"),
            rx.el.p(_place(), " of the tour. What you have done stays done.", class_name="muted"),
            class_name="grow",
        ),
        button("Continue the tour", "play", kind="primary", on_click=Tour.leave(False)),
        class_name="card tour-offer",
        aria_label="The tour you left",
    )
    return rx.cond(is_wanted, offer, rx.cond(Tour.is_left & (Tour.total > 0), begun, rx.fragment()))
