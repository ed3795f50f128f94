"""The devnet's panel: time, faults and a new beginning, for whoever runs the installation."""

import reflex as rx

from components.ui.button import button
from components.ui.card import card, item
from components.ui.dialog import confirm
from components.ui.form import select
from components.ui.note import note, problem_note
from components.ui.status import badge
from components.ui.value import when
from state.devnet import DevChain, Devnet

FAULTS = (
    ("", "Begin a fault…"),
    ("slow", "Slow: a block every 3 s"),
    ("down", "Down: the node stops"),
    ("refuse_packets", "Refuse packets"),
    ("drop_transactions", "Drop 2 transactions"),
    ("reorg", "Reorganize 2 blocks"),
)


def devnet_panel() -> rx.Component:
    """Draw it; nothing where there is no devnet, or it is not this person's."""
    return rx.fragment(rx.cond(Devnet.chains.length() > 0, _panel(), rx.fragment()), _question(), _leaving())


def _panel() -> rx.Component:
    return card(
        "Devnet",
        rx.el.ul(rx.foreach(Devnet.chains, _chain), aria_label="Embedded chains"),
        rx.el.div(problem_note(Devnet.problem), class_name="pad-x"),
        right=rx.el.span(
            rx.cond(Devnet.ahead != "", Devnet.ahead, "The chains go by this machine's clock"),
            class_name="muted small",
        ),
        foot=_foot(),
        class_name="devnet-panel",
    )


def _chain(chain: rx.Var[DevChain]) -> rx.Component:
    busy = Devnet.saving == chain.eid.to_string()
    below = rx.cond(chain.block != "", rx.el.span("Block ", chain.block, ", ", chain.time), "It does not answer")
    ends = rx.cond(chain.until != "", rx.el.span("ends ", when(chain.until), class_name="muted small"), rx.fragment())
    well = select(
        FAULTS,
        aria_label="Begin a fault on " + chain.name,
        value="",
        disabled=busy,
        class_name="devnet-fault",
        on_change=lambda kind: Devnet.begin(chain.eid, kind),
    )
    stop = button("End it", "check", small=True, busy=busy, on_click=Devnet.begin(chain.eid, "none"))
    right = rx.cond(chain.fault != "", rx.el.div(badge(chain.fault), ends, stop, class_name="row wrap"), well)
    return item(chain.name, below, right, sign="flask-conical", tone="warn", key=chain.eid.to_string())


def _foot() -> rx.Component:
    busy = Devnet.saving == "clock"
    steps = (("hour", "1 hour"), ("day", "1 day"), ("month", "30 days"))
    return rx.fragment(
        rx.el.div(
            rx.el.span("Move time on by", class_name="muted"),
            *(button(words, small=True, busy=busy, on_click=Devnet.advance(step)) for step, words in steps),
            class_name="row wrap grow",
        ),
        rx.cond(
            Devnet.can_reset,
            button("Begin again", "rotate-ccw", small=True, kind="danger", on_click=Devnet.ask_reset(True)),
            rx.fragment(),
        ),
    )


def _question() -> rx.Component:
    return confirm(
        "Begin again from nothing?",
        "Chains and database go together: every organization, asset, key and session is gone, and the demo is made "
        "anew. Its people keep their passwords.",
        is_open=Devnet.asks_reset,
        on_open_change=Devnet.ask_reset,
        on_confirm=Devnet.reset_all,
        problem=Devnet.problem,
        busy=Devnet.is_beginning_again,
        word="Begin again",
    )


def _leaving() -> rx.Component:
    words = note(
        rx.el.b("Beginning again. "),
        "The server is back in less than a minute; ",
        rx.el.a("sign in then", href="/sign-in", class_name="link"),
        ".",
        tone="warn",
        sign="rotate-ccw",
    )
    return rx.cond(Devnet.is_beginning_again, words, rx.fragment())
