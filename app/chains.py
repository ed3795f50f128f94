"""The page of chains: the list, and one chain in a drawer."""

from typing import Any

import reflex as rx

from app.shell.layout import Nav, page
from components.chains.detail import ENDPOINT, chain_detail, environment, vm
from components.chains.devnet import devnet_panel
from components.core.permission import Scope, lacking, may, who_can
from components.core.saved_views import saved_views
from components.ui.box import row, text
from components.ui.button import button
from components.ui.card import page_head, panel
from components.ui.dialog import drawer
from components.ui.form import select
from components.ui.icon import icon, mark
from components.ui.list_keys import keys_hint, list_keys, step_buttons
from components.ui.note import empty, problem_note
from components.ui.status import status, tag
from components.ui.table import Col, list_table, td, toolbar, tr
from state.chains.devnet import DevnetState
from state.chains.list import ChainsState
from state.chains.views import ChainDetail

CHOSEN = ChainsState.chosen


@page(
    route="/o/[org_id]/chains",
    title="Chains",
    nav=Nav("Network", "link", 60, "c"),
    on_load=[ChainsState.load, DevnetState.load],
    in_url=[ChainsState],
)
def chains() -> rx.Component:
    """Draw the list, and the selected chain in a drawer."""
    return rx.el.div(
        rx.el.div(
            page_head(
                "Chains",
                "Where this organization can issue, attest and trade",
                saved_views(),
                who=lacking(Scope.CHAINS_WRITE, "enable chains"),
            ),
            panel(_filters(), _list(), _unavailable(), _foot(), label="Chains"),
            devnet_panel(),
            class_name=rx.cond(ChainsState.is_open, "with-drawer", ""),
        ),
        _drawer(),
        list_keys(ChainsState.step, ChainsState.leave),
        class_name="chains",
    )


def _filters() -> rx.Component:
    def one(name: str, label: str, value: rx.Var[str], *options: tuple[str, str]) -> rx.Component:
        return select(options, aria_label=label, value=value, on_change=lambda picked: ChainsState.sift(name, picked))

    return toolbar(
        one(
            "environment",
            "Environment",
            ChainsState.environment,
            ("", "All environments"),
            ("mainnet", "Mainnet"),
            ("testnet", "Testnet"),
            ("devnet", "Devnet"),
        ),
        one("vm", "Virtual machine", ChainsState.vm, ("", "VM: any"), ("evm", "EVM"), ("solana", "Solana")),
        one(
            "deployed",
            "Contracts",
            ChainsState.deployed,
            ("", "Contracts: any"),
            ("yes", "Contracts deployed"),
            ("no", "No contracts"),
        ),
        one("enabled", "Use", ChainsState.enabled, ("", "Use: any"), ("yes", "Enabled"), ("no", "Not enabled")),
    )


def _list() -> rx.Component:
    return list_table(
        "Chains",
        [
            Col("Chain"),
            Col("Environment"),
            Col("LayerZero endpoint", right=True, narrow=False),
            Col("Newest block", right=True),
            Col("Chain status", narrow=False),
            Col("This organization"),
            Col("Actions", hidden=True),
        ],
        ChainsState,
        _row,
        empty=rx.cond(
            ChainsState.hidden > 0,
            empty("link", "No available chains match these filters"),
            empty(
                "link",
                "No chains match these filters",
                None,
                button("Show all chains", "x", on_click=ChainsState.clear),
            ),
        ),
        two=True,
    )


def _unavailable() -> rx.Component:
    """Draw the line behind which chains are hidden that cannot be enabled here."""
    hidden = ChainsState.hidden
    count = rx.cond(hidden == 1, "1 chain is", hidden.to_string() + " chains are").to(str)
    shown = ChainsState.unavailable != ""
    fold = rx.el.button(
        icon("chevron-right", 14),
        rx.cond(shown, "Hide the chains that are not available here", count + " not available here"),
        type="button",
        class_name="fold-line",
        aria_expanded=rx.cond(shown, "true", "false"),
        on_click=ChainsState.show_unavailable,
    )
    return rx.cond(shown | (hidden > 0), fold, rx.fragment())


