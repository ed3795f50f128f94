"""The chains tab of an asset: its token on each chain, the limits there, and the bridge paths."""

import reflex as rx

from components.assets.tabs import places
from components.compliance.caps import limits_by_chain
from components.controls.paths import path_controls
from components.ui.box import col
from components.ui.card import card
from state.assets.detail import AssetState


def chains() -> rx.Component:
    """Draw the tab."""
    count = AssetState.asset.places.length()
    more = rx.cond(
        count == 1,
        rx.el.span("A market on another chain takes the token there, with its rules."),
        rx.el.span("Supply and rules are read from each chain."),
    )
    return col(card("Tokens", places(), count=count, foot=more), limits_by_chain(), path_controls(), cls="wide")
