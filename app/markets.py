"""The list of markets."""

import reflex as rx

from app.layout import Nav, page
from components.csv_link import csv_of
from components.permission import for_issuers
from components.ui.button import link_button
from components.ui.card import page_head, panel
from components.ui.note import empty
from components.ui.status import status
from components.ui.table import Col, name_link, pager, table, td, toolbar, tr
from components.ui.tabs import filters
from components.ui.value import when
from state.markets import MarketRow, MarketsState
from state.session import Session

HREF = "/o/" + Session.org.id + "/markets"
STATUSES = [
    ("", "All"), ("active", "Active"), ("pending_bridge", "Bridging first"), ("deploying", "Deploying"),
    ("halted", "Halted"), ("failed", "Failed"),
]  # fmt: skip


@page(
    route="/o/[org_id]/markets", title="Markets", nav=Nav("Issuance", "store", 31, "m"), on_load=[MarketsState.load]
)  # fmt: skip
def markets() -> rx.Component:
    """Draw the list."""
    state = MarketsState
    new = for_issuers(link_button("Deploy market", HREF + "/new", "store", kind="primary"))
    first = empty("store", "No markets yet", "A market trades an asset under its rules, on chain.")
    none = empty("filter", "No market has this status")
    return rx.fragment(
        page_head("Markets", "Order books on chain; every order is checked against the rules", new),
        panel(
            toolbar(filters("Status", state.status, state.filter, STATUSES)),
            table(
                "Markets",
                [
                    Col("Market"),
                    Col("Status"),
                    Col("Chain"),
                    Col("Framework"),
                    Col("Fees"),
                    Col("Created", narrow=False),
                ],
                state.rows,
                _row,
                empty=rx.cond(state.status == "", first, none),
                loading=state.loading,
                problem=state.problem,
                is_forbidden=state.is_forbidden,
                on_retry=state.reload,
                two=True,
            ),
            pager(
                "Newest first, 50 a page",
                has_newer=state.has_newer,
                has_older=state.has_older,
                on_newer=state.newer,
                on_older=state.older,
                busy=state.busy,
                csv=csv_of("/markets", status=state.status),
            ),
            label="Markets",
        ),
    )


def _row(market: rx.Var[MarketRow]) -> rx.Component:
    href = HREF + "/" + market.id + "?asset=" + market.asset_id
    why = rx.cond(market.why != "", rx.el.div(market.why, class_name="muted small clamp"), rx.fragment())
    return tr(
        td(rx.el.div(name_link(market.pair, href)), rx.el.div(market.asset, class_name="muted small trunc")),
        td(status(market.status), why),
        td(market.chain, label="On"),
        td(market.framework, narrow=False),
        td(market.fees, class_name="num muted", full=True),
        td(when(market.created_at), narrow=False, class_name="muted"),
        key=market.id,
    )
