"""The rule editor: framework cards, and every rule with its meaning.

Works with any `state.compliance.rule_editor.RuleEditor`.
"""

from typing import Any

import reflex as rx

from components.core.holder_picker import account_field
from components.ui.box import row
from components.ui.button import button
from components.ui.card import card
from components.ui.form import choice, choices, error_of, setting
from components.ui.icon import icon
from components.ui.overlay import picker
from components.ui.tabs import filters
from state.compliance.rule_editor import COUNTRY_ITEMS, Framework

LEVELS = [("0", "None"), ("1", "1"), ("2", "2"), ("3", "3")]


def framework_cards(state: Any, *, is_locked: rx.Var[bool] | bool = False) -> rx.Component:
    """Draw the frameworks as choices, each with what it enforces and what it leaves to the issuer."""
    hint = rx.el.span("A preset fills in the rules; you can change every value.", class_name="muted small")
    return rx.el.div(
        rx.el.div(
            rx.el.h2("Framework", class_name="title-3"),
            rx.cond(is_locked, rx.fragment(), hint),
            class_name="row wrap section-head",
        ),
        choices("Framework", rx.foreach(state.frameworks, lambda one: _framework(state, one, is_locked))),
        class_name="frameworks",
    )


def _framework(state: Any, one: rx.Var[Framework], is_locked: rx.Var[bool] | bool) -> rx.Component:
    card_ = choice(
        "framework",
        one.id,
        one.name,
        one.summary,
        checked=state.draft.framework == one.id,
        disabled=is_locked,
        on_change=lambda _: state.pick_framework(one.id),
    )
    trigger = rx.el.button(
        "What it enforces", icon("chevron-down", 12), type="button", class_name="link small more",
        aria_label="What it enforces: " + one.name,
    )  # fmt: skip
    about = rx.el.div(
        rx.el.p(one.name, class_name="title-3"),
        rx.el.p("Enforced on chain", class_name="muted small"),
        _lines(one.enforces, "check", "ok-text"),
        _unset(one.omits),
        rx.el.p("Left to you", class_name="muted small"),
        _lines(one.leaves, "minus", "muted"),
        rx.el.p("Configuration, not legal advice.", class_name="muted small"),
        class_name="col framework-about",
    )
    content = rx.popover.content(
        about,
        align="start",
        collision_padding={"top": 8, "right": 8, "bottom": 140, "left": 8},
        aria_label="What " + one.name + " enforces",
    )
    return rx.el.div(card_, rx.popover.root(rx.popover.trigger(trigger), content), class_name="framework", key=one.id)


def _unset(rules: rx.Var[list[str]]) -> rx.Component:
    """List the rules that a framework does not set."""
    some = rx.fragment(rx.el.p("Not set", class_name="muted small"), _lines(rules, "minus", "muted"))
    return rx.cond(rules.length() > 0, some, rx.fragment())


def _lines(lines: rx.Var[list[str]], sign: str, tone: str) -> rx.Component:
    def one(line: Any) -> rx.Component:
        return rx.el.li(icon(sign, 14, class_name=tone), rx.el.span(line), class_name="row top", key=line)

    return rx.el.ul(rx.foreach(lines, one), class_name="col tight")


