"""The list of distributions of all assets."""

import reflex as rx

from app.shell.layout import Nav, page
from components.assets.choice import asset_filter
from components.core.permission import for_issuers
from components.core.saved_views import saved_views
from components.ui.box import col, end
from components.ui.button import link_button
from components.ui.card import page_head, panel
from components.ui.note import empty
from components.ui.progress import bar
from components.ui.status import status
from components.ui.table import Col, list_table, name_link, pager, td, toolbar, tr
from components.ui.tabs import filters
from components.ui.value import amount, when
from state.core.session import Session
from state.distributions.list import DistributionsState, DistributionView

HREF = "/o/" + Session.org.id + "/distributions"
STATUSES = [
    ("", "All"), ("draft", "Draft"), ("activating", "Activating"), ("active", "Active"), ("completed", "Completed"),
    ("cancelled", "Cancelled"),
]  # fmt: skip


@page(
    route="/o/[org_id]/distributions", title="Distributions", nav=Nav("Issuance", "split", 36, "d"),
    on_load=[DistributionsState.load],
    in_url=[DistributionsState],
)  # fmt: skip
def distributions() -> rx.Component:
    """Draw the list of distributions."""
    state = DistributionsState
    new = for_issuers(link_button("New distribution", HREF + "/new", "plus", kind="primary"))
    none = rx.cond(
        (state.status == "") & (state.asset == ""),
        empty("split", "No distributions yet", "Pay many recipients. Each claims with a proof, under the rules."),
        empty("filter", "No distributions match these filters"),
    )
    return rx.fragment(
        page_head("Distributions", "Payouts to many recipients, each claimed with a proof", saved_views(), new),
        panel(
            toolbar(
                filters("Status", state.status, state.filter_status, STATUSES),
                end(asset_filter(state)),
            ),
            list_table(
                "Distributions",
                [Col("Name"), Col("Status"), Col("Total", right=True), Col("Recipients", right=True), Col("Claimed"),
                 Col("Created", narrow=False, sort="created_at")],
                state,
                _row,
                empty=none,
                two=True,
            ),
            pager("Newest first, 50 per page", state),
            label="Distributions",
        ),
    )  # fmt: skip


def _row(one: rx.Var[DistributionView]) -> rx.Component:
    href = HREF + "/" + one.id + "?asset=" + one.asset_id
    where = rx.el.div(one.asset_symbol, " on ", one.chain, class_name="muted small trunc")
    claimed = col(
        bar(one.claimed_percent, "Claimed of " + one.name),
        rx.el.span(one.claimed_percent, "%", class_name="muted small num"),
        cls="none claimed",
    )
    return tr(
        td(rx.el.div(name_link(one.name, href)), where),
        td(status(one.status)),
        td(amount(one.total, one.symbol, one.decimals), right=True, class_name="strong", label="Total"),
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
