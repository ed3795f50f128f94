"""Getting started: the card of an organization that has no market yet, with each step's button or form."""

from typing import Any

import reflex as rx

from components.core.holder_picker import account_field
from components.core.permission import permitted
from components.oauth.consent import consent_field
from components.parties.decision import LEVELS
from components.parties.form import COUNTRIES_ID, countries
from components.ui.button import button, link_button
from components.ui.form import check_field, error_of, field_row, form, select_field, text_field
from components.ui.icon import mark
from components.ui.note import problem_note
from components.ui.progress import bar
from components.ui.status import status
from state.core.session import Session
from state.organizations.getting_started import GettingStarted
from state.organizations.setup_words import SetupStepView
from state.users.preferences import MyPreferences

KINDS = [("person", "Person"), ("company", "Company")]
ROLES = [("compliance_officer", "Compliance officer"), ("member", "Member"), ("viewer", "Viewer"), ("admin", "Admin")]


def getting_started() -> rx.Component:
    """Draw the card; nothing after the last step, and after the user has hidden it."""
    name = "getting-started:" + Session.org.id
    left = GettingStarted.steps.length() - GettingStarted.done
    head = rx.el.div(
        rx.el.div(
            rx.el.h2("Getting started", class_name="title-3", id="getting-started"),
            rx.el.p(
                rx.cond(left == 1, "One step", left.to_string() + " steps"), " to a complete setup.", class_name="muted"
            ),
            class_name="grow",
        ),
        rx.el.div(bar(GettingStarted.percent, "Steps done"), class_name="setup-bar"),
        rx.el.span(GettingStarted.done, " of ", GettingStarted.steps.length(), class_name="muted small num nowrap"),
        button("Hide", small=True, on_click=MyPreferences.hide(name), aria_label="Hide getting started"),
        class_name="row wide checklist-head",
    )
    body = rx.el.section(
        head,
        rx.el.ol(rx.foreach(GettingStarted.steps, _step), class_name="checklist setup"),
        rx.cond(
            (GettingStarted.form_problem != "") & (GettingStarted.opened == ""),
            rx.el.div(problem_note(GettingStarted.form_problem), class_name="checklist-form"),
            rx.fragment(),
        ),
        class_name="card setup-card",
        aria_labelledby="getting-started",
    )
    return rx.cond((GettingStarted.steps.length() > 0) & ~MyPreferences.hidden.contains(name), body, rx.fragment())


def _step(step: rx.Var[SetupStepView]) -> rx.Component:
    sign = rx.match(
        step.state,
        ("done", mark("check", "ok")),
        ("open", mark("circle-dot", "info")),
        ("busy", mark("loader-circle", "info")),
        mark("lock"),
    )
    words = rx.match(
        step.state,
        ("done", status("succeeded")),
        ("busy", status("running")),
        ("open", permitted(step.scope, _button(step), step.word, small=True)),
        status("blocked"),
    )
    is_opened = (GettingStarted.opened != "") & (GettingStarted.opened == step.form) & (step.state == "open")
    return rx.el.li(
        sign,
        rx.el.div(
            rx.el.div(step.title, class_name="strong"),
            rx.cond(step.state == "done", rx.fragment(), rx.el.div(step.detail, class_name="muted")),
        ),
        rx.el.div(words),
        rx.cond(is_opened, rx.el.div(_form(step.form), class_name="setup-form"), rx.fragment()),
        class_name=step.state,
        key=step.name,
    )


def _button(step: rx.Var[SetupStepView]) -> rx.Component:
    """Draw what the step needs: a call, the wizard, or the button that opens its form."""
    treasury = button(
        step.word, kind="primary", small=True, busy=GettingStarted.busy == "treasury",
        on_click=GettingStarted.create_treasury,
    )  # fmt: skip
    wizard = link_button(step.word, "/o/" + Session.org.id + "/markets/new", kind="primary", small=True)
    opens = button(
        step.word, kind="primary", small=True, on_click=GettingStarted.open_form(step.form),
        aria_expanded=rx.cond(GettingStarted.opened == step.form, "true", "false"),
    )  # fmt: skip
    return rx.match(step.name, ("treasury", treasury), ("market", wizard), opens)


