"""The parts of the overview."""

from typing import Any

import reflex as rx

from components.requests.waiting import is_own
from components.ui.button import button, link
from components.ui.card import card, items
from components.ui.note import empty, failure, skeleton
from components.ui.status import status
from components.ui.value import when
from state.core.session import Session
from state.organizations.counts import EnabledChainView
from state.organizations.overview import OverviewState
from state.requests.tracker import Tracker
from state.requests.views import RequestView

FAINT, OK, WARN, BAD = "var(--line-2)", "var(--ok-i)", "var(--warn-i)", "var(--bad-i)"
RECENT = 6


def _to(place: str) -> rx.Var[str]:
    return "/o/" + Session.org.id + "/" + place


def counts_strip() -> rx.Component:
    """Draw what the organization has, each number linked to its page."""
    n = OverviewState.counts
    return rx.el.div(
        _count("Members", n.members, "members", _clients(n.clients)),
        _count("Assets", n.assets, "assets", rx.cond(n.failed_assets > 0, f"{n.failed_assets} failed", "")),
        _count("Transactions", n.transactions, "requests", rx.cond(n.failed > 0, f"{n.failed} failed", "")),
        _count("API keys", n.live_keys, "api-keys", rx.cond(n.revoked_keys > 0, f"{n.revoked_keys} revoked", "")),
        class_name="card strip",
        role="group",
        aria_label="Organization",
    )


def _clients(count: rx.Var[int]) -> rx.Var[str]:
    return rx.cond(count == 1, "including 1 client", rx.cond(count > 0, f"including {count} clients", "")).to(str)


def _count(label: str, number: rx.Var[int], place: str, more: Any) -> rx.Component:
    return rx.el.a(
        rx.el.span(label, class_name="muted small"),
        rx.el.span(number, class_name="of"),
        rx.el.span(more, class_name="muted small"),
        href=_to(place),
    )


def recent_card() -> rx.Component:
    """Draw the newest requests, which the header's tracker keeps live."""
    none = empty("list-checks", "No requests yet", "Operations on a chain appear here, step by step.")
    rows = items(rx.foreach(Tracker.rows[:RECENT], _recent))
    again = button("Try again", "rotate-cw", on_click=Tracker.watch)
    body = rx.cond(
        Tracker.problem != "",
        failure("The newest requests did not load", Tracker.problem, again),
        rx.cond(Tracker.is_read, rx.cond(Tracker.rows.length() > 0, rows, none), skeleton(3)),
    )
    order = rx.cond(Tracker.is_urgent_first, "open and failed first", "")
    return card("Recent requests", body, count=order, right=link("All requests", _to("requests")))


def _recent(request: rx.Var[RequestView]) -> rx.Component:
    by = rx.cond(is_own(request), "by you", rx.cond(request.created_by != "", "by " + request.created_by, "")).to(str)
    waits = request.status == "awaiting_approval"
    line = rx.cond(
        request.line == "", by, rx.cond(waits & (by != ""), request.line + ", requested " + by, request.line)
    )
    return rx.el.li(
        rx.el.div(
            rx.el.a(request.title, href=_to("requests?id=") + request.id, class_name="link plain title"),
            rx.el.div(line, class_name="below break"),
            class_name="grow",
        ),
        rx.el.span(status(request.status), class_name="recent-status"),
        rx.el.span(when(request.created_at), class_name="muted small right recent-time"),
        class_name="item",
        key=request.id,
    )


def chains_card() -> rx.Component:
    """Draw the enabled chains."""
    none = empty("link", "No chains enabled", "Enable one to deploy assets and markets.")
    rows = items(rx.foreach(OverviewState.chains, _chain))
    wallets = rx.el.span(OverviewState.counts.wallets, " wallets can use them")
    one = rx.el.span("1 wallet can use them")
    foot = rx.fragment(
        rx.cond(OverviewState.counts.wallets == 1, one, wallets),
        rx.el.span(link("Chains", _to("chains")), class_name="end"),
    )
    again = button("Try again", "rotate-cw", busy=OverviewState.reading, on_click=OverviewState.load)
    body = rx.cond(OverviewState.chains.length() > 0, rows, none)
    lost = failure("The chains did not load", OverviewState.chains_problem, again)
    is_lost = OverviewState.chains_problem != ""
    return card(
        "Enabled chains",
        rx.cond(is_lost, lost, body),
        count=rx.cond(is_lost, rx.fragment(), OverviewState.chains.length()),
        foot=foot,
    )


def _chain(chain: rx.Var[EnabledChainView]) -> rx.Component:
    dot = rx.match(chain.status, ("active", OK), ("degraded", WARN), ("down", BAD), FAINT)
    block = rx.cond(chain.height > 0, f"Block {chain.height}", "Not read yet")
    return rx.el.li(
        rx.el.span(class_name="dot round", style={"background": dot}),
        rx.el.div(
            rx.el.div(chain.name, class_name="title"),
            rx.el.div(block, class_name="below num"),
            class_name="grow",
        ),
        rx.cond((chain.status != "") & (chain.status != "active"), status(chain.status), rx.fragment()),
        class_name="item chain-line",
        key=chain.id,
    )
