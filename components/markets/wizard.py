"""The steps of the market wizard; the last one is in components/markets/review.py."""

from typing import Any

import reflex as rx

from components.compliance.rule_editor import framework_cards, rule_settings
from components.markets.enable_chain import enable_button
from components.markets.review import review
from components.ui.box import col, row
from components.ui.button import button
from components.ui.card import card
from components.ui.form import choice as choice_card
from components.ui.form import choices, field, field_row, select
from components.ui.icon import icon
from components.ui.note import note, problem_note
from components.ui.progress import stepper
from components.ui.value import short_hash
from state.markets.enable_chain import EnableChain
from state.markets.plan import Target
from state.markets.wizard import STEPS, MarketWizard


def wizard() -> rx.Component:
    """Draw the stepper and the current step."""
    state = MarketWizard
    step = rx.match(
        state.at, (0, _chain()), (1, _token()), (2, _rules()), (3, _fees()), review(),
    )  # fmt: skip
    onward = rx.el.div(
        rx.cond(state.at > 0, button("Back", "arrow-left", on_click=state.back), rx.fragment()),
        rx.el.span(class_name="end"),
        button(rx.cond(state.at == 3, "Review", "Continue"), kind="primary", on_click=state.forward),
        class_name="wizard-foot",
    )
    return rx.fragment(
        stepper("Steps", STEPS, state.at),
        rx.el.div(
            step,
            rx.cond(state.at < 4, rx.fragment(problem_note(state.form_problem), onward), rx.fragment()),
            class_name="wizard",
        ),
    )


def _chain() -> rx.Component:
    state = MarketWizard
    pick = field(
        "Asset",
        select(state.assets, id="wizard-asset", value=state.asset, on_change=state.choose_asset),
        for_id="wizard-asset",
    )
    targets = choices("Chain", rx.foreach(state.targets, _target))
    lead = rx.cond(state.closed.length() > 0, "No enabled chain is available. ", "No chain is enabled. ")
    none = note(rx.el.b(lead), "Enable one to continue.", tone="warn")
    return card(
        "Asset and chain",
        col(
            rx.el.div(pick, class_name="narrow-field"),
            rx.cond(state.targets.length() > 0, targets, none),
            rx.cond(state.closed.length() > 0, _closed(), rx.fragment()),
            _error("chain_eid"),
            _error("market_factory_address"),
            rx.cond(state.others.length() > 0, _others(), rx.fragment()),
            cls="wide",
        ),
        pad=True,
    )


def _closed() -> rx.Component:
    """Draw the line behind which enabled chains are listed that cannot be chosen."""
    closed = MarketWizard.closed

    def one(target: rx.Var[Target]) -> rx.Component:
        return rx.el.li(rx.el.span(rx.el.b(target.name), ": ", target.obstacle), key=target.eid.to_string())

    words = rx.cond(closed.length() == 1, " enabled chain is not available", " enabled chains are not available")
    return rx.el.details(
        rx.el.summary(icon("chevron-right", 13), rx.el.span(closed.length(), words)),
        rx.el.ol(rx.foreach(closed, one)),
        class_name="followed",
    )


def _others() -> rx.Component:
    """Draw the chains that are not enabled, each with the button that does it."""
    return rx.el.section(
        rx.el.h3("Not enabled yet", class_name="title-3"),
        rx.foreach(MarketWizard.others, _other),
        problem_note(EnableChain.problem),
        class_name="col",
        aria_label="Chains that are not enabled",
    )


def _other(target: rx.Var[Target]) -> rx.Component:
    return row(rx.el.span(target.name), enable_button(target.eid, target.name), cls="wrap", key=target.eid.to_string())


def _target(target: rx.Var[Target]) -> rx.Component:
    state = MarketWizard
    here = rx.cond(target.token != "", "The token is on this chain", "The token is bridged to this chain first")
    settled = rx.cond(target.quote != "", "Settled in " + target.quote, "Settled in the factory's default token")
    return rx.el.div(
        choice_card(
            "chain", target.eid.to_string(), target.name, here, settled,
            checked=state.target.eid == target.eid,
            on_change=lambda _: state.choose_chain(target.eid.to_string()),
        ),
        class_name="framework plain-choice",
        key=target.eid.to_string(),
    )  # fmt: skip


def _error(name: str) -> rx.Component:
    errors = MarketWizard.errors
    words = rx.el.div(
        icon("circle-alert", 13), rx.el.span(errors[name]), class_name="error", id=f"wizard-{name}-error", role="alert"
    )
    return rx.cond(errors.contains(name), words, rx.fragment())


