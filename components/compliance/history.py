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
from state.compliance.history import RuleSetView, RulesHistory
from state.core.session import Session


def rules_history() -> rx.Component:
    """Draw every version of the rules, newest first."""
    state = RulesHistory
    none = empty("history", "No rules on any chain yet", "They are written when the token is deployed.")
    lost = rx.cond(
        state.is_forbidden,
        forbidden(state.problem),
        failure("The history did not load", state.problem, button("Try again", "rotate-cw", on_click=state.load)),
    )
    rows = rx.fragment(
        items(rx.foreach(state.rows, _rule_set)),
        pager("As written to each chain, newest first. Each of several chains enforces its share of a limit.", state),
    )  # fmt: skip
    body = rx.cond(
        state.problem != "",
        lost,
        rx.cond(state.loading, skeleton(3), rx.cond(state.rows.length() > 0, rows, none)),
    )
    return rx.el.div(card("History", body), class_name="rules-history", on_mount=state.load)


def _rule_set(rules: rx.Var[RuleSetView]) -> rx.Component:
    request = "/o/" + Session.org.id + "/requests?id=" + rules.request_id
    who = rx.cond(
        rules.request_id != "",
        rx.fragment(
            link(rx.cond(rules.who != "", rules.who, "API key"), request),
            rx.el.div(rules.request, class_name="muted small"),
        ),
        "Outside Signum",
    )
    moment = rx.cond(rules.at != "", when(rules.at, "exact"), rx.el.span("block ", rules.block))
    first = text("The first rules on this chain.", cls="muted small")
    return rx.el.li(
        mark("scroll-text"),
        rx.el.div(
            rx.el.div(rules.chain, rx.el.span(" version ", rules.version, class_name="muted"), class_name="title"),
            rx.cond(rules.changes.length() > 0, diff(rules.changes), first),
            rx.cond(rules.reason != "", text("“", rules.reason, "”", cls="muted small"), rx.fragment()),
            class_name="grow",
        ),
        rx.el.div(
            rx.el.div(who),
            rx.el.div(moment, class_name="muted small"),
            row(short_hash(rules.tx_hash, "transaction", rules.tx_url), cls="tight"),
            class_name="of-change",
        ),
        class_name="item",
        key=rules.id,
    )  # fmt: skip
