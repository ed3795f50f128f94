"""Distributions: the list of all assets'."""

import reflex as rx

from app.layout import Nav, page
from components.asset_filter import asset_filter
from components.permission import for_issuers
from components.ui.box import col, end
from components.ui.button import link_button
from components.ui.card import page_head, panel
from components.ui.note import empty
from components.ui.progress import bar
from components.ui.status import status
from components.ui.table import Col, name_link, pager, table, td, toolbar, tr
from components.ui.tabs import filters
from components.ui.value import amount, when
from state.distributions import DistributionRow, DistributionsState
from state.session import Session

HREF = "/o/" + Session.org.id + "/distributions"
STATUSES = [
    ("", "All"), ("draft", "Draft"), ("activating", "Activating"), ("active", "Active"), ("completed", "Completed"),
    ("cancelled", "Cancelled"),
]  # fmt: skip


@page(
    route="/o/[org_id]/distributions", title="Distributions", nav=Nav("Issuance", "split", 36, "d"),
    on_load=[DistributionsState.load],
)  # fmt: skip
def distributions() -> rx.Component:
    """Draw the list."""
    state = DistributionsState
    new = for_issuers(link_button("New distribution", HREF + "/new", "plus", kind="primary"))
    none = rx.cond(
        (state.status == "") & (state.asset == ""),
        empty("split", "No distributions yet", "Pay many people at once: each claims with a proof, under the rules."),
        empty("filter", "No distribution fits"),
    )
    return rx.fragment(
        page_head("Distributions", "What is paid out to many, claimed by each with a proof", new),
        panel(
            toolbar(
                filters("Status", state.status, state.filter_status, STATUSES),
                end(asset_filter(state)),
            ),
            table(
                "Distributions",
                [Col("Name"), Col("Status"), Col("Sum", right=True), Col("Recipients", right=True), Col("Claimed"),
                 Col("Created", narrow=False)],
                state.rows,
                _row,
                empty=none,
                loading=state.loading,
                problem=state.problem,
                is_forbidden=state.is_forbidden,
                on_retry=state.reload,
                two=True,
            ),
            pager(
                "Newest first, 50 a page", has_newer=state.has_newer, has_older=state.has_older, on_newer=state.newer,
                on_older=state.older, busy=state.busy,
            ),
            label="Distributions",
        ),
    )  # fmt: skip


def _row(one: rx.Var[DistributionRow]) -> rx.Component:
    href = HREF + "/" + one.id + "?asset=" + one.asset_id
    where = rx.el.div(one.symbol, " on ", one.chain, class_name="muted small trunc")
    claimed = col(
        bar(one.claimed_percent, "Claimed of " + one.name),
        rx.el.span(one.claimed_percent, "%", class_name="muted small num"),
        cls="none claimed",
    )
    return tr(
        td(rx.el.div(name_link(one.name, href)), where),
        td(status(one.status)),
        td(amount(one.total, one.symbol, one.decimals), right=True, class_name="strong", label="Sum"),
        td(
            rx.cond(one.recipients > 0, one.recipients.to_string(), "–"),
            right=True,
            class_name="num",
            label="Recipients",
        ),
        td(claimed, full=True),
        td(when(one.created_at), narrow=False, class_name="muted"),
        key=one.id,
    )
