"""The check of recipients: counts and sums, what happens to the blocked ones, and the table with the reasons."""

from typing import Any

import reflex as rx

from components.ui.box import col
from components.ui.box import row as line
from components.ui.card import kv, panel
from components.ui.form import choice, choices
from components.ui.icon import icon, mark
from components.ui.note import empty, note
from components.ui.table import Col, table, td, toolbar, tr
from components.ui.tabs import filters
from components.ui.value import amount, short_hash
from state.distributions.check import RecipientView

COLUMNS = [Col("Recipient"), Col("Amount", right=True), Col("Under the rules")]


def outcome(state: Any, *, offers: bool = True) -> rx.Component:
    """Draw counts, sums and warnings of a checked list, and with `offers` the choice for blocked recipients. The state
    is one with a check (`ShowsCheck`)."""
    return col(
        kv(
            ("Eligible", _counted(state, state.eligible, state.total)),
            ("Blocked", rx.cond(state.blocked > 0, _counted(state, state.blocked, state.total_blocked), "none")),
        ),
        rx.foreach(state.warnings, lambda words: note(words, tone="warn", key=words)),
        *([rx.cond(state.blocked > 0, _treatment(state), rx.fragment())] if offers else []),
        cls="wide",
    )


def _counted(state: Any, count: rx.Var[int], units: rx.Var[str]) -> rx.Component:
    noun = rx.cond(count == 1, " recipient, ", " recipients, ")
    return rx.el.span(rx.el.span(count, class_name="num"), noun, amount(units, state.symbol, state.decimals, 2))


def _treatment(state: Any) -> rx.Component:
    def one(value: str, title: str, about: str) -> rx.Component:
        return choice(
            "treatment", value, title, about, checked=state.treatment == value, on_change=lambda _: state.treat(value)
        )

    question = "What should happen to blocked recipients?"
    offered = choices(
        question,
        one(
            "hold",
            "Hold",
            "Blocked recipients are not paid now. Release them on the distribution's page once they are eligible.",
        ),
        one("exclude", "Exclude", "Blocked recipients are omitted and never paid."),
    )
    none = note(rx.el.b("No recipient is eligible. "), "Attest them, or change the asset's rules, then check again.")
    asked = col(rx.el.h3(question, aria_hidden="true"), offered)
    return rx.cond(state.eligible > 0, asked, none)


def recipients_checked(state: Any) -> rx.Component:
    """Draw the table of checked recipients, blocked ones first."""
    kinds = [("", "All", state.eligible + state.blocked), ("blocked", "Blocked", state.blocked),
             ("eligible", "Eligible", state.eligible)]  # fmt: skip
    more = rx.cond(
        state.unlisted > 0,
        rx.el.span(state.unlisted, " more recipients are not listed. ", class_name="muted"),
        rx.fragment(),
    )
    return panel(
        toolbar(filters("Eligibility", state.kind, state.list_kind, kinds)),
        table(
            "Checked recipients",
            COLUMNS,
            state.listed,
            lambda row: _recipient(state, row),
            empty=empty("filter", "No recipients match this filter"),
            loading=rx.Var.create(False),
            problem=rx.Var.create(""),
            two=True,
        ),
        rx.el.div(
            rx.el.span(more, state.source_words),
            rx.el.span(class_name="end"),
            rx.el.button(
                icon("download", 13), "Download CSV", type="button", class_name="link csv", on_click=state.download
            ),
            class_name="card-foot",
        ),
        label="Checked recipients",
    )


def _recipient(state: Any, row: rx.Var[RecipientView]) -> rx.Component:
    verdict = rx.cond(
        row.eligible,
        line(mark("circle-check", "ok"), "Eligible"),
        line(mark("circle-x", "bad"), row.why),
    )
    return recipient_row(row, amount(row.amount, state.symbol, state.decimals, 2), verdict)


def recipient_row(row: rx.Var[RecipientView], units: rx.Component, verdict: Any) -> rx.Component:
    """Draw a recipient with its amount and what the rules say."""
    return tr(
        td(
            rx.el.div(row.name),
            rx.el.div(
                rx.cond(row.wallet != "", rx.el.span(row.wallet, class_name="muted"), rx.fragment()),
                short_hash(row.address),
                class_name="row tight wrap small",
            ),
            full=True,
            class_name="wrap",
        ),
        td(units, right=True, label="Amount"),
        td(verdict, full=True, class_name="wrap"),
        key=row.index,
        class_name="facts",
    )
