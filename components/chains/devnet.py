"""The devnet's panel: time, faults and reset, for the operator of the installation."""

import reflex as rx

from components.ui.button import button
from components.ui.card import card, item
from components.ui.dialog import confirm
from components.ui.form import select, text_field
from components.ui.note import problem_note
from components.ui.status import badge
from components.ui.value import Local, when
from state.chains.devnet import RESET_WORD, DevnetChainView, DevnetState

FAULTS = (
    ("", "Start a fault…"),
    ("slow", "Slow: a block every 3 s"),
    ("down", "Down: the node stops"),
    ("refuse_packets", "Refuse packets"),
    ("drop_transactions", "Drop 2 transactions"),
    ("reorg", "Reorganize 2 blocks"),
)


class Reset(Local):
    """Shows the progress of a reset above every page once it has `started`, and then opens the sign-in page."""

    library = "$/public/react/reset.jsx"
    tag = "Reset"

    started: rx.Var[bool]


def devnet_panel() -> rx.Component:
    """Draw the panel; nothing where there is no devnet, or the user is not its operator."""
    return rx.fragment(
        rx.cond(DevnetState.chains.length() > 0, _panel(), rx.fragment()),
        _question(),
        Reset.create(started=DevnetState.is_resetting),
    )


def _panel() -> rx.Component:
    return card(
        "Devnet",
        rx.el.ul(rx.foreach(DevnetState.chains, _chain), aria_label="Embedded chains"),
        rx.el.div(problem_note(DevnetState.problem), class_name="pad-x"),
        right=rx.el.span(
            rx.cond(DevnetState.ahead != "", DevnetState.ahead, "The chains follow this machine's clock"),
            class_name="muted small",
        ),
        foot=_foot(),
        class_name="devnet-panel",
    )


def _chain(chain: rx.Var[DevnetChainView]) -> rx.Component:
    busy = DevnetState.saving == chain.eid.to_string()
    below = rx.cond(chain.block != "", rx.el.span("Block ", chain.block, ", ", chain.time), "Not responding")
    ends = rx.cond(chain.until != "", rx.el.span("ends ", when(chain.until), class_name="muted small"), rx.fragment())
    well = select(
        FAULTS,
        aria_label="Start a fault on " + chain.name,
        value="",
        disabled=busy,
        class_name="devnet-fault",
        on_change=lambda kind: DevnetState.begin(chain.eid, kind),
    )
    stop = button("End fault", "check", small=True, busy=busy, on_click=DevnetState.begin(chain.eid, "none"))
    right = rx.cond(chain.fault != "", rx.el.div(badge(chain.fault), ends, stop, class_name="row wrap"), well)
    return item(chain.name, below, right, sign="flask-conical", tone="warn", key=chain.eid.to_string())


def _foot() -> rx.Component:
    busy = DevnetState.saving == "clock"
    steps = (("hour", "1 hour"), ("day", "1 day"), ("month", "30 days"))
    return rx.fragment(
        rx.el.div(
            rx.el.span("Advance time by", class_name="muted"),
            *(button(words, small=True, busy=busy, on_click=DevnetState.advance(step)) for step, words in steps),
            class_name="row wrap grow",
        ),
        rx.cond(
            DevnetState.can_reset,
            button("Reset devnet", "rotate-ccw", small=True, kind="danger", on_click=DevnetState.ask_reset(True)),
            rx.fragment(),
        ),
    )


def _question() -> rx.Component:
    return confirm(
        "Reset the devnet?",
        "This deletes the chains and the database with every organization, asset, API key and session, and creates the "
        "demo again in less than a minute. The people of the demo keep their passwords. This cannot be undone.",
        text_field(
            rx.el.span("Type ", rx.el.code(RESET_WORD, class_name="mono"), " to confirm"),
            "word",
            id="reset-word",
            auto_focus=True,
            on_change=DevnetState.type_word,
        ),
        is_open=DevnetState.asks_reset,
        on_open_change=DevnetState.ask_reset,
        on_confirm=DevnetState.reset_all,
        problem=DevnetState.problem,
        busy=DevnetState.is_resetting,
        word="Reset devnet",
    )
