"""The page of an asset's evidence."""

import reflex as rx

from app.shell.layout import page
from components.evidence.actions import actions
from components.evidence.pack import body
from components.ui.arrival import arrival
from components.ui.button import link
from components.ui.card import page_head
from components.ui.note import page_skeleton
from state.core.session import Session
from state.evidence.pack import EvidenceState

ASSETS = "/o/" + Session.org.id + "/assets"


@page(
    route="/o/[org_id]/assets/[asset_id]/evidence",
    title="Evidence",
    under="/o/[org_id]/assets",
    crumbs=[
        ("Assets", ASSETS),
        (rx.cond(EvidenceState.symbol != "", EvidenceState.symbol, "Asset"), EvidenceState.asset_page),
        ("Evidence", ""),
    ],
    on_load=[EvidenceState.load],
)
def evidence() -> rx.Component:
    """Draw the pack that the browser keeps, and its actions."""
    state = EvidenceState
    asset = rx.cond(state.symbol != "", link(state.symbol, state.asset_page), "this asset")
    about = rx.fragment("Create or open a pack of records about ", asset, ", and verify it against the chains")
    return arrival(EvidenceState, page_skeleton(), rx.fragment(page_head("Evidence", about, actions()), body()))