def _foot() -> rx.Component:
    return rx.el.div(
        keys_hint(),
        rx.el.span(class_name="end"),
        rx.el.span(
            ChainsState.rows.length(), rx.cond(ChainsState.rows.length() == 1, " chain", " chains"), class_name="num"
        ),
        class_name="card-foot",
    )


def _row(chain: rx.Var[ChainDetail]) -> rx.Component:
    name = rx.el.button(chain.name, type="button", class_name="name trunc", on_click=ChainsState.show(chain.id))
    below = text(vm(chain), ", ", chain.currency, ", ", chain.layer, cls="muted small")
    alarmed = rx.cond(chain.alarms.length() > 0, rx.el.div(tag("Operator action needed", "bad")), rx.fragment())
    return tr(
        td(
            row(
                mark("link", rx.cond(chain.environment == "devnet", "warn", "")),
                rx.el.div(name, below, _trouble(chain), alarmed, class_name="col none grow"),
                cls="who",
            )
        ),
        td(environment(chain)),
        td(
            text(chain.eid.to_string(), cls="mono", title=ENDPOINT), right=True, narrow=False, class_name="aside-hidden"
        ),
        td(
            rx.cond(chain.height != "", text(chain.height, cls="num"), text("unknown", cls="muted")),
            right=True,
            label="Newest block",
        ),
        td(
            rx.cond(chain.is_deployed, status(chain.status), text("Not watched", cls="muted")),
            narrow=False,
            class_name="aside-hidden",
        ),
        td(
            rx.cond(
                chain.is_enabled,
                status("enabled"),
                rx.cond(chain.obstacle == "", text("Not enabled", cls="muted"), _not_here(chain)),
            )
        ),
        td(_switch(chain, small=True), right=True, class_name="aside-hidden"),
        key=chain.id,
        aria_selected=rx.cond(CHOSEN.id == chain.id, "true", "false"),
    )


def _trouble(chain: rx.Var[ChainDetail]) -> rx.Component:
    """Draw the status on phones, which have no column for it, if the chain does not work as usual."""
    is_usual = ~chain.is_deployed | (chain.status == "active")
    return rx.cond(is_usual, rx.fragment(), rx.el.div(status(chain.status), class_name="only-narrow"))


def _not_here(chain: rx.Var[ChainDetail]) -> rx.Component:
    waits = text("Not ready yet", cls="muted", title=chain.missing)
    return rx.cond(chain.missing != "", waits, text("Not available", cls="muted"))


def _switch(chain: rx.Var[ChainDetail], small: bool = False) -> rx.Component:
    """Draw the button that enables or disables the chain; nothing where neither is possible."""
    busy = ChainsState.saving == chain.id
    on = button(
        "Enable", small=small, busy=busy, on_click=ChainsState.enable(chain.id), aria_label="Enable " + chain.name
    )
    off = button(
        "Disable", small=small, busy=busy, on_click=ChainsState.disable(chain.id), aria_label="Disable " + chain.name
    )
    allowed = rx.cond(chain.is_enabled, off, rx.cond(chain.obstacle == "", on, rx.fragment()))
    return rx.cond(may(Scope.CHAINS_WRITE), allowed, rx.fragment())


def _about_use() -> rx.Var[Any]:
    """Say what disabling the chain stops, or what still works without it."""
    ending = "You can still cancel, claim, revoke, unfreeze and unpause."
    stops = f"Disabling stops everything new here. {ending} "
    stopped = f"Nothing new starts here. {ending} "
    words = rx.cond(CHOSEN.is_enabled, stops, rx.cond(CHOSEN.obstacle == "", stopped, ""))
    return words.to(str) + CHOSEN.in_progress


def _drawer() -> rx.Component:
    return drawer(
        CHOSEN.name,
        rx.cond(CHOSEN.is_enabled, "Enabled for this organization", "Not enabled for this organization"),
        *chain_detail(CHOSEN),
        problem_note(ChainsState.action_problem),
        is_open=ChainsState.is_open,
        on_close=ChainsState.leave,
        tools=step_buttons(ChainsState.step),
        foot=(
            rx.cond(
                may(Scope.CHAINS_WRITE),
                text(_about_use(), cls="muted small grow"),
                text(who_can(Scope.CHAINS_WRITE, "enable or disable chains"), cls="muted small grow"),
            ),
            _switch(CHOSEN),
        ),
    )