def rule_settings(
    state: Any, symbol: Any, changed: Any = None, *, of_market: bool = False, is_locked: rx.Var[bool] | bool = False
) -> rx.Component:
    """Draw every rule with its control and error. `changed` maps the names of changed rules. `is_locked`: the user may
    only read them."""

    def line(name: str, about: Any, control: rx.Component, field: str) -> rx.Component:
        differs = changed.contains(name) if changed is not None else False
        return setting(name, about, control, _error(state, field), changed=differs)

    level = rx.match(
        state.draft.level, *((int(value), words if value == "0" else f"Level {words}") for value, words in LEVELS), ""
    )
    empty = rx.cond(is_locked, "", " Empty means no limit.").to(str)
    lockup = _text(state, "lockup", state.draft.lockup, "lockup_end_time", "Lock-up ends", type="datetime-local")
    unlocked = rx.el.span("No lock-up", class_name="muted")
    who = "trader" if of_market else "receiver"
    lines = [
        line(
            "Accredited investors only",
            f"A {who} needs an attestation as accredited at the required level. Checked on chain every time.",
            _read(
                is_locked,
                rx.cond(state.draft.accredited, "Yes", "No"),
                _switch(state, "accredited", "Accredited investors only"),
            ),
            "requires_accreditation",
        ),
        line(
            "Required KYC level",
            f"The lowest level a {who}'s attestation must carry. A higher level is a more thorough check. "
            "Raising it excludes holders below it.",
            _read(
                is_locked,
                level,
                rx.el.div(
                    filters("Required KYC level", state.draft.level.to_string(), state.set_level, LEVELS),
                    class_name="segmented",
                ),
            ),
            "required_kyc_level",
        ),
        line(
            "Maximum holders",
            rx.fragment("Counts accounts with a balance except the treasury.", empty),
            _read(
                is_locked,
                _limit(state.draft.max_holders, "holders"),
                _text(state, "max_holders", state.draft.max_holders, "max_holders", "Maximum holders", after="holders"),
            ),
            "max_holders",
        ),
        line(
            "Blocked countries",
            f"A {who} attested for one of these countries is refused.",
            _countries(state, is_locked),
            "blocked_countries",
        ),
        line(
            "Lock-up ends",
            rx.fragment(
                "No transfer between holders before this moment, in UTC. The treasury is exempt.",
                rx.cond(is_locked, "", " Empty means no lock-up."),
            ),
            rx.cond(
                is_locked,
                rx.cond(state.draft.lockup == "", unlocked, rx.el.span(state.lockup_words, class_name="num")),
                rx.el.div(lockup, rx.el.div(state.lockup_words, class_name="hint num"), class_name="col none grow"),
            ),
            "lockup_end_time",
        ),
        line(
            "Maximum per holder",
            rx.fragment(
                "A holder above it keeps the tokens but cannot receive more.",
                rx.cond(is_locked, "", " In tokens, such as 1250.5. Empty means no limit."),
            ),
            _read(
                is_locked,
                _limit(state.draft.max_tokens, symbol),
                _text(
                    state,
                    "max_tokens",
                    state.draft.max_tokens,
                    "max_tokens_per_holder",
                    "Maximum per holder",
                    after=symbol,
                ),
            ),
            "max_tokens_per_holder",
        ),
    ]
    if not of_market:
        lines += _asset_only(state, line, is_locked)
    return card(
        "Rules", *lines, right=rx.el.span("Configuration, not legal advice", class_name="muted small hide-narrow")
    )


def _asset_only(state: Any, line: Any, is_locked: rx.Var[bool] | bool) -> list[rx.Component]:
    """Draw the two rules that only tokens have."""
    return [
        line(
            "Organization only",
            "Only accounts that this organization itself attested can receive the token. Attestations by its parents "
            "and by trusted issuers then count only for sending.",
            _read(
                is_locked, rx.cond(state.draft.org_only, "Yes", "No"), _switch(state, "org_only", "Organization only")
            ),
            "org_only",
        ),
        line(
            "Trusted issuers",
            rx.cond(
                state.draft.org_only,
                "While Organization only is on, their attestations count only for sending, not for receiving or "
                "trading.",
                "Issuers whose attestations count, in addition to this organization's and its parents'.",
            ),
            _trusted(state, is_locked),
            "trusted_issuers",
        ),
    ]


def _issuer_picker(state: Any) -> rx.Component:
    """Draw the field that adds an issuer. Those of other organizations are not known here, so any address can be
    entered."""
    return rx.el.div(
        account_field(
            "Add an issuer", "issuer_pick", id="rule-issuer-pick", errors=state.errors,
            on_pick=state.add_issuer, optional=True, free=True,
        ),
        key="issuer-pick-" + state.revision.to_string(),
    )  # fmt: skip


def _trusted(state: Any, is_locked: rx.Var[bool] | bool) -> rx.Component:
    none = rx.el.span("No others", class_name="muted")
    read = rx.cond(state.trusted.length() > 0, _issuers(state, is_locked), none)
    edited = rx.fragment(_issuers(state, is_locked), _issuer_picker(state))
    return rx.cond(is_locked, read, rx.el.div(edited, class_name="col grow"))


