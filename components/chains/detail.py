"""A chain in the drawer: its state, finality, contracts, and the check of its nodes."""

import reflex as rx

from components.bridges.paths import bridge_paths
from components.chains.node_check import node_check
from components.core.permission import Scope, may
from components.ui.box import text
from components.ui.card import kv
from components.ui.icon import icon
from components.ui.note import note
from components.ui.status import badge, tag
from components.ui.value import short_hash, when
from state.chains.views import AlarmView, ChainDetail, ContractView

ENDPOINT = "The number of this chain in LayerZero, the protocol that carries packets between chains"
VM = {"evm": "EVM", "solana": "Solana"}


def environment(chain: rx.Var[ChainDetail]) -> rx.Component:
    """Name the environment; a devnet is unmistakable."""
    devnet = rx.el.span(icon("flask-conical", 13), "Devnet", class_name="badge devnet")
    return rx.match(chain.environment, ("devnet", devnet), ("mainnet", tag("Mainnet", "info")), tag("Testnet"))


def vm(chain: rx.Var[ChainDetail]) -> rx.Var[str]:
    """Return the name of the virtual machine."""
    return rx.match(chain.vm, *VM.items(), chain.vm).to(str)


def chain_detail(chain: rx.Var[ChainDetail]) -> list[rx.Component]:
    """Draw the sections of a chain's drawer."""
    return [
        *_notes(chain),
        rx.cond(may(Scope.CHAINS_WRITE) & chain.has_node, node_check(chain), rx.fragment()),
        rx.el.h3("State"),
        _state(chain),
        rx.cond(chain.success != "", rx.fragment(rx.el.h3("Finality"), _finality(chain)), rx.fragment()),
        rx.el.h3("Chain"),
        _facts(chain),
        rx.el.h3("Contracts"),
        rx.cond(
            chain.contracts.length() > 0,
            rx.el.dl(rx.foreach(chain.contracts, _contract), class_name="contracts"),
            text("Signum's contracts are not deployed here.", cls="muted"),
        ),
        bridge_paths(chain),
    ]


def _notes(chain: rx.Var[ChainDetail]) -> list[rx.Component]:
    devnet = note(
        rx.el.b("Embedded devnet. "),
        "It runs on this machine instead of the public chain. Nothing on it has value, and only this installation "
        "can see it.",
        tone="warn",
        sign="flask-conical",
    )
    operator = note(rx.el.b("Operator action needed. "), chain.missing, tone="warn", sign="hourglass")
    failure = note(chain.error, tone=rx.cond(chain.status == "down", "bad", "warn"), sign="triangle-alert")
    return [
        rx.cond(chain.environment == "devnet", devnet, rx.fragment()),
        rx.cond(chain.obstacle != "", note(chain.obstacle), rx.fragment()),
        rx.foreach(chain.alarms, _alarm),
        rx.cond(chain.missing != "", operator, rx.fragment()),
        rx.cond(chain.error != "", failure, rx.fragment()),
    ]


def _alarm(alarm: rx.Var[AlarmView]) -> rx.Component:
    since = rx.el.div("Since ", when(alarm.since), class_name="small")
    return note(rx.el.b(alarm.title, ". "), alarm.detail, since, tone="bad", sign="siren", key=alarm.detail)


def _known(value: rx.Var[str], otherwise: str = "unknown") -> rx.Component:
    return rx.cond(value != "", text(value, cls="num"), text(otherwise, cls="muted"))


def _state(chain: rx.Var[ChainDetail]) -> rx.Component:
    return kv(
        ("Status", rx.cond(chain.is_deployed, badge(chain.status), text("not watched", cls="muted"))),
        ("Newest block", _known(chain.height)),
        ("Safe block", _known(chain.safe_height)),
        ("Final block", _known(chain.final_height)),
        ("Blocks to index", _known(chain.lag)),
        ("Last read", rx.cond(chain.checked_at != "", when(chain.checked_at), text("never", cls="muted"))),
    )


def _finality(chain: rx.Var[ChainDetail]) -> rx.Component:
    return rx.el.div(
        rx.el.p(chain.success),
        kv(("Confirmations", _known(chain.confirmations)), ("Block time", _known(chain.block_time))),
        class_name="finality",
    )


def _facts(chain: rx.Var[ChainDetail]) -> rx.Component:
    return kv(
        ("Environment", environment(chain)),
        ("LayerZero endpoint", text(chain.eid.to_string(), cls="mono", title=ENDPOINT)),
        ("Chain ID", rx.cond(chain.chain_id != "", text(chain.chain_id, cls="mono"), text("none", cls="muted"))),
        ("Virtual machine", vm(chain)),
        ("Currency", chain.currency),
        ("Public RPC", rx.cond(chain.rpc != "", text(chain.rpc, cls="mono break"), text("none", cls="muted"))),
        (
            "Explorer",
            rx.cond(chain.explorer != "", text(chain.explorer, cls="mono break"), text("none", cls="muted")),
        ),
    )


def _contract(contract: rx.Var[ContractView]) -> rx.Component:
    return rx.el.div(
        rx.el.dt(contract.name), rx.el.dd(short_hash(contract.address, "address", contract.url)), key=contract.name
    )
