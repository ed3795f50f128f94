"""The first page of an organization."""

import reflex as rx

from app.shell.layout import Nav, page
from components.core.permission import Scope, allowed, may
from components.insight.calendar import calendar_card
from components.insight.figures import assets_card, chart_card, figures
from components.notifications.list import inbox
from components.organizations.getting_started import getting_started
from components.organizations.overview import chains_card, counts_strip, recent_card
from components.tour.card import tour_offer
from components.ui.box import split
from components.ui.button import button, link_button
from components.ui.card import page_head
from components.ui.note import failure, forbidden, page_skeleton
from state.approvals.own import OwnApprovals
from state.core.session import Session
from state.insight.overview import InsightState
from state.organizations.overview import OverviewState

PLACE = "/o/" + Session.org.id + "/"


@page(
    route="/o/[org_id]/overview",
    title="Overview",
    nav=Nav("", "layout-dashboard", 0, "o"),
    on_load=[OverviewState.load, OwnApprovals.load],
    in_url=[InsightState],
)
def overview() -> rx.Component:
    """Draw the figures, what waits and what ends, the year, the newest requests and the chains."""
    counts = OverviewState.counts
    direct = rx.cond(counts.subs == 1, " and 1 direct sub-organization", f" and {counts.subs} direct sub-organizations")
    in_all = rx.cond(counts.subs_all > counts.subs, f" ({counts.subs_all} in all)", "")
    below = rx.cond(counts.subs == 0, "", rx.fragment(direct, in_all))
    head = page_head(
        "Overview",
        rx.fragment(Session.org.name, below),
        rx.cond(
            may(Scope.MEMBERS_WRITE),
            link_button("Invite people", PLACE + "eligibility", "user-plus", kind="primary"),
            allowed(
                Scope.TRANSFERS_WRITE,
                link_button("View markets", PLACE + "markets", "store"),
                link_button("View transfers", PLACE + "transfers", "send", kind="primary"),
            ),
        ),
    )
    again = button("Try again", "rotate-cw", on_click=OverviewState.load)
    broken = rx.cond(
        OverviewState.is_forbidden,
        forbidden(OverviewState.problem),
        failure("The overview did not load", OverviewState.problem, again),
    )
    body = rx.fragment(
        tour_offer(),
        getting_started(),
        figures(),
        rx.el.div(
            split(inbox(), calendar_card()),
            chart_card(),
            assets_card(),
            split(recent_card(), chains_card()),
            counts_strip(),
            class_name="overview-parts",
        ),
    )
    return rx.cond(
        OverviewState.problem != "",
        rx.fragment(head, rx.el.div(broken, class_name="card")),
        rx.cond(OverviewState.loading, page_skeleton(), rx.fragment(head, body)),
    )
