"""The asset filter above a list."""

from typing import Any

import reflex as rx

from components.ui.form import select
from components.ui.note import unread


def asset_filter(state: Any) -> rx.Component:
    """Draw the filter, or that it did not load. `state` is the list, a `ByAsset`."""
    choice = select(
        state.assets, placeholder="All assets", value=state.asset, on_change=state.filter_asset, aria_label="Asset"
    )
    lost = unread("The assets did not load.", state.read_assets)
    return rx.cond(state.assets_problem != "", lost, rx.el.div(choice, class_name="asset-filter"))
