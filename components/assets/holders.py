"""The holders of an asset: the cap table, and freezes of several holders together."""

from typing import Any

import reflex as rx

from components.assets.tabs import ASSET
from components.controls.freeze_many import freeze_bar, freeze_dialog
from components.core.csv_link import csv_of
from components.core.permission import Scope, allowed
from components.ui.button import link
from components.ui.card import panel
from components.ui.icon import icon
from components.ui.list_keys import keys_hint, list_keys, marks_hint
from components.ui.marks import mark_box
from components.ui.note import empty
from components.ui.table import Col, list_table, pager, td, tr
from components.ui.value import amount, no_value, short_hash
from state.assets.detail import AssetState
from state.assets.holders import HoldersState, HolderView


def holders() -> rx.Component:
    """Draw the cap table."""
    return panel(
        freeze_bar(),
        list_table(
            "Holders",
            [
                Col("Holder"),
                Col("Chain"),
                Col("Available", right=True),
                Col("In orders", right=True),
                Col("Frozen", right=True),
                Col("Total", right=True),
                Col("Share", right=True),
            ],
            HoldersState,
            _holder,
            empty=empty("users", "No holders yet", "The treasury gets the initial supply on deployment."),
            two=True,
        ),
        _total(),
        pager(
            rx.el.span(
                rx.el.span("Each address with tokens: investors, the treasury and contracts"),
                allowed(Scope.ASSETS_WRITE, keys_hint(marks_hint())),
                class_name="row wrap apart",
            ),
            HoldersState,
            csv=csv_of("/assets/" + rx.State.asset_id + "/holders"),
        ),
        list_keys(HoldersState.step, HoldersState.leave, HoldersState),
        freeze_dialog(),
        label="Holders",
        on_mount=HoldersState.load,
    )


def _total() -> rx.Component:
    """Say of what the shares are parts, and how much of it is in open orders."""
    asset, total, escrowed = AssetState.asset, HoldersState.total, HoldersState.escrowed
    market = link("open orders", ASSET + asset.id + "?tab=markets", on_click=AssetState.go("markets").prevent_default)
    orders = rx.fragment(", of which ", amount(escrowed, asset.symbol, asset.decimals), " are in ", market)
    line = rx.el.div(
        rx.el.span(
            amount(total, asset.symbol, asset.decimals, 2),
            " in total",
            rx.cond(escrowed != "0", orders, rx.fragment()),
        ),
        rx.el.span(HoldersState.eligibility, class_name="end muted"),
        class_name="card-foot row wrap holders-total",
    )
    return rx.cond((HoldersState.rows.length() > 0) & (total != "") & (total != "0"), line, rx.fragment())


def _holder(holder: rx.Var[HolderView]) -> rx.Component:
    name: Any = rx.cond(holder.name != "", holder.name, rx.el.span("Not known here", class_name="muted"))
    kind = rx.el.span(
        rx.cond(holder.kind != "", holder.kind + ", ", "").to(str), short_hash(holder.address), class_name="muted small"
    )
    words = rx.cond(holder.name != "", holder.name, holder.address).to(str) + " on " + holder.chain
    ineligible = rx.el.span(
        icon("triangle-alert", 13), " No longer eligible: ", holder.ineligible, class_name="warn-text small wrap"
    )
    who = rx.el.div(
        allowed(Scope.ASSETS_WRITE, mark_box(HoldersState, holder, words)),
        rx.el.div(
            rx.el.span(name, class_name="strong"),
            kind,
            rx.cond(holder.ineligible != "", ineligible, rx.fragment()),
            class_name="col none grow",
        ),
        class_name="row who",
    )
    return tr(
        td(who),
        td(holder.chain, class_name="muted", label="Chain"),
        td(_part(holder.available, "none"), right=True, label="Available"),
        td(_part(holder.escrowed), right=True, label="In orders", class_name="if-any"),
        td(_frozen(holder), right=True, label="Frozen", class_name="if-any"),
        td(
            amount(holder.balance, AssetState.asset.symbol, AssetState.asset.decimals, 2, HoldersState.least),
            right=True,
            label="Total",
        ),
        td(holder.share, right=True, label="Share"),
        key=holder.id,
        aria_selected=rx.cond(HoldersState.chosen == holder.id, "true", "false"),
        class_name="facts",
    )


def _frozen(holder: rx.Var[HolderView]) -> rx.Component:
    """Draw the frozen part, and that the whole account is frozen, with what it receives later."""
    whole = rx.el.div("Whole account", class_name="muted small")
    part = rx.cond(holder.wholly_frozen & (holder.frozen == "0"), rx.fragment(), _part(holder.frozen))
    return rx.fragment(part, rx.cond(holder.wholly_frozen, whole, rx.fragment()))


def _part(value: rx.Var[str], none: str = "–") -> rx.Component:
    """Draw a part of a holder's balance; empty if the chain did not answer."""
    return rx.match(
        value,
        ("", rx.el.span("unknown", class_name="muted")),
        ("0", no_value(none)),
        amount(value, None, AssetState.asset.decimals, 2, HoldersState.least),
    )
