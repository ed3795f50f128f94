"""The parts of the overview."""

from typing import Any

import reflex as rx

from components.ui.button import button, link
from components.ui.card import card, items, tile
from components.ui.charts import legend, seg
from components.ui.note import empty, failure, skeleton
from components.ui.status import status
from components.ui.value import when
from state.core.session import Session
from state.organizations.counts import EnabledChainView
from state.organizations.overview import OverviewState
from state.requests.tracker import Tracker
from state.requests.views import RequestView

MAIN, LIGHT, FAINT, OK, WARN, BAD = (
    "var(--c1)",
    "var(--c2)",
    "var(--line-2)",
    "var(--ok-i)",
    "var(--warn-i)",
    "var(--bad-i)",
)
RECENT = 6


def _to(place: str) -> rx.Var[str]:
    return "/o/" + Session.org.id + "/" + place


def _tile(label: str, sign: str, value: Any, place: str, *parts: tuple[Any, Any, str]) -> rx.Component:
    """Draw a tile with one bar cut into (number, word, color)."""
    bar = seg(*[(number, color) for number, _, color in parts])
    return tile(label, sign, value, chart=bar, legend=_legend(*parts), href=_to(place))


def _legend(*parts: tuple[Any, Any, str]) -> rx.Component:
    """Explain the colors; entries with a count of 0 are hidden, except the first."""
    names = [legend(part) for part in parts]
    first, rest = names[0].children, zip(parts[1:], names[1:], strict=True)
    some = [rx.cond(part[0] > 0, name.children[0], rx.fragment()) for part, name in rest]
    return rx.el.div(*first, *some, class_name="legend")


def tiles() -> rx.Component:
    """Draw the four numbers, each linked to its page."""
    n = OverviewState.counts
    clients = rx.cond(n.clients == 1, "client", "clients")
    keys = n.live_keys + n.revoked_keys
    return rx.el.div(
        _tile("Members", "users", n.members, "members", (n.clients, clients, MAIN), (n.staff, "staff", LIGHT)),
        _tile(
            "Assets", "landmark", n.assets, "assets",
            (n.active, "active", MAIN), (n.updating, "changing", LIGHT), (n.draft + n.archived, "other", FAINT),
            (n.failed_assets, "failed", BAD),
        ),
        _tile(
            "Transactions", "activity", n.transactions, "requests",
            (n.confirmed, "confirmed", MAIN), (n.pending + n.submitting, "pending", LIGHT),
            (n.failed, "failed", BAD),
        ),
        _tile(
            "API keys", "key-round", keys, "api-keys", (n.live_keys, "active", MAIN), (n.revoked_keys, "revoked", FAINT)
        ),
        class_name="grid-4",
    )  # fmt: skip


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
    return card("Recent requests", body, right=link("All requests", _to("requests")))


def _recent(request: rx.Var[RequestView]) -> rx.Component:
    by = rx.cond(request.created_by != "", "by " + request.created_by, "")
    return rx.el.li(
        rx.el.div(
            rx.el.a(request.title, href=_to("requests?id=") + request.id, class_name="link plain title"),
            rx.el.div(rx.cond(request.line != "", request.line, by), class_name="below break"),
            class_name="grow",
        ),
        rx.el.span(status(request.status), class_name="recent-status"),
        rx.el.span(when(request.created_at), class_name="muted small right recent-time"),
        class_name="item",
        key=request.id,
    )


def transactions_card() -> rx.Component:
    """Draw the organization's transactions by status, with percentages."""
    n = OverviewState.counts
    parts = [
        ("confirmed", n.confirmed, MAIN),
        ("submitting", n.submitting, LIGHT),
        ("pending", n.pending, WARN),
        ("failed", n.failed, BAD),
    ]
    lines = [
        rx.el.tr(
            rx.el.th(status(word), scope="row"),
            rx.el.td(number, class_name="num strong"),
            rx.el.td(_share(number, n.transactions), class_name="muted small num"),
        )
        for word, number, _ in parts
    ]
    body = rx.fragment(
        seg(*[(number, color) for _, number, color in parts]),
        rx.el.table(rx.el.caption("Transactions by status", class_name="sr"), rx.el.tbody(*lines), class_name="shares"),
    )
    none = rx.el.p("Nothing has been sent to a chain yet.", class_name="muted")
    return card("Transactions by status", rx.cond(n.transactions > 0, body, none), pad=True)


def _share(number: rx.Var[int], total: rx.Var[int]) -> rx.Var[str]:
    """Return a part in percent, with one decimal."""
    return rx.cond(total > 0, (((number * 1000) // total) / 10).to_string() + "%", "")


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
    block = rx.cond(chain.height > 0, f", block {chain.height}", "")
    return rx.el.li(
        rx.el.span(class_name="dot round", style={"background": dot}),
        rx.el.div(
            rx.el.div(chain.name, class_name="title"),
            rx.el.div("EID ", chain.eid, block, class_name="below num"),
            class_name="grow",
        ),
        rx.cond((chain.status != "") & (chain.status != "active"), status(chain.status), rx.fragment()),
        class_name="item chain-line",
        key=chain.id,
    )
