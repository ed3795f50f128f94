"""Attempts as cards: what is tried, the two verdicts side by side, what happened, and what the chain holds now."""

import reflex as rx

from components.ui.button import button, link
from components.ui.icon import icon, mark
from components.ui.note import note
from components.ui.status import status
from components.ui.value import short_hash
from state.attempts.list import AttemptCallView, AttemptsState, AttemptView

SIGNS = {
    "blocked_country": "globe",
    "locked_up": "lock",
    "second_wallet": "wallet",
    "expired_attestation": "calendar-x",
    "buyers_cash": "hand-coins",
    "stopped_chain": "unplug",
    "refused_packet": "package-x",
    "reorganization": "git-branch",
    "killed_server": "skull",
}


def attempts(title: str, rows: rx.Var[list[AttemptView]]) -> rx.Component:
    """Draw the attempts of one group."""
    return rx.el.section(rx.el.h2(title), rx.el.ul(rx.foreach(rows, _attempt), class_name="attempts"), aria_label=title)


def _attempt(attempt: rx.Var[AttemptView]) -> rx.Component:
    runs = attempt.status == "running"
    signs = [(kind, mark(sign)) for kind, sign in SIGNS.items()]
    again = rx.match(attempt.status, ("untried", "Try"), ("running", "Running"), "Try again").to(str)
    # An attempt against the rules makes calls, which are refused; one against the machinery is repaired.
    ended_well = rx.cond(attempt.calls.length() > 0, "attempt_refused", "attempt_repaired")
    outcome = rx.cond(attempt.status == "held", ended_well, attempt.status).to(str)
    head = rx.el.div(
        rx.match(attempt.kind, *signs, mark("zap")),
        rx.el.div(
            rx.el.h3(attempt.title, class_name="title"), rx.el.div(attempt.about, class_name="below"),
            class_name="grow",
        ),
        rx.cond((attempt.status != "untried") & ~runs, status(outcome), rx.fragment()),
        button(
            again, "play", small=True, busy=runs, disabled=AttemptsState.is_running,
            aria_label=again + ": " + attempt.title,
            on_click=AttemptsState.begin(attempt.kind),
        ),
        class_name="attempt-head",
    )  # fmt: skip
    result = rx.el.div(
        rx.cond(attempt.problem != "", note(attempt.problem, tone="warn"), rx.fragment()),
        rx.cond(attempt.steps.length() > 0, _steps(attempt), rx.fragment()),
        rx.cond(attempt.calls.length() > 0, rx.el.ul(rx.foreach(attempt.calls, _call)), rx.fragment()),
        rx.cond(attempt.facts.length() > 0, _facts(attempt), rx.fragment()),
        rx.cond(attempt.request_href != "", link("View request", attempt.request_href), rx.fragment()),
        class_name="attempt-body",
        aria_live="polite",
    )
    return rx.el.li(
        head,
        rx.cond(attempt.status != "untried", result, rx.fragment()),
        class_name=rx.cond(attempt.status == "broken", "card attempt broken", "card attempt"),
        key=attempt.kind,
        aria_label=attempt.title,
    )


def _call(call: rx.Var[AttemptCallView]) -> rx.Component:
    both = rx.cond(call.rules.length() > 0, "Both refuse", "Both allow")
    agreed = rx.el.span(icon("check", 14), both, class_name="row tight ok-text small")
    differ = rx.el.span(icon("circle-x", 14), "They differ", class_name="row tight bad-text small")
    python = _verdict(
        "Signum's rules",
        rx.cond(
            call.rules.length() > 0,
            rx.el.ul(rx.foreach(call.rules, lambda reason: rx.el.li(reason))),
            "They allow it.",
        ),
    )
    contract = _verdict(
        "The contract on " + call.chain,
        rx.el.div(rx.cond(call.contract != "", call.contract, "It allowed it.")),
        rx.cond(
            (call.rules.length() > 1) & (call.contract != ""),
            rx.el.div("A contract names only the first reason that it finds.", class_name="muted small"),
            rx.fragment(),
        ),
        rx.el.div(
            rx.cond(call.error != "", rx.el.code(call.error, class_name="mono"), rx.fragment()),
            short_hash(call.tx_hash, "transaction"),
            class_name="row wrap muted small",
        ),
    )
    return rx.el.li(
        rx.el.div(
            rx.el.span("Tried: ", rx.el.b(call.tried)),
            rx.cond(call.agrees, agreed, differ),
            class_name="row wrap between",
        ),
        rx.el.div(python, contract, class_name="both"),
        class_name="attempt-call",
        key=call.tx_hash,
    )


def _verdict(who: rx.Var[str] | str, *what: rx.Component | rx.Var[str]) -> rx.Component:
    return rx.el.div(rx.el.h4(who, class_name="muted small"), *what, class_name="said")


def _steps(attempt: rx.Var[AttemptView]) -> rx.Component:
    def one(step: rx.Var[dict[str, str]]) -> rx.Component:
        return rx.el.li(rx.el.span(step["at"], class_name="muted small num at"), rx.el.span(step["words"]))

    over = rx.el.li(
        rx.el.span(attempt.took, class_name="muted small num at"), rx.el.b("Everything works again."),
        class_name="ok-text",
    )  # fmt: skip
    return rx.el.div(
        rx.el.h4("What happened", class_name="muted small"),
        rx.el.ol(
            rx.foreach(attempt.steps, one),
            rx.cond((attempt.status == "held") & (attempt.calls.length() == 0), over, rx.fragment()),
        ),
        class_name="attempt-steps",
    )


def _facts(attempt: rx.Var[AttemptView]) -> rx.Component:
    def one(fact: rx.Var[dict[str, str]]) -> rx.Component:
        is_right = rx.cond(
            fact["holds"] != "",
            rx.el.span(icon("check", 14), rx.el.span("as it must be", class_name="sr"), class_name="ok-text"),
            rx.el.span(icon("circle-x", 14), "wrong", class_name="row tight bad-text"),
        )
        change = rx.cond(
            fact["before"] == fact["after"],
            rx.el.span(fact["after"], ", as before"),
            rx.el.span(fact["before"], " ", icon("arrow-right", 13), " ", fact["after"], class_name="row tight wrap"),
        )
        return rx.el.div(rx.el.dt(fact["name"]), rx.el.dd(change, is_right, class_name="row wrap num"))

    return rx.el.div(
        rx.el.h4("What the chain holds afterwards", class_name="muted small"),
        rx.el.dl(rx.foreach(attempt.facts, one)),
        class_name="attempt-facts",
    )
