"""The list of distributions of all assets."""

import reflex as rx

from app.shell.layout import Nav, page
from app.shell.sidebar import Action
from components.assets.choice import asset_filter
from components.core.csv_link import csv_of
from components.core.permission import Scope, allowed, lacking
from components.core.saved_views import saved_views
from components.distributions.rows import COLUMNS, HREF, distribution_row
from components.ui.box import end
from components.ui.button import link_button
from components.ui.card import page_head, panel
from components.ui.note import empty
from components.ui.table import list_table, pager, toolbar
from components.ui.tabs import counted, filters
from state.distributions.list import DistributionsState

STATUSES = [
    ("", "All"), ("draft", "Draft"), ("activating", "Activating"), ("active", "Active"), ("completed", "Completed"),
    ("cancelled", "Cancelled"),
]  # fmt: skip


@page(
    route="/o/[org_id]/distributions", title="Distributions",
    nav=Nav("Issuance", "split", 36, "d", actions=[Action("New distribution", Scope.ASSETS_WRITE, path="/new")]),
    on_load=[DistributionsState.load],
    in_url=[DistributionsState],
)  # fmt: skip
def distributions() -> rx.Component:
    """Draw the list of distributions."""
    state = DistributionsState
    new = allowed(Scope.ASSETS_WRITE, link_button("New distribution", HREF + "/new", "plus", kind="primary"))
    none = rx.cond(
        (state.status == "") & (state.asset == ""),
        empty("split", "No distributions yet", "Pay many recipients. Each claims with a proof, under the rules."),
        empty("filter", "No distributions match these filters"),
    )
    return rx.fragment(
        page_head(
            "Distributions",
            "Payouts to many recipients, each claimed with a proof",
            saved_views(),
            new,
            who=lacking(Scope.ASSETS_WRITE, "create distributions"),
        ),
        panel(
            toolbar(
                filters("Status", state.status, state.filter_status, counted(STATUSES, state)),
                end(asset_filter(state)),
            ),
            list_table(
                "Distributions",
                COLUMNS,
                state,
                distribution_row,
                empty=none,
                two=True,
            ),
            pager(
                "Newest first, 50 per page",
                state,
                csv=csv_of("/distributions", status=state.status, assetId=state.asset),
            ),
            label="Distributions",
        ),
    )
