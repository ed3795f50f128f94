"""The form of a new distribution: inputs at the left, the checked result at the right."""

import reflex as rx

from components.distributions.check import outcome, recipients_checked
from components.ui.box import col, split
from components.ui.button import button
from components.ui.card import card
from components.ui.csv_form import csv_form
from components.ui.form import choice, choices, field_row, form, select, select_field, text_field
from components.ui.note import empty, note
from state.distributions.form import NewDistribution

MOST = 134_217_728
"""The API's size limit of a list, in bytes."""
NEW = NewDistribution
FINISH = "finish-list"
"""The element below the result that gets the button of a checked list."""


def drawing_up() -> rx.Component:
    """Draw the whole form."""
    return split(
        col(_what(), _who(), rx.cond(NEW.is_checked, recipients_checked(NEW), rx.fragment()), cls="wide"), _outcome()
    )


def _what() -> rx.Component:
    return card(
        "What is paid out",
        col(
            text_field(
                "Name", "name", errors=NEW.errors, id="distribution-name", max_length=120,
                placeholder="Third-quarter distribution", default_value=NEW.name,
                key="name-" + NEW.restored.to_string(), on_change=NEW.write("name").debounce(250),
                on_blur=NEW.write("name"),
            ),
            field_row(
                select_field(
                    "Asset", "asset_id", NEW.assets, errors=NEW.errors, id="distribution-asset", value=NEW.asset,
                    on_change=NEW.write("asset_id"),
                ),
                select_field(
                    "Chain", "chain_eid", NEW.chains, errors=NEW.errors, id="distribution-chain", value=NEW.chain,
                    on_change=NEW.write("chain_eid"),
                ),
            ),
            select_field(
                "Pays in", "currency", NEW.currencies, errors=NEW.errors, id="distribution-currency",
                value=NEW.currency, on_change=NEW.write("currency"),
                hint="The asset's rules decide who can be paid, whichever currency is paid",
            ),
            cls="wide",
        ),
        pad=True,
    )  # fmt: skip


def _who() -> rx.Component:
    sources = choices(
        "Recipients",
        _source("list", "A list", "Addresses and amounts, pasted or as a CSV file"),
        _source("holders", "The holders", "All holders at a block, in proportion, without the treasury"),
    )
    return card("Recipients", col(sources, rx.cond(NEW.source == "list", _list(), _holders()), cls="wide"), pad=True)


def _source(name: str, title: str, about: str) -> rx.Component:
    return choice(
        "source", name, title, about, checked=NEW.source == name, on_change=lambda _: NEW.choose(name)
    )  # fmt: skip


def _list() -> rx.Component:
    units = [("whole", NEW.symbol + ", such as 12.5"), ("base", "Base units, as on chain")]
    unit = select(units, id="distribution-unit", value=NEW.unit, on_change=NEW.write("amounts"))
    example = rx.cond(
        NEW.unit == "whole",
        "0x1111111111111111111111111111111111111111,12.5",
        "0x1111111111111111111111111111111111111111,12500000",
    )
    return col(
        rx.el.div(
            rx.el.label("Amounts are", html_for="distribution-unit", class_name="label"), unit, class_name="field"
        ),
        csv_form(
            "List of recipients", NEW.action, further="&blocked=" + NEW.treatment, is_unusable=NEW.eligible == 0,
            most=MOST, example=example, on_checked=NEW.checked, on_made=NEW.made, what="Recipients",
            hint="One recipient per line: an address, a comma, an amount. A header line is skipped.",
            file_hint=", more than a million lines", missing="Name it and choose an asset first.", word="Create draft",
            actions=FINISH,
        ),
        cls="wide",
    )  # fmt: skip


def _holders() -> rx.Component:
    total = rx.el.span("Total to share, ", NEW.symbol)
    return form(
        field_row(
            text_field(
                total, "total_amount", errors=NEW.errors, id="distribution-total", input_mode="decimal",
                default_value=NEW.total, key="total-" + NEW.restored.to_string(),
                hint="Such as 1250.5",
            ),
            text_field(
                "Block", "block", errors=NEW.errors, id="distribution-block", input_mode="numeric", optional=True,
                default_value=NEW.block, key="block-" + NEW.restored.to_string(),
                hint="Empty: the latest final block",
            ),
        ),
        on_submit=NEW.check,
        problem=NEW.form_problem,
        submit="Check the holders",
        busy=NEW.saving,
    )  # fmt: skip


def _outcome() -> rx.Component:
    keep = rx.cond(
        (NEW.source == "holders") & (NEW.eligible > 0),
        button("Create draft", kind="primary", busy=NEW.saving, on_click=NEW.create),
        rx.fragment(),
    )
    result = col(
        outcome(NEW),
        note(
            rx.el.b("Nothing is sent yet. "),
            "A draft costs nothing. Activating it moves the total out of your treasury.",
        ),
        keep,
        cls="wide",
    )
    waiting = empty(
        "calculator", "Not checked yet",
        "Addresses, amounts and duplicates are checked before anything is saved, and each recipient against the rules.",
    )  # fmt: skip
    said = rx.fragment(rx.cond(NEW.is_checked, result, waiting), rx.el.div(id=FINISH))
    return rx.el.div(card("Result", said, pad=True), aria_live="polite", class_name="col outcome")
