"""The page of the market wizard."""

import reflex as rx

from app.shell.layout import page
from components.core.draft_offer import draft_offer
from components.core.permission import Scope
from components.markets.wizard import wizard
from components.ui.button import link_button
from components.ui.card import page_head, panel
from components.ui.note import empty, failure, page_skeleton
from state.core.session import Session
from state.markets.enable_chain import EnableChain
from state.markets.wizard import MarketWizard

MARKETS = "/o/" + Session.org.id + "/markets"


@page(
    route="/o/[org_id]/markets/new",
    title="New market",
    under="/o/[org_id]/markets",
    crumbs=[("Markets", MARKETS), ("New", "")],
    needs=Scope.ASSETS_WRITE,
    on_load=[EnableChain.rest, MarketWizard.load],
    in_url=[MarketWizard],
)
def market_new() -> rx.Component:
    """Draw the wizard, or what is missing before it can start."""
    state = MarketWizard
    nothing = panel(
        empty(
            "landmark",
            "No asset to trade yet",
            "A market needs an active asset. Issue one first.",
            link_button("Assets", "/o/" + Session.org.id + "/assets", "landmark"),
        ),
        label="No asset",
    )
    broken = failure("The wizard did not load", state.form_problem)
    begin = rx.cond(state.asset != "", wizard(), rx.cond(state.form_problem != "", broken, nothing))
    return rx.fragment(
        page_head(
            rx.cond(state.symbol != "", "New market for " + state.symbol, "New market"),
            "The market is deployed only when you confirm it at the end",
        ),
        rx.cond(state.ready, rx.fragment(draft_offer(state), begin), page_skeleton()),
    )
