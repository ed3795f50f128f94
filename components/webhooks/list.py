"""The list of webhook endpoints, the form with its event types, and the secret that is shown once."""

from itertools import groupby

import reflex as rx

from backend.webhooks.catalogue import event_types, group_of
from backend.webhooks.schemas import EventTypeInfo
from components.core.csv_link import csv_of
from components.core.permission import Scope, allowed
from components.ui.box import row
from components.ui.button import button
from components.ui.card import panel
from components.ui.dialog import dialog, form_dialog
from components.ui.form import check_field, choice, choices, error_of, text_field
from components.ui.icon import icon
from components.ui.note import empty, note
from components.ui.status import status
from components.ui.table import Col, list_table, name_link, pager, td, tr
from components.ui.value import copy_button, when
from state.core.session import Session
from state.webhooks.form import EndpointForm
from state.webhooks.list import EndpointView, SigningSecret, WebhooksState

GROUPS = {
    "api_key": "API keys", "party": "Parties", "organization": "Organizations", "distribution": "Distributions",
    "attestation": "Attestations", "webhook": "Test",
}  # fmt: skip


def endpoints_panel() -> rx.Component:
    """Draw the table of endpoints."""
    return panel(
        list_table(
            "Webhook endpoints",
            [
                Col("Endpoint"), Col("Status"), Col("Events"), Col("Last delivery"),
                Col("Created", narrow=False, sort="created_at"),
            ],
            WebhooksState,
            _row,
            empty=empty(
                "webhook", "No endpoints yet", "An endpoint receives a signed request for each event."
            ),
            two=True,
        ),
        pager("Newest first, 50 per page", WebhooksState, csv=csv_of("/webhooks")),
        label="Webhook endpoints",
    )  # fmt: skip


def stopped_note() -> rx.Component:
    """Say that endpoints were disabled automatically."""
    words = rx.cond(
        WebhooksState.stopped == 1, "An endpoint was disabled. ", f"{WebhooksState.stopped} endpoints were disabled. "
    )
    about = "The page of an endpoint says why, and how to enable it again."
    return rx.cond(
        WebhooksState.stopped > 0,
        rx.el.div(note(rx.el.b(words), about, tone="warn"), class_name="hooks-note"),
        rx.fragment(),
    )


def new_button() -> rx.Component:
    """Draw the button that opens the form of a new endpoint, for users who can create one."""
    return allowed(Scope.ORGS_WRITE, button("New endpoint", "plus", kind="primary", on_click=EndpointForm.show(True)))


def _row(end: rx.Var[EndpointView]) -> rx.Component:
    below = rx.cond(end.description != "", rx.el.div(end.description, class_name="muted small break"), rx.fragment())
    told = rx.el.div(end.reason, ", ", when(end.disabled_at), class_name="muted small stopped")
    why = rx.cond(end.reason != "", told, rx.fragment())
    last = rx.cond(end.last_success_at > end.last_failure_at, end.last_success_at, end.last_failure_at)
    reach = rx.el.div("and of sub-organizations", class_name="muted small")
    return tr(
        td(
            rx.el.div(name_link(end.url, "/o/" + Session.org.id + "/webhooks/" + end.id), class_name="break"),
            below,
            full=True,
        ),
        td(status(end.status), why),
        td(end.events, rx.cond(end.include_descendants, reach, rx.fragment()), label="Events"),
        td(when(last), class_name="muted", label="Last delivery"),
        td(when(end.created_at), narrow=False, class_name="muted"),
        key=end.id,
    )


def endpoint_dialog() -> rx.Component:
    """Draw the form that creates or changes an endpoint."""
    form, errors = EndpointForm, EndpointForm.errors
    said = error_of(errors, "event_types")
    is_new = form.row.id == ""
    return form_dialog(
        rx.cond(is_new, "New endpoint", "Edit endpoint"),
        rx.cond(
            is_new,
            "Signum posts signed JSON to it. Its secret is shown only once.",
            "Pending deliveries go to the new URL.",
        ),
        text_field(
            "URL", "url", id="h-url", errors=errors, type="url", max_length=2000, default_value=form.row.url,
            placeholder="https://example.com/webhooks/signum",
            hint="Use a public https URL. On embedded chains, http://localhost with a port also works.",
        ),
        text_field(
            "Description", "description", id="h-description", errors=errors, optional=True, max_length=300,
            default_value=form.row.description,
        ),
        check_field(
            "Include sub-organizations", "include_descendants", default_checked=form.row.include_descendants,
            hint="Events of every organization below " + Session.org.name,
        ),
        choices(
            "Events",
            choice(
                "which", "all", "Every event", "Includes types added later",
                checked=form.every, on_change=form.ask(True),
            ),
            choice(
                "which", "some", "Selected events", f"Choose from {len(_groups())} groups below",
                checked=~form.every, on_change=form.ask(False),
            ),
        ),
        rx.cond(form.every, rx.fragment(), _types()),
        rx.cond(said != "", rx.el.div(icon("circle-alert", 13), said, class_name="error", role="alert"), rx.fragment()),
        form=form,
        submit=rx.cond(is_new, "Create endpoint", "Save endpoint"),
        foot=rx.cond(form.every, rx.fragment(), rx.el.span(form.chosen.length(), " selected", class_name="muted num")),
        width="720px",
    )  # fmt: skip


def _groups() -> list[tuple[str, list[EventTypeInfo]]]:
    return [(key, list(of)) for key, of in groupby(event_types(), lambda t: group_of(t.type)) if key != "webhook"]


def _types() -> rx.Component:
    return rx.el.div(*[_group(key, of) for key, of in _groups()], class_name="hook-types")


def _group(key: str, types: list[EventTypeInfo]) -> rx.Component:
    name = GROUPS.get(key, key.capitalize() + "s")
    every = rx.el.button(
        "All", type="button", class_name="link small", aria_label=f"All of {name}",
        on_click=EndpointForm.toggle_group(key),
    )  # fmt: skip
    return rx.el.fieldset(
        rx.el.legend(name, every),
        *[_type(t) for t in types],
    )


def _type(info: EventTypeInfo) -> rx.Component:
    name = str(info.type)
    box = rx.el.input(
        type="checkbox", checked=EndpointForm.chosen.contains(name), on_change=lambda _: EndpointForm.toggle(name),
        aria_label=name,
    )  # fmt: skip
    words = rx.el.span(rx.el.span(name, class_name="mono"), rx.el.div(info.description, class_name="hint"))
    return rx.el.label(box, words, class_name="check")


def secret_dialog() -> rx.Component:
    """Draw the dialog that shows a new secret once."""
    return dialog(
        "Copy the signing secret now",
        "It is shown only once. Receivers verify every delivery with it.",
        row(
            rx.el.input(
                value=SigningSecret.secret, read_only=True, id="new-secret", class_name="input mono",
                aria_label="The signing secret", spell_check=False,
            ),
            copy_button(SigningSecret.secret),
        ),
        rx.el.div(note(
            "Signatures follow ", rx.el.b("Standard Webhooks"), ", so the ",
            rx.el.code("standardwebhooks", class_name="mono"), " libraries verify them. If it is lost, rotate it.",
        ), class_name="after"),
        is_open=SigningSecret.secret != "",
        on_open_change=SigningSecret.show,
        foot=(rx.el.span(class_name="end"), rx.dialog.close(button("I have copied it", kind="primary"))),
        width="560px",
    )  # fmt: skip