def _issuers(state: Any, is_locked: rx.Var[bool] | bool) -> rx.Component:
    def chip(one: Any) -> rx.Component:
        remove = rx.el.button(
            icon("x", 12),
            type="button",
            aria_label="Remove " + one["name"],
            on_click=state.remove_issuer(one["address"]),
        )
        shown = rx.cond(is_locked, rx.fragment(), remove)
        return rx.el.li(one["name"], shown, class_name="chip", title=one["address"], key=one["address"])

    listed = rx.el.ul(rx.foreach(state.trusted, chip), class_name="row wrap chips", aria_label="Trusted issuers")
    return rx.cond(state.trusted.length() > 0, listed, rx.fragment())


def _switch(state: Any, name: str, label: str) -> rx.Component:
    return rx.switch(
        checked=state.draft.accredited if name == "accredited" else state.draft.org_only,
        on_change=state.switch(name),
        aria_label=label,
    )


def _read(is_locked: rx.Var[bool] | bool, words: Any, control: rx.Component) -> rx.Component:
    """Draw the control of a rule, or its value for people who may only read it."""
    return rx.cond(is_locked, rx.el.span(words, class_name="num"), control)


def _limit(value: Any, unit: Any) -> rx.Component:
    """Write a limit, or "No limit"."""
    none = rx.el.span("No limit", class_name="muted")
    return rx.cond((value == "") | (value == "0"), none, rx.fragment(value, " ", unit))


def _text(
    state: Any, name: str, value: Any, field: str, label: str, *, after: Any = None, type: str = "text"
) -> rx.Component:
    """Draw an input that keeps its own text; `revision` in its key makes it take over values that we fill in."""
    control = rx.el.input(
        id=f"rule-{name}",
        name=name,
        type=type,
        input_mode="decimal" if type == "text" else None,
        default_value=rx.cond(value == "0", "", value),
        placeholder="No limit" if name.startswith("max_") else None,
        key=f"{name}-" + state.revision.to_string(),
        class_name="input num",
        auto_complete="off",
        aria_label=label,
        on_change=state.write(name).debounce(300),
        on_blur=state.write(name),
        **_invalid(state, field),
    )
    tail = [rx.el.span(after, class_name="after")] if after is not None else []
    return rx.el.div(control, *tail, class_name="affix after-pad grow" if tail else "affix grow")


def _invalid(state: Any, field: str) -> dict[str, Any]:
    wrong = state.errors.contains(field)
    return {
        "aria_invalid": rx.cond(wrong, "true", "false"),
        "aria_describedby": rx.cond(wrong, f"rule-{field}-error", ""),
    }


def _error(state: Any, field: str) -> rx.Component:
    words = error_of(state.errors, field)
    said = rx.el.div(
        icon("circle-alert", 13), rx.el.span(words), class_name="error", id=f"rule-{field}-error", role="alert"
    )
    return rx.cond(state.errors.contains(field), said, rx.fragment())


def _countries(state: Any, is_locked: rx.Var[bool] | bool) -> rx.Component:
    def chip(one: Any) -> rx.Component:
        remove = rx.el.button(
            icon("x", 12), type="button", aria_label="Unblock " + one["name"], on_click=state.unblock(one["code"])
        )
        return rx.el.li(one["name"], rx.cond(is_locked, rx.fragment(), remove), class_name="chip", key=one["code"])

    search = rx.el.div(
        picker(
            COUNTRY_ITEMS, "Country to block", on_pick=state.block, placeholder="Country or code",
            none="No countries match", focused=True,
        ),
        class_name="pop narrow",
    )  # fmt: skip
    add = rx.popover.root(
        rx.popover.trigger(button("Add", "plus", small=True, aria_label="Add a country to block")),
        rx.popover.content(search, align="end", side_offset=6, aria_label="Block a country"),
    )
    none = rx.el.span("None", class_name="muted")
    return row(
        rx.el.ul(rx.foreach(state.blocked, chip), class_name="row wrap chips", aria_label="Blocked countries"),
        rx.cond(is_locked, rx.cond(state.blocked.length() > 0, rx.fragment(), none), add),
        cls="wrap chips",
    )


def rules_said(rules: rx.Var[list[dict[str, str]]]) -> rx.Component:
    """List rules as text."""
    return rx.el.dl(
        rx.foreach(rules, lambda rule: rx.fragment(rx.el.dt(rule["name"]), rx.el.dd(rule["value"]))), class_name="kv"
    )
