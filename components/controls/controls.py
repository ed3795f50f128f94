"""The controls tab of an asset: supply, movement, accounts."""

from typing import Any

import reflex as rx

from components.controls.daily_limits import ALWAYS, daily_limits
from components.controls.dialogs import WORDS, control_dialogs
from components.controls.paths import path_controls
from components.core.permission import Scope, allowed, read_only
from components.ui.box import col, split
from components.ui.button import button
from components.ui.card import card, item, items
from components.ui.status import status
from state.assets.detail import AssetState, DeploymentView
from state.controls.controls import CONTROLS, ControlForm

SHORT = {"forced_transfer": "Force transfer"}
"""Shorter button labels of controls with long names."""


def controls() -> rx.Component:
    """Draw the tab."""
    accounts = card(
        "Accounts", items(*[_control(kind) for kind in ("freeze", "unfreeze", "forced_transfer", "recover")])
    )
    supply = card("Supply", items(*[_control(kind) for kind in ("mint", "burn")]))
    return rx.el.div(
        col(
            read_only(Scope.ASSETS_WRITE, "use these controls"),
            split(col(supply, accounts, cls="wide"), col(_movement(), daily_limits(), path_controls(), cls="wide")),
            cls="wide",
        ),
        control_dialogs(),
        class_name="controls",
        on_mount=ControlForm.load,
    )


def _control(kind: str) -> rx.Component:
    words = WORDS[kind]
    open_ = button(SHORT.get(kind, words.name), small=True, on_click=ControlForm.show(kind, ""), aria_haspopup="dialog")
    tone = "bad" if CONTROLS[kind].danger else ""
    waits = rx.cond(ControlForm.guarded.contains(f"token.{kind}"), rx.el.b(" " + ALWAYS + "."), "")
    return item(
        words.name, rx.el.span(words.about, waits), allowed(Scope.ASSETS_WRITE, open_), sign=words.sign, tone=tone
    )


def _movement() -> rx.Component:
    return card("Transfers", rx.el.ul(rx.foreach(AssetState.asset.places, _place), aria_label="Transfers by chain"))


def _place(place: rx.Var[DeploymentView]) -> rx.Component:
    def do(kind: str) -> rx.Component:
        return button(
            WORDS[kind].name, small=True, on_click=ControlForm.show(kind, place.eid.to_string()),
            aria_label=WORDS[kind].name + " on " + place.chain, aria_haspopup="dialog",
        )  # fmt: skip

    act: Any = rx.cond(place.paused, do("unpause"), do("pause"))
    said = rx.cond(place.paused, status("paused"), status(place.status))
    return item(
        place.chain,
        rx.cond(place.paused, "All transfers stopped", "Transfers allowed under the rules"),
        said,
        rx.cond(place.status == "active", allowed(Scope.ASSETS_WRITE, act), rx.fragment()),
        sign="link",
        key=place.eid.to_string(),
    )
