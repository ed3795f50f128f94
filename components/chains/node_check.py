"""The node check of a chain: a button, and the findings for each node."""

import reflex as rx

from components.ui.box import row, text
from components.ui.button import button
from components.ui.icon import mark
from components.ui.note import note, problem_note
from components.ui.status import badge, tag
from components.ui.value import copy_button, when
from state.chains.node_check import CheckedNodeView, CheckLineView, NodeChecks
from state.chains.views import ChainDetail


def node_check(chain: rx.Var[ChainDetail]) -> rx.Component:
    """Draw the check of a chain's nodes; hide results of another chain."""
    mine = NodeChecks.chain_id == chain.id
    about = "Checks what this chain's nodes support and which settings suit them. It takes up to 20 seconds."
    return rx.el.section(
        row(
            rx.el.h3("Nodes"),
            rx.el.span(class_name="end"),
            button("Check nodes", "stethoscope", small=True, busy=NodeChecks.busy, on_click=NodeChecks.run),
            cls="wrap",
        ),
        rx.cond(
            mine & (NodeChecks.nodes.length() > 0),
            _result(),
            rx.cond(
                mine & NodeChecks.busy, text("Querying nodes.", cls="muted", role="status"), text(about, cls="muted")
            ),
        ),
        rx.cond(mine, problem_note(NodeChecks.problem), rx.fragment()),
        class_name="node-check",
        aria_label="Nodes",
    )


def _result() -> rx.Component:
    setting = note(
        rx.el.b("Recommended settings. "),
        "Set SIGNUM_CHAIN_TERMS to this value for the chain, and restart Signum.",
        rx.el.pre(
            NodeChecks.setting, class_name="payload", tab_index=0, role="region", aria_label="SIGNUM_CHAIN_TERMS"
        ),
        copy_button(NodeChecks.setting, small=True),
        tone="info",
        sign="settings-2",
    )
    return rx.fragment(
        rx.foreach(NodeChecks.nodes, _node),
        rx.cond(NodeChecks.setting != "", setting, rx.fragment()),
        rx.el.div("Checked ", when(NodeChecks.checked_at), class_name="muted small"),
    )


def _node(node: rx.Var[CheckedNodeView]) -> rx.Component:
    return rx.el.div(
        row(rx.el.h4(node.name), badge(node.standing), cls="wrap"),
        rx.cond(node.standing != "good_enough", rx.el.p(node.summary), rx.fragment()),
        rx.cond(node.advice != "", rx.el.p(node.advice, class_name="muted"), rx.fragment()),
        rx.el.ul(rx.foreach(node.lines, _line), aria_label=node.name),
        key=node.name,
    )


def _line(line: rx.Var[CheckLineView]) -> rx.Component:
    # A line that is OK and has an effect is a remark, not a success.
    good = rx.cond(line.effect == "", mark("check", "ok"), mark("info"))
    sign = rx.match(line.level, ("ok", good), ("limits", mark("triangle-alert", "warn")), mark("x", "bad"))
    return rx.el.li(
        sign,
        rx.el.div(
            rx.el.div(rx.el.span(line.name, class_name="strong"), _level(line), class_name="row wrap"),
            rx.el.div(line.found, class_name="small"),
            rx.cond(line.effect != "", rx.el.div(line.effect, class_name="muted small"), rx.fragment()),
        ),
        key=line.name,
    )


def _level(line: rx.Var[CheckLineView]) -> rx.Component:
    """Name the level; for OK, to screen readers only."""
    words = rx.match(line.level, ("limits", tag("Works with limits", "warn")), tag("Missing", "bad"))
    return rx.cond(line.level == "ok", rx.el.span(", OK", class_name="sr"), words)
