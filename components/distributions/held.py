"""The held recipients of a distribution, and their release."""

import reflex as rx

from components.core.csv_link import csv_of
from components.core.permission import Scope, allowed
from components.distributions.check import outcome, recipient_row
from components.ui.box import col
from components.ui.button import button, link
from components.ui.card import card
from components.ui.dialog import form_dialog
from components.ui.form import text_field
from components.ui.note import empty, problem_note, skeleton
from components.ui.table import Col, list_table, pager
from components.ui.value import amount
from state.core.session import Session
from state.distributions.check import RecipientView
from state.distributions.detail import DistributionState
from state.distributions.held import HeldState
from state.distributions.release import Release

ONE = DistributionState.distribution


def held_card() -> rx.Component:
    """Draw the held recipients with the reasons."""
    csv = csv_of("/assets/" + ONE.asset_id + "/distributions/" + ONE.id + "/held-recipients")
    can_release = (ONE.status == "active") | (ONE.status == "completed")
    release = allowed(
        Scope.ASSETS_WRITE,
        rx.cond(can_release, button("Release", "send", small=True, on_click=Release.show(True)), rx.fragment()),
    )
    return card(
        "Held recipients",
        list_table(
            "Held recipients",
            [Col("Recipient"), Col("Amount", right=True), Col("Why held")],
            HeldState,
            _held,
            empty=empty("users", "No held recipients"),
            two=True,
        ),
        pager("Checked when the distribution was created", HeldState, csv=csv),
        right=release,
    )


def _held(row: rx.Var[RecipientView]) -> rx.Component:
    href = "/o/" + Session.org.id + "/distributions/" + row.paid_by + "?asset=" + ONE.asset_id
    why = rx.cond(row.paid_by != "", link("Released to another distribution", href), row.why)
    return recipient_row(row, amount(row.amount, ONE.symbol, ONE.decimals, 2), why)


def release_dialog() -> rx.Component:
    """Draw the dialog that releases the held recipients."""
    return form_dialog(
        "Release held recipients",
        "Checks the held recipients again, and creates a draft that pays those who are eligible now.",
        problem_note(Release.plan_problem),
        rx.cond(
            Release.is_checked,
            col(
                outcome(Release, offers=False),
                text_field("Name", "name", errors=Release.errors, id="release-name", max_length=120,
                           default_value=ONE.name + ", released"),
                cls="wide",
            ),
            rx.cond(Release.plan_problem == "", skeleton(2), rx.fragment()),
        ),
        form=Release,
        submit="Create draft",
    )  # fmt: skip
