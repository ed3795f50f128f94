"""The distributions tab of an asset."""

import reflex as rx

from components.core.csv_link import csv_of
from components.core.permission import Scope, allowed
from components.distributions.rows import COLUMNS, distribution_row
from components.ui.box import end
from components.ui.button import link_button
from components.ui.card import panel
from components.ui.note import empty
from components.ui.table import list_table, pager, toolbar
from state.core.session import Session
from state.distributions.list import AssetDistributions


def distributions() -> rx.Component:
    """Draw the distributions of the asset."""
    state = AssetDistributions
    href = "/o/" + Session.org.id + "/distributions/new?asset=" + rx.State.asset_id
    return panel(
        allowed(Scope.ASSETS_WRITE, toolbar(end(link_button("New distribution", href, "plus", small=True)))),
        list_table(
            "Distributions of this asset",
            COLUMNS,
            state,
            distribution_row,
            empty=empty(
                "split", "No distributions yet", "Pay many recipients. Each claims with a proof, under the rules."
            ),
            two=True,
        ),
        pager("Newest first, 50 per page", state, csv=csv_of("/assets/" + rx.State.asset_id + "/distributions")),
        label="Distributions",
        on_mount=state.load,
    )
