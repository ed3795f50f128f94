"""A row of a list of distributions."""

import reflex as rx

from components.ui.box import col
from components.ui.progress import bar
from components.ui.status import status
from components.ui.table import Col, name_link, td, tr
from components.ui.value import amount, when
from state.core.session import Session
from state.distributions.list import DistributionView

HREF = "/o/" + Session.org.id + "/distributions"
COLUMNS = [
    Col("Name"), Col("Status"), Col("Total", right=True), Col("Recipients", right=True), Col("Claimed"),
    Col("Created", sort="created_at"),
]  # fmt: skip


def distribution_row(one: rx.Var[DistributionView]) -> rx.Component:
    """Draw one distribution."""
    href = HREF + "/" + one.id + "?asset=" + one.asset_id
    where = rx.el.div(one.asset_symbol, " on ", one.chain, class_name="muted small trunc")
    claimed = col(
        bar(one.claimed_percent, "Claimed of " + one.name),
        rx.el.span(
            one.claimed_percent, "%", rx.el.span(" claimed", class_name="only-narrow"), class_name="muted small num"
        ),
        cls="tight claimed",
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
        td(when(one.created_at), class_name="muted", label="Created"),
        key=one.id,
        class_name="facts",
    )
