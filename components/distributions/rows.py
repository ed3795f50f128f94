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
    Col("Name"), Col("Status"), Col("Claimed"), Col("Recipients", right=True), Col("Created", sort="created_at"),
]  # fmt: skip


def distribution_row(one: rx.Var[DistributionView]) -> rx.Component:
    """Draw one distribution."""
    href = HREF + "/" + one.id + "?asset=" + one.asset_id
    where = rx.el.div(one.asset_symbol, " on ", one.chain, class_name="muted small trunc")
    claimed = col(
        bar(one.claimed_percent, "Claimed of " + one.name),
        rx.el.span(
            rx.el.span("Claimed ", class_name="only-narrow"),
            amount(one.claimed, None, one.decimals, digits=2),
            " of ",
            amount(one.total, one.symbol, one.decimals, digits=2),
            rx.el.span(", ", one.claimed_percent, "%", class_name="muted"),
            class_name="small num",
        ),
        cls="tight claimed",
    )
    people = rx.el.span(one.claimed_recipients, " of ", one.recipients)
    return tr(
        td(rx.el.div(name_link(one.name, href)), where),
        td(status(one.shown)),
        td(claimed, full=True),
        td(rx.cond(one.recipients > 0, people, "–"), right=True, class_name="num", label="Recipients"),
        td(when(one.created_at), class_name="muted", label="Created"),
        key=one.id,
        class_name="facts",
    )
