"""The chains tab of an asset: its token on each chain, the limits there, and the bridge paths."""

import reflex as rx

from components.assets.tabs import places
from components.compliance.caps import limits_by_chain
from components.controls.paths import path_controls
from components.core.permission import Scope, allowed, may, who_can
from components.ui.box import col
from components.ui.button import link_button
from components.ui.card import card
from state.assets.detail import AssetState
from state.core.session import Session


def chains() -> rx.Component:
    """Draw the tab."""
    count = AssetState.asset.places.length()
    more = rx.cond(
        count == 1,
        rx.el.span(
            rx.cond(
                may(Scope.ASSETS_WRITE),
                "To bring the token to another chain, bridge it or deploy a market there. Its rules go with it.",
                who_can(Scope.ASSETS_WRITE, "bring the token to another chain"),
            )
        ),
        rx.el.span("Supply and rules are read from each chain."),
    )
    bridge = link_button(
        "Bridge to another chain", "/o/" + Session.org.id + "/bridges?new=" + AssetState.asset.id, small=True
    )
    right = allowed(Scope.ASSETS_WRITE, bridge)
    return col(
        card("Tokens", places(), count=count, right=right, foot=more), limits_by_chain(), path_controls(), cls="wide"
    )
