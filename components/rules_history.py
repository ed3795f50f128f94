"""The history of an asset's rules."""

import reflex as rx

from components.ui.box import row, text
from components.ui.button import button, link
from components.ui.card import card, items
from components.ui.icon import mark
from components.ui.note import empty, failure, forbidden, skeleton
from components.ui.progress import diff
from components.ui.table import pager
from components.ui.value import short_hash, when
from state.rules_history import RuleSetRow, RulesHistory
from state.session import Session


def rules_history() -> rx.Component:
    """Draw every set of rules, newest first."""
    state = RulesHistory
    none = empty("history", "No rules on any chain yet", "They are written as the token is deployed.")
    lost = rx.cond(
        state.is_forbidden,
        forbidden(state.problem),
        failure("The history did not load", state.problem, button("Try again", "rotate-cw", on_click=state.load)),
    )
    rows = rx.fragment(
        items(rx.foreach(state.rows, _rule_set)),
        pager(
            "As the chains tell, newest first; of a cap, each has its share", has_newer=state.has_newer,
            has_older=state.has_older, on_newer=state.newer, on_older=state.older, busy=state.busy,
        ),
    )  # fmt: skip
    body = rx.cond(
        state.problem != "",
        lost,
        rx.cond(state.loading, skeleton(3), rx.cond(state.rows.length() > 0, rows, none)),
    )
    return rx.el.div(card("History", body), class_name="rules-history", on_mount=state.load)


def _rule_set(told: rx.Var[RuleSetRow]) -> rx.Component:
    request = "/o/" + Session.org.id + "/requests?id=" + told.request_id
    who = rx.cond(
        told.request_id != "", link(rx.cond(told.who != "", told.who, "A program"), request), "With another operation"
    )
    moment = rx.cond(told.at != "", when(told.at, "exact"), rx.el.span("block ", told.block))
    first = text("The rules it began with on this chain.", cls="muted small")
    return rx.el.li(
        mark("scroll-text"),
        rx.el.div(
            rx.el.div(told.chain, rx.el.span(" version ", told.version, class_name="muted"), class_name="title"),
            rx.cond(told.changes.length() > 0, diff(told.changes), first),
            class_name="grow",
        ),
        rx.el.div(
            rx.el.div(who),
            rx.el.div(moment, class_name="muted small"),
            row(short_hash(told.tx_hash, "transaction", told.tx_url), cls="tight"),
            class_name="of-change",
        ),
        class_name="item",
        key=told.id,
    )  # fmt: skip
