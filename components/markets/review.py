"""The wizard's last step: the choices, the dry run's plan, open prerequisites, and the deploy button."""

from typing import Any

import reflex as rx

from components.compliance.impact import effects
from components.core.permission import Scope, allowed
from components.markets.enable_chain import enable_button
from components.oauth.consent import consent_field
from components.ui.box import col, row, text
from components.ui.button import button, link, link_button, text_button
from components.ui.card import card, panel
from components.ui.form import check_field, error_of
from components.ui.icon import icon
from components.ui.note import note, problem_note, skeleton
from components.ui.progress import checklist, diff
from components.ui.status import status
from components.ui.value import short_hash
from state.core.session import Session
from state.markets.attest_buyers import AttestBuyers
from state.markets.enable_chain import EnableChain
from state.markets.plan import PlanStepView
from state.markets.wizard import MarketWizard


def review() -> rx.Component:
    """Draw the review step."""
    return rx.el.div(
        _chosen(), col(_plan(), _impact(), _limits(), _notes(), _buttons(), cls="wide"), class_name="review"
    )


def _chosen() -> rx.Component:
    state = MarketWizard
    token = rx.cond(
        state.own_token != "",
        short_hash(state.own_token, "token address"),
        rx.cond(
            state.target.token != "",
            short_hash(state.target.token, "token address"),
            rx.cond(
                (state.amount != "") & (state.amount != "0"),
                rx.el.span(
                    "Not on this chain yet; bridged first, with ", state.amount, " ", state.symbol, " from the treasury"
                ),
                rx.el.span("Not on this chain yet; bridged first, without any tokens"),
            ),
        ),
    )
    return card(
        "Your market",
        _part(
            "Chain",
            0,
            ("Target", state.target.name),
            ("Market factory", short_hash(state.target.factory, "factory address")),
        ),
        _part("Token", 1, (state.symbol, token), ("Quote currency", state.target.quote)),
        _rules(),
        _listed("Fees", 3, state.fees_said),
    )  # fmt: skip


def _heading(title: str, step: int) -> rx.Component:
    change = text_button("Change", aria_label=f"Change {title.lower()}", on_click=MarketWizard.go(step))
    return row(rx.el.h3(title), rx.el.span(change, class_name="end"))


def _part(title: str, step: int, *pairs: tuple[Any, Any]) -> rx.Component:
    cells = [cell for name, value in pairs for cell in (rx.el.dt(name), rx.el.dd(value))]
    return rx.el.section(_heading(title, step), rx.el.dl(*cells, class_name="kv"), class_name="part", aria_label=title)


def _rules() -> rx.Component:
    """List the rules, and which limit counts where the token has one too."""

    def one(rule: Any) -> rx.Component:
        note_ = rx.cond(rule["note"] != "", rx.el.div(rule["note"], class_name="muted small"), rx.fragment())
        return rx.fragment(rx.el.dt(rule["name"]), rx.el.dd(rule["value"], note_))

    cells = rx.foreach(MarketWizard.said, one)
    return rx.el.section(_heading("Rules", 2), rx.el.dl(cells, class_name="kv"), class_name="part", aria_label="Rules")


def _listed(title: str, step: int, pairs: rx.Var[list[dict[str, str]]]) -> rx.Component:
    cells = rx.foreach(pairs, lambda pair: rx.fragment(rx.el.dt(pair["name"]), rx.el.dd(pair["value"])))
    return rx.el.section(_heading(title, step), rx.el.dl(cells, class_name="kv"), class_name="part", aria_label=title)


def _plan() -> rx.Component:
    state = MarketWizard
    stands = rx.cond(_is_unconfirmed(), status("needs_confirmation"), status("ready"))
    table = rx.el.div(
        rx.el.table(
            rx.el.caption("Steps of the deployment", class_name="sr"),
            rx.el.thead(
                rx.el.tr(
                    rx.el.th("#", scope="col"),
                    rx.el.th("Step", scope="col"),
                    rx.el.th("Chain", scope="col", class_name="hide-narrow"),
                    rx.el.th("Estimated gas", scope="col", class_name="r"),
                )
            ),
            rx.el.tbody(rx.foreach(state.plan.steps, _step)),
            class_name="table two",
        ),
        class_name="table-wrap",
        tab_index=0,
        role="region",
        aria_label="Steps of the plan",
    )
    costs = rx.el.span("about ", state.plan.cost, class_name="end num strong")
    foot = rx.fragment(
        rx.el.span("Gas of all steps, on every chain, paid by your treasury wallet"),
        rx.cond(state.plan.cost != "", costs, rx.fragment()),
    )
    return rx.cond(
        state.planning,
        card("Plan", rx.el.div(skeleton(4)), right=rx.el.span("Querying the chains", class_name="muted small")),
        rx.cond(
            state.planned,
            card("Plan", table, foot=foot, right=stands),
            rx.cond(state.prerequisites.length() > 0, _first(), _refused()),
        ),
    )


def _is_unconfirmed() -> rx.Var[bool]:
    """Return whether the deployment changes limits that the user has not confirmed."""
    return (MarketWizard.plan.confirmation != "") & ~MarketWizard.is_confirmed


def _step(step: rx.Var[PlanStepView], i: rx.Var[int]) -> rx.Component:
    return rx.el.tr(
        rx.el.td(i + 1, class_name="num muted"),
        rx.el.td(
            rx.el.div(step.title, class_name="strong"),
            rx.el.div(step.detail, class_name="muted small"),
            rx.el.div("On ", step.chain, class_name="muted small only-narrow"),
            class_name="wrap",
        ),
        rx.el.td(step.chain, class_name="muted hide-narrow wrap"),
        rx.el.td(rx.cond(step.gas != "", step.gas, rx.el.span("none", class_name="muted")), class_name="r"),
        key=step.name,
    )


