"""The compliance editor: framework, rules, changes, their impact, and saving."""

import reflex as rx

from components.compliance.caps import limits_by_chain
from components.compliance.history import rules_history
from components.compliance.impact import effects
from components.compliance.rule_editor import framework_cards, rule_settings
from components.core.permission import Scope, allowed, may, read_only
from components.ui.box import col, row
from components.ui.button import button
from components.ui.card import card, item
from components.ui.dialog import dialog
from components.ui.form import check_field, save_bar, text_field
from components.ui.icon import icon
from components.ui.note import note, problem_note, skeleton
from components.ui.progress import diff
from state.assets.detail import AssetState
from state.compliance.editor import ComplianceState


def compliance_editor() -> rx.Component:
    """Draw the tab."""
    state, is_locked = ComplianceState, ~may(Scope.ASSETS_WRITE)
    editor = rx.fragment(
        rx.cond(
            is_locked,
            rx.el.div(read_only(Scope.ASSETS_WRITE, "change the rules"), class_name="following"),
            rx.fragment(),
        ),
        framework_cards(state, is_locked=is_locked),
        rx.el.div(
            rx.el.fieldset(
                rx.el.legend("Rules", class_name="sr"),
                rule_settings(state, AssetState.asset.symbol, state.changed, is_locked=is_locked),
                disabled=state.saving | is_locked,
                class_name="plain",
            ),
            allowed(Scope.ASSETS_WRITE, rx.el.div(_changes(), _impact(), class_name="beside")),
            class_name=rx.cond(is_locked, "", "split"),
        ),
        allowed(Scope.ASSETS_WRITE, _bar()),
        _review(),
    )
    return rx.el.div(
        rx.cond(state.frameworks.length() > 0, editor, rx.el.div(skeleton(5), class_name="card")),
        limits_by_chain(),
        rules_history(),
        on_mount=state.load,
    )


def _changes() -> rx.Component:
    state = ComplianceState
    none = rx.el.p("Your changes appear here next to the current rules.", class_name="muted card-body")
    return card("Changes", rx.cond(state.changes.length() > 0, diff(state.changes), none), count=state.changes.length())


def _impact() -> rx.Component:
    state = ComplianceState
    waiting = row(icon("loader-circle", 15, spin=True), "Querying the chains", cls="muted card-body")
    idle = rx.el.p("Checked against every holder and market as you change a rule.", class_name="muted card-body")
    wrong = rx.el.div(problem_note(state.form_problem), _rebase(), class_name="card-body col")
    unread = rx.el.p("Correct the marked fields first.", class_name="muted card-body")
    idle = rx.cond(state.errors.length() > 0, unread, idle)
    body = rx.cond(
        state.checking, waiting, rx.cond(state.checked, _found(), rx.cond(state.form_problem != "", wrong, idle))
    )
    return rx.el.div(card("Impact", body), role="status", aria_live="polite")


def _rebase() -> rx.Component:
    """Draw the button that applies the changes to the current rules; nothing if they are the ones that were read."""
    state = ComplianceState
    again = button("Load current rules", "rotate-cw", small=True, on_click=state.rebase)
    return rx.cond(state.is_outdated, rx.el.div(again), rx.fragment())


def _found() -> rx.Component:
    impact = ComplianceState.impact
    stay = item(impact.staying, "Not counting the treasury and distribution contracts", sign="circle-check", tone="ok")
    none = item("No investors yet", "Only the treasury", sign="circle-check", tone="ok")
    limits = rx.cond(impact.caps.length() > 0, rx.el.li(diff(impact.caps), aria_label="Limits by chain"), rx.fragment())
    return effects(ComplianceState, limits, rx.cond(impact.total > 0, stay, none))


def _bar() -> rx.Component:
    state = ComplianceState
    count = state.changes.length()
    tone = rx.cond(state.impact.is_harmless, "muted", "bad-text headline")
    verdict = rx.cond(
        state.checked,
        rx.el.span(state.impact.headline, class_name=tone),
        rx.cond(state.checking, rx.el.span("Calculating the impact", class_name="muted"), rx.fragment()),
    )
    wrong = state.errors.length() > 0
    words = rx.fragment(
        rx.el.span(count, rx.cond(count == 1, " unsaved change", " unsaved changes"), class_name="headline"),
        verdict,
        rx.cond(wrong, rx.el.span("Some fields are invalid", class_name="bad-text"), rx.fragment()),
    )
    return save_bar(
        (count > 0) | wrong,
        words,
        button("Discard", on_click=state.discard, disabled=state.saving),
        button(
            "Review and save", kind="primary", busy=state.saving, disabled=~state.checked | wrong,
            on_click=state.review(True),
        ),
    )  # fmt: skip


def _orders() -> rx.Component:
    """Draw the choice between keeping and cancelling the orders of ineligible holders."""
    state = ComplianceState
    return check_field(
        rx.fragment("Cancel ", state.impact.orders, " of ineligible investors"),
        "orders",
        hint="Those that are still open once the rules apply. If you keep them, the order book marks them "
        "“Cannot be filled”.",
        checked=state.cancels_orders,
        on_change=state.choose_orders,
    )


def _review() -> rx.Component:
    state = ComplianceState
    steps = rx.el.div(
        rx.el.h3("Steps", class_name="label"),
        rx.el.ol(rx.foreach(state.impact.steps, lambda step: rx.el.li(step, key=step)), class_name="plan-steps muted"),
    )
    harm = note(
        rx.el.b(state.impact.headline, ". "),
        state.impact.rights,
        tone="warn",
    )
    stricter = note(
        rx.el.b(state.impact.stricter, ". "), "The rules of a market are final: this change does not reach them."
    )
    fine = note(state.impact.headline, ".", tone="ok")
    return dialog(
        "Save these rules?",
        "They are written to every chain of the asset. Each chain enforces them from that block on.",
        rx.el.div(diff(state.changes), class_name="diff-box"),
        col(
            rx.cond(state.impact.is_harmless, fine, harm),
            rx.cond(state.impact.stricter != "", stricter, rx.fragment()),
            rx.cond(state.impact.orders != "", _orders(), rx.fragment()),
            rx.cond(state.impact.steps.length() > 0, steps, rx.fragment()),
            text_field(
                "Reason", "rules_reason", optional=True, max_length=500,
                hint="Stored in the audit log and in the history of the rules.",
                default_value=state.reason, on_change=state.explain.debounce(150), on_blur=state.explain,
            ),
            problem_note(state.form_problem),
            _rebase(),
            cls="card-body",
        ),
        is_open=state.reviewing,
        on_open_change=state.review,
        flush=True,
        foot=(
            rx.el.span(class_name="end"),
            rx.dialog.close(button("Cancel")),
            button("Save rules", kind="primary", busy=state.saving, on_click=state.save),
        ),
    )  # fmt: skip