def _form(kind: rx.Var[str]) -> rx.Component:
    return rx.match(
        kind,
        ("chain", _chain()),
        ("register", _register()),
        ("party", _party()),
        ("verify", _verify()),
        ("attestation", _attest()),
        ("asset", _asset()),
        ("invitation", _invite()),
        rx.fragment(),
    )


def _inline(*fields: Any, on_submit: Any, submit: Any) -> rx.Component:
    return form(
        *fields,
        on_submit=on_submit,
        problem=GettingStarted.form_problem,
        submit=submit,
        busy=GettingStarted.saving,
        no_validate=True,
    )


def _select(label: str, name: str, hint: str | None = None) -> rx.Component:
    return select_field(
        label, name, GettingStarted.options, errors=GettingStarted.errors, id=f"s-{name}", hint=hint, auto_focus=True
    )


def _text(label: str, name: str, **props: Any) -> rx.Component:
    return text_field(label, name, errors=GettingStarted.errors, id=f"s-{name}", **props)


def _chain() -> rx.Component:
    return _inline(
        _select("Chain", "chain_id", "You can enable others later."),
        on_submit=GettingStarted.enable_chain,
        submit="Enable chain",
    )


def _register() -> rx.Component:
    return _inline(
        consent_field(error_of(GettingStarted.errors, "consent")), on_submit=GettingStarted.register, submit="Register"
    )


def _party() -> rx.Component:
    return _inline(
        field_row(
            _text("Name", "name", max_length=120, auto_focus=True),
            select_field("Kind", "kind", KINDS, id="s-kind"),
        ),
        field_row(
            _text("Country", "country", list=COUNTRIES_ID, placeholder="Type to search"),
            account_field("Wallet address", "wallet_address", errors=GettingStarted.errors, id="s-wallet_address",
                          free=True, offers="unassigned", hint="Will hold the tokens."),
        ),
        countries(),
        on_submit=GettingStarted.add_party,
        submit="Add investor",
    )  # fmt: skip


def _verify() -> rx.Component:
    return _inline(
        rx.el.p("You confirm that you have checked the identity of ", rx.el.b(GettingStarted.waiting_party), "."),
        field_row(
            select_field("KYC level", "kyc_level", LEVELS, errors=GettingStarted.errors, id="s-level", auto_focus=True),
            rx.el.div(check_field("Accredited investor", "accredited"), class_name="beside-field"),
        ),
        on_submit=GettingStarted.verify,
        submit="Verify",
    )


def _attest() -> rx.Component:
    return _inline(
        rx.el.p("Attest ", rx.el.b(GettingStarted.waiting_party), " for a year."),
        _select("Chain", "chain_eid"),
        on_submit=GettingStarted.attest,
        submit="Attest",
    )


def _asset() -> rx.Component:
    return _inline(
        field_row(
            _text("Name", "name", max_length=120, hint="The name that investors see.", auto_focus=True),
            _text("Symbol", "symbol", max_length=11, class_name="upper", hint="Up to 11 capital letters and digits."),
        ),
        field_row(
            select_field("Chain", "chain_eid", GettingStarted.options, errors=GettingStarted.errors, id="s-chain"),
            _text("Initial supply", "initial_supply", default_value="0", input_mode="decimal",
                  hint="In tokens, such as 1250.5, to your treasury."),
        ),
        on_submit=GettingStarted.create_asset,
        submit="Create asset",
    )  # fmt: skip


def _invite() -> rx.Component:
    return _inline(
        field_row(
            _text("Email", "email", type="email", auto_focus=True),
            select_field("Role", "role", ROLES, errors=GettingStarted.errors, id="s-role"),
        ),
        on_submit=GettingStarted.invite,
        submit="Send invitation",
    )