def _first() -> rx.Component:
    state = MarketWizard

    def action(item: Any) -> rx.Component:
        elsewhere = rx.cond(item.href != "", link_button("Do this", item.href, small=True), status("open"))
        return rx.cond(item.name == "chain_enabled", enable_button(state.target.eid, state.target.name), elsewhere)

    again = button("Check again", "rotate-cw", small=True, on_click=state.make_plan, busy=state.planning)
    return card(
        "Before this market can be deployed",
        checklist(state.prerequisites, action),
        problem_note(EnableChain.problem),
        right=again,
    )


def _refused() -> rx.Component:
    state = MarketWizard
    again = button("Check again", "rotate-cw", small=True, on_click=state.make_plan, busy=state.planning)
    why = rx.cond(state.form_problem != "", problem_note(state.form_problem), note("No plan requested yet."))
    head = row(rx.el.h2("Plan", class_name="title-3"), rx.el.span(again, class_name="end"))
    return panel(col(head, why, cls="card-body"), label="Plan")


def _impact() -> rx.Component:
    """Draw whom the market's rules affect; nothing if no one is affected."""
    state = MarketWizard
    shown = card("Impact", effects(state))
    return rx.cond(state.planned & (state.effects.length() > 0), shown, rx.fragment())


def _limits() -> rx.Component:
    """Draw the limits that the deployment changes on other chains, and their confirmation."""
    state = MarketWizard
    confirm = check_field(
        state.plan.confirmation,
        "limits",
        hint="A contract counts the holders of its own chain only, so each chain enforces a share of the limit. "
        "Holders keep what they have.",
        checked=state.is_confirmed,
        on_change=state.confirm,
    )
    body = card("Limits by chain", diff(state.plan.caps), rx.el.div(confirm, class_name="card-body"))
    return rx.cond(state.planned & (state.plan.confirmation != ""), body, rx.fragment())


def _notes() -> rx.Component:
    state = MarketWizard
    some = note(
        rx.el.b(state.plan.eligible, rx.cond(state.plan.eligible == 1, " party", " parties")),
        " can trade under these rules.",
    )
    notes = rx.fragment(
        rx.foreach(state.plan.warnings, lambda words: note(words, tone="warn", key=words)),
        rx.cond(state.plan.eligible > 0, some, allowed(Scope.ATTESTATIONS_WRITE, _attest())),
        problem_note(state.form_problem),
    )
    return rx.cond(state.planned, notes, rx.fragment())


def _attest() -> rx.Component:
    """Offer to attest the parties that could then buy, and return to a new plan."""
    state = AttestBuyers
    words = rx.el.span(
        "Attest ", state.count, rx.cond(state.count == 1, " investor", " investors"), " on ", state.chain
    )
    progress = rx.cond(
        state.is_running,
        rx.el.span(state.doing, class_name="muted small num"),
        rx.el.span(
            "For one year: ",
            state.people,
            ". Other parties with a wallet are not verified, or do not meet these rules.",
            class_name="muted small",
        ),
    )
    offer = rx.el.div(
        button(words, "shield-check", busy=state.is_running, on_click=state.attest),
        progress,
        class_name="row wrap",
        role="status",
    )
    first = rx.el.form(
        note(
            rx.el.b("No issuer on ", state.chain, " yet. "),
            "Attestations need one. It is registered first, then the investors are attested.",
        ),
        consent_field(error_of(state.errors, "consent")),
        rx.el.div(
            button(
                rx.el.span("Register as issuer and attest ", state.count),
                "stamp",
                kind="primary",
                type="submit",
                busy=state.is_running | state.saving,
            ),
            progress,
            class_name="row wrap",
            role="status",
        ),
        on_submit=state.register,
        class_name="form",
    )
    none_able = note(
        rx.el.b("No verified party could buy here. "),
        "Register and verify investors under ",
        link("Parties", "/o/" + Session.org.id + "/parties"),
        ". The inputs of this market are kept as a draft.",
    )
    return rx.el.div(
        rx.cond(
            state.count > 0,
            rx.cond(state.lacks_issuer, first, offer),
            rx.cond(state.is_known, none_able, rx.cond(state.is_looking, _looking(), rx.fragment())),
        ),
        rx.cond(state.omitted != "", note(state.omitted, tone="warn"), rx.fragment()),
        problem_note(state.problem),
        class_name="col",
        on_mount=state.look,
    )


def _looking() -> rx.Component:
    """Hold the place of the offer while the parties are read, so that the buttons below do not move."""
    return row(button("Attest investors", "shield-check", busy=True), text("Reading the parties", cls="muted small"))


def _buttons() -> rx.Component:
    state = MarketWizard
    return rx.el.div(
        button("Back", "arrow-left", on_click=state.back),
        rx.cond(
            state.planned & _is_unconfirmed(),
            rx.el.span(icon("circle-alert", 14), "Confirm the new limits first", class_name="row tight small end"),
            rx.el.span(
                icon("lock", 14),
                "Rules and fees are final after deployment",
                class_name="row tight muted small end",
            ),
        ),
        button(
            "Deploy market",
            "rocket",
            kind="primary",
            busy=state.saving,
            disabled=~state.planned | _is_unconfirmed(),
            on_click=state.deploy,
        ),
        class_name="wizard-foot",
    )
