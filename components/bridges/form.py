"""The dialog of a new bridge: the fields at the left, the plan at the right."""

from typing import Any

import reflex as rx

from components.core.holder_picker import account_field
from components.ui.box import col
from components.ui.card import kv
from components.ui.dialog import form_dialog
from components.ui.form import check_field, field_row, select_field, text_field
from components.ui.note import empty, note, problem_note, skeleton
from components.ui.progress import diff
from components.ui.value import amount, short_hash
from state.bridges.form import NewBridge

STATE = NewBridge
PLAN = NewBridge.plan


def bridge_dialog() -> rx.Component:
    """Draw the dialog."""
    return form_dialog(
        "New bridge",
        "Takes an asset to another chain, with its rules. What you send is exactly what the plan shows.",
        rx.el.div(_fields(), _plan(), _limits(), class_name="bridge-form"),
        form=STATE,
        submit="Send bridge",
        width="960px",
    )


def _fields() -> rx.Component:
    return col(
        _select("Asset", "asset_id", STATE.assets, placeholder="Choose an asset", value=STATE.asset),
        field_row(
            _select("From", "source_chain_eid", STATE.sources, value=STATE.source),
            _select("To", "destination_chain_eid", STATE.targets, value=STATE.target),
        ),
        text_field(
            rx.el.span("Amount", rx.cond(STATE.symbol != "", rx.el.span(", ", STATE.symbol), rx.fragment())),
            "amount", errors=STATE.errors, id="bridge-amount", input_mode="decimal", optional=True,
            hint="In whole tokens, at most 6 decimals. Empty: only the rules",
            on_change=STATE.write("amount").debounce(300), on_blur=STATE.leave("amount"),
        ),
        account_field(
            "Receiver", "to_address", id="bridge-to_address", errors=STATE.errors, asset_id=STATE.asset,
            chain_eid=STATE.target, on_pick=STATE.write("to_address"), optional=True, hint="Empty: your treasury",
        ),
        cls="wide",
    )  # fmt: skip


def _select(label: str, name: str, options: Any, **props: Any) -> rx.Component:
    return select_field(
        label, name, options, errors=STATE.errors, id=f"bridge-{name}", on_change=STATE.write(name), **props
    )


def _plan() -> rx.Component:
    waiting = empty("arrow-left-right", "No plan yet", "Choose an asset and its chains to see what would happen.")
    said = rx.cond(
        STATE.plan_problem != "",
        rx.el.div(problem_note(STATE.plan_problem), class_name="answer"),
        rx.cond(STATE.planning, skeleton(5), rx.cond(STATE.planned, _planned(), waiting)),
    )
    return rx.el.section(said, class_name="card", aria_label="Plan", aria_live="polite", aria_busy=STATE.planning)


def _planned() -> rx.Component:
    carried = amount(PLAN.amount, STATE.symbol, STATE.decimals)
    leaves = rx.el.div(
        rx.cond(PLAN.receiver != "", carried, rx.el.span("The rules of ", STATE.symbol)),
        rx.el.div(PLAN.source, ", from ", _who(PLAN.sender, PLAN.sender_name), class_name="muted small"),
    )
    arrives = rx.el.div(
        rx.cond(PLAN.receiver != "", carried, rx.el.span("The rules of ", STATE.symbol)),
        rx.el.div(
            PLAN.destination,
            rx.cond(PLAN.receiver != "", rx.fragment(", for ", _who(PLAN.receiver, PLAN.receiver_name)), ""),
            class_name="muted small",
        ),
    )
    fee = rx.cond(PLAN.fee == "0", "None", rx.el.span("At most ", amount(PLAN.fee, PLAN.currency, 18), ", plus gas"))
    changed = note("The plan has changed since you read it. Nothing was sent.", tone="warn")
    steps = rx.el.ol(rx.foreach(PLAN.steps, lambda step: rx.el.li(step, key=step)), class_name="plan-steps")
    return col(
        rx.cond(STATE.has_changed, changed, rx.fragment()),
        kv(
            ("Leaves", leaves),
            ("Arrives", arrives),
            ("Delivery fee", fee),
            ("Verified by", rx.el.span(PLAN.verification, class_name="small")),
        ),
        rx.el.h2("Steps", class_name="title-3"),
        steps,
        rx.foreach(PLAN.warnings, lambda words: note(words, tone="warn", key=words)),
        cls="answer",
    )


def _who(address: rx.Var[str], name: rx.Var[str]) -> rx.Component:
    return rx.fragment(rx.cond(name != "", rx.el.span(name, " "), rx.fragment()), short_hash(address))


def _limits() -> rx.Component:
    """Draw the limits that the bridge changes, and their confirmation where another chain's limit changes."""
    confirm = check_field(
        PLAN.confirmation,
        "limits",
        hint="Each chain enforces its share of the asset's limits. Holders keep what they have.",
        checked=STATE.is_confirmed,
        on_change=STATE.confirm,
    )
    shown = rx.el.section(
        rx.el.h2("Limits by chain", class_name="title-3"),
        diff(PLAN.caps),
        rx.cond(PLAN.confirmation != "", confirm, rx.fragment()),
        class_name="col",
        aria_label="Limits by chain",
    )
    return rx.cond(STATE.planned & (PLAN.caps.length() > 0), shown, rx.fragment())
