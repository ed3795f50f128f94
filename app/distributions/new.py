"""The page that creates a distribution."""

import reflex as rx

from app.shell.layout import page
from components.core.draft_offer import draft_offer
from components.core.permission import Scope
from components.distributions.form import drawing_up
from components.ui.button import link_button
from components.ui.card import page_head, panel
from components.ui.note import empty, failure, page_skeleton
from state.core.session import Session
from state.distributions.form import NewDistribution


@page(
    route="/o/[org_id]/distributions/new",
    title="New distribution",
    under="/o/[org_id]/distributions",
    crumbs=[("Distributions", "/o/" + Session.org.id + "/distributions"), ("New", "")],
    on_load=[NewDistribution.load],
    in_url=[NewDistribution],
    needs=Scope.ASSETS_WRITE,
)
def distribution_new() -> rx.Component:
    """Draw the form, or what is missing before one can be created."""
    state = NewDistribution
    nothing = panel(
        empty(
            "landmark",
            "No asset to distribute yet",
            "A distribution pays out an asset that is active on a chain. Issue one first.",
            link_button("Assets", "/o/" + Session.org.id + "/assets", "landmark"),
        ),
        label="No asset",
    )
    broken = failure("The assets did not load", state.form_problem)
    begin = rx.cond(state.asset != "", drawing_up(), rx.cond(state.form_problem != "", broken, nothing))
    return rx.fragment(
        page_head("New distribution", "Nothing is paid out until you activate it"),
        rx.cond(state.ready, rx.fragment(draft_offer(state), begin), page_skeleton()),
    )
