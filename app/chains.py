"""Chains: those of the registry, and one of them in a drawer."""

import reflex as rx

from app.layout import Nav, page
from components.access import is_admin
from components.chain_detail import chain_detail, environment, vm
from components.devnet import devnet_panel
from components.ui.box import row, text
from components.ui.button import button
from components.ui.card import page_head, panel
from components.ui.dialog import drawer
from components.ui.form import select
from components.ui.icon import mark
from components.ui.list_keys import keys_hint, list_keys, step_buttons
from components.ui.note import empty, problem_note
from components.ui.status import status, tag
from components.ui.table import Col, table, td, toolbar, tr
from state.devnet import Devnet
from state.registry import ChainRow, Registry

CHOSEN = Registry.chosen


@page(
    route="/o/[org_id]/chains",
    title="Chains",
    nav=Nav("Network", "link", 60, "c"),
    on_load=[Registry.load, Devnet.load],
)
def chains() -> rx.Component:
    """Draw the list, and a chain beside it."""
    return rx.el.div(
        rx.el.div(
            page_head("Chains", "Where this organization can issue, attest and trade"),
            panel(_filters(), _list(), _foot(), label="Chains"),
            devnet_panel(),
            class_name=rx.cond(Registry.is_open, "with-drawer", ""),
        ),
        _drawer(),
        list_keys(Registry.step, Registry.leave),
        class_name="chains",
    )


def _filters() -> rx.Component:
    def one(name: str, label: str, value: rx.Var[str], *options: tuple[str, str]) -> rx.Component:
        return select(options, aria_label=label, value=value, on_change=lambda picked: Registry.sift(name, picked))

    return toolbar(
        one(
            "environment",
            "Environment",
            Registry.environment,
            ("", "Every environment"),
            ("mainnet", "Mainnet"),
            ("testnet", "Testnet"),
            ("devnet", "Devnet"),
        ),
        one("vm", "Virtual machine", Registry.vm, ("", "Every VM"), ("evm", "EVM"), ("solana", "Solana")),
        one(
            "deployed",
            "Contracts",
            Registry.deployed,
            ("", "With and without contracts"),
            ("yes", "Contracts deployed"),
            ("no", "No contracts"),
        ),
        one("enabled", "Use", Registry.enabled, ("", "Enabled or not"), ("yes", "Enabled"), ("no", "Not enabled")),
    )


def _list() -> rx.Component:
    return table(
        "Chains",
        [
            Col("Chain"),
            Col("Environment"),
            Col("Endpoint", right=True, narrow=False),
            Col("Newest block", right=True),
            Col("Status", narrow=False),
            Col("Use"),
            Col("Actions", hidden=True),
        ],
        Registry.rows,
        _row,
        empty=empty(
            "link",
            "No chains match these filters",
            None,
            button("Show all chains", "x", on_click=Registry.clear),
        ),
        loading=Registry.loading,
        problem=Registry.problem,
        is_forbidden=Registry.is_forbidden,
        on_retry=Registry.reload,
        two=True,
    )


def _foot() -> rx.Component:
    return rx.el.div(
        keys_hint(),
        rx.el.span(class_name="end"),
        rx.el.span(Registry.rows.length(), rx.cond(Registry.rows.length() == 1, " chain", " chains"), class_name="num"),
        class_name="card-foot",
    )


def _row(chain: rx.Var[ChainRow]) -> rx.Component:
    name = rx.el.button(chain.name, type="button", class_name="name trunc", on_click=Registry.show(chain.id))
    below = text(vm(chain), ", ", chain.currency, ", ", chain.layer, cls="muted small")
    alarmed = rx.cond(chain.alarms.length() > 0, rx.el.div(tag("Needs the operator", "bad")), rx.fragment())
    return tr(
        td(
            row(
                mark("link", rx.cond(chain.environment == "devnet", "warn", "")),
                rx.el.div(name, below, alarmed, class_name="col none grow"),
                cls="who",
            )
        ),
        td(environment(chain)),
        td(text(chain.eid.to_string(), cls="mono"), right=True, narrow=False, class_name="aside-hidden"),
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


def _not_here(chain: rx.Var[ChainRow]) -> rx.Component:
    waits = text("Not ready yet", cls="muted", title=chain.missing)
    return rx.cond(chain.missing != "", waits, text("Not available", cls="muted"))


def _switch(chain: rx.Var[ChainRow], small: bool = False) -> rx.Component:
    """The button that enables or disables; nothing where it cannot be."""
    busy = Registry.saving == chain.id
    on = button("Enable", small=small, busy=busy, on_click=Registry.enable(chain.id), aria_label="Enable " + chain.name)
    off = button(
        "Disable", small=small, busy=busy, on_click=Registry.disable(chain.id), aria_label="Disable " + chain.name
    )
    allowed = rx.cond(chain.is_enabled, off, rx.cond(chain.obstacle == "", on, rx.fragment()))
    return rx.cond(is_admin(), allowed, rx.fragment())


def _drawer() -> rx.Component:
    return drawer(
        CHOSEN.name,
        rx.cond(CHOSEN.is_enabled, "Enabled for this organization", "Not enabled for this organization"),
        *chain_detail(CHOSEN),
        problem_note(Registry.action_problem),
        is_open=Registry.is_open,
        on_close=Registry.leave,
        tools=step_buttons(Registry.step),
        foot=(
            text(
                rx.cond(CHOSEN.is_enabled, "Disabling stops new operations here. What exists stays.", ""),
                cls="muted small grow",
            ),
            _switch(CHOSEN),
        ),
    )