def _token() -> rx.Component:
    state = MarketWizard
    here = note(
        rx.el.b(state.symbol, " is on ", state.target.name, ". "), "The market trades this token: ",
        short_hash(state.target.token, "token address"), tone="ok",
    )  # fmt: skip
    bridged = note(
        rx.el.b(state.symbol, " is not on ", state.target.name, " yet. "),
        "It is bridged first, with its rules. The market is deployed automatically once the bridge is confirmed; "
        "if the bridge fails, nothing is deployed.",
        tone="info",
    )
    own = field(
        "Token address",
        rx.el.input(
            id="wizard-token",
            class_name="input mono",
            default_value=state.own_token,
            key="token-" + state.target.eid.to_string(),
            placeholder="0x…",
            spell_check=False,
            on_change=state.write_token.debounce(200),
            on_blur=state.write_token,
            aria_describedby="wizard-token-hint",
        ),
        for_id="wizard-token",
        hint=rx.el.span(
            "Only if the asset's token is already on this chain but not known to Signum",
            id="wizard-token-hint",
        ),
        optional=True,
    )
    amount = field(
        rx.el.span("Amount to bridge, ", state.symbol),
        rx.el.input(
            id="wizard-amount",
            class_name="input num",
            input_mode="decimal",
            default_value=state.amount,
            key="amount-" + state.asset + "-" + state.target.eid.to_string(),
            on_change=state.write_amount.debounce(200),
            on_blur=state.write_amount,
            aria_describedby="wizard-amount-hint",
        ),
        for_id="wizard-amount",
        hint=rx.el.span(
            rx.cond(state.amount_said != "", state.amount_said + " ", ""),
            "For your treasury there, which can then sell. Without an amount, there is nothing to sell there.",
            id="wizard-amount-hint",
        ),
        optional=True,
    )
    return card(
        "Token",
        col(
            rx.cond(
                state.target.token != "",
                here,
                rx.fragment(
                    bridged,
                    rx.el.div(amount, _error("bridge_amount"), class_name="col narrow-field"),
                    rx.el.div(own, _error("rwa_token_address"), class_name="col narrow-field"),
                ),
            ),
            rx.cond(state.target.token != "", _error("rwa_token_address"), rx.fragment()),
            cls="wide",
        ),
        pad=True,
    )


def _rules() -> rx.Component:
    state = MarketWizard
    return rx.fragment(
        note(
            rx.el.b("A market has its own rules, which are final after deployment. "),
            "They start as a copy of the asset's rules. Every order must pass both the token's rules and these, so the "
            "lower of two limits counts. The review shows the token's limits on this chain.",
        ),
        framework_cards(state),
        rule_settings(state, state.symbol, of_market=True),
    )


def _fees() -> rx.Component:
    return card(
        "Fees",
        col(
            rx.el.p(
                "In basis points of the price: 30 bps are 0.30%. Your treasury collects them. The protocol takes a "
                "share of each fee, which the operator sets (10% by default). Fees are final after deployment.",
                class_name="muted",
            ),
            rx.el.div(
                field_row(
                    _fee("Taker fee", "taker", MarketWizard.taker, "Paid by the order that fills a resting order"),
                    _fee("Maker fee", "maker", MarketWizard.maker, "Paid by the resting order"),
                ),
                class_name="narrow-field",
            ),
            cls="wide",
        ),
        pad=True,
    )


def _fee(label: str, name: str, value: Any, hint: str) -> rx.Component:
    state, field_name = MarketWizard, f"{name}_fee_bps"
    wrong = state.errors.contains(field_name)
    control = rx.el.input(
        id=f"wizard-{name}",
        class_name="input num",
        input_mode="numeric",
        default_value=value,
        on_change=state.write_fee(name).debounce(200),
        on_blur=state.write_fee(name),
        aria_invalid=rx.cond(wrong, "true", "false"),
        aria_describedby=rx.cond(wrong, f"wizard-{field_name}-error", f"wizard-{name}-hint"),
    )
    return rx.el.div(
        rx.el.label(label, html_for=f"wizard-{name}", class_name="label"),
        rx.el.div(control, rx.el.span("bps", class_name="after"), class_name="affix after-pad"),
        _error(field_name),
        rx.el.div(hint, class_name="hint", id=f"wizard-{name}-hint"),
        class_name="field",
    )
