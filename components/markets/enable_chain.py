"""The button that enables a chain within the market wizard."""

import reflex as rx

from components.core.permission import Scope, permitted
from components.ui.button import button
from state.markets.enable_chain import EnableChain


def enable_button(eid: rx.Var[int], name: rx.Var[str]) -> rx.Component:
    """Draw the button that enables a chain; the wizard then continues with it."""
    words = "Enable " + name
    does = button(
        words,
        "link",
        small=True,
        busy=EnableChain.saving == eid.to_string(),
        on_click=EnableChain.enable(eid.to_string()),
    )
    return permitted(Scope.CHAINS_WRITE, does, words, small=True)
