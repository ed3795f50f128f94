"""The market wizard's page."""

import reflex as rx

from app.layout import page
from components.market_wizard import wizard
from components.ui.button import link_button
from components.ui.card import page_head, panel
from components.ui.note import empty, failure, page_skeleton
from state.market_wizard import MarketWizard
from state.session import Session

MARKETS = "/o/" + Session.org.id + "/markets"


@page(
    route="/o/[org_id]/markets/new",
    title="Deploy a market",
    under="/o/[org_id]/markets",
    crumbs=[("Markets", MARKETS), ("Deploy", "")],
    on_load=[MarketWizard.load],
)
def market_new() -> rx.Component:
    """Draw the wizard, or why it cannot begin."""
    state = MarketWizard
    nothing = panel(
        empty(
            "landmark",
            "No asset to trade yet",
            "A market trades an asset that is active. Issue one first.",
            link_button("Assets", "/o/" + Session.org.id + "/assets", "landmark"),
        ),
        label="No asset",
    )
    broken = failure("The wizard did not load", state.form_problem)
    begin = rx.cond(state.asset != "", wizard(), rx.cond(state.form_problem != "", broken, nothing))
    return rx.fragment(
        page_head(
            rx.cond(state.symbol != "", "Deploy a market for " + state.symbol, "Deploy a market"),
            "Nothing is written before you deploy",
        ),
        rx.cond(state.ready, begin, page_skeleton()),
    )
