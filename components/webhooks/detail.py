"""One webhook endpoint: its facts, its deliveries, one delivery in a drawer, and the confirmation dialogs."""

from typing import Any

import reflex as rx

from components.core.csv_link import csv_of
from components.core.permission import Scope, allowed, may
from components.ui.box import col, end, row
from components.ui.button import button
from components.ui.card import card_foot, kv, panel
from components.ui.dialog import confirm, drawer, form_dialog
from components.ui.form import check_field, select_field
from components.ui.icon import icon
from components.ui.note import empty, note
from components.ui.status import badge, status
from components.ui.table import Col, list_table, pager, td, toolbar, tr
from components.ui.tabs import filters
from components.ui.value import short_hash, when
from state.webhooks.deliveries import AttemptView, DeliveryView
from state.webhooks.detail import DeliveryState, Disablement, Removal, Replay, Rotation, WebhookState
from state.webhooks.form import EndpointForm

STATUSES = [("", "All"), ("pending", "Pending"), ("succeeded", "Delivered"), ("failed", "Failed")]
SINCE = [("1", "The last hour"), ("24", "The last day"), ("168", "The last week"), ("720", "The last 30 days")]

HERE = "Deliveries of events appear here."
TRY = "Send a test to try the endpoint."


def actions() -> rx.Component:
    """Draw the main actions: send a test, or enable the endpoint again."""
    of = WebhookState
    send = button("Send test", "send", kind="primary", busy=of.testing, on_click=of.test)
    enable = button("Enable", "circle-play", kind="primary", busy=of.changing, on_click=of.enable)
    return allowed(Scope.ORGS_WRITE, rx.cond(of.endpoint.status != "disabled", send, enable))


def _changes() -> rx.Component:
    """Draw the less frequent actions."""
    disable = button("Disable endpoint", "circle-pause", small=True, on_click=Disablement.show(True))
    return allowed(
        Scope.ORGS_WRITE,
        card_foot(
            row(
                button("Edit endpoint", "pencil", small=True, on_click=EndpointForm.edit(WebhookState.endpoint.id)),
                button("Rotate secret", "key-round", small=True, on_click=Rotation.show(True)),
                rx.cond(WebhookState.endpoint.status != "disabled", disable, rx.fragment()),
                button("Delete endpoint", "trash-2", small=True, on_click=Removal.show(True)),
                cls="wrap",
            )
        ),
    )


def facts() -> rx.Component:
    """Draw the endpoint's facts, and why it is disabled."""
    of = WebhookState.endpoint
    events = rx.cond(of.event_types.contains("*"), "Every event", of.event_types.join(", "))
    both = rx.fragment("Until ", when(of.old_secrets_until, "clock"), " the previous secret signs too")
    stopped = note(
        rx.el.b(of.reason, ", ", when(of.disabled_at), ". "),
        rx.cond(of.is_automatic, of.fix, ""),
        tone="warn",
    )
    return rx.el.div(
        rx.cond(of.status == "disabled", rx.el.div(stopped, class_name="hooks-note"), rx.fragment()),
        panel(
            kv(
                    ("Events", rx.el.span(events, class_name="break")),
                    ("Scope", rx.cond(of.include_descendants, "With sub-organizations", "This organization")),
                    ("Description", rx.cond(of.description != "", of.description, "none")),
                    ("Last success", when(of.last_success_at)),
                    ("Last failure", when(of.last_failure_at)),
                    ("Secret", rx.cond(of.old_secrets_until != "", both, "1 active")),
                    two=True,
                ),
            _changes(),
            label="Endpoint",
            class_name="hook-facts",
        ),
    )  # fmt: skip


def log_panel() -> rx.Component:
    """Draw the table of deliveries."""
    of = WebhookState
    nothing = rx.cond(
        of.status == "",
        empty("send", "No deliveries yet", rx.cond(may(Scope.ORGS_WRITE), f"{HERE} {TRY}", HERE)),
        empty("filter", "No deliveries match these filters"),
    )
    has_failed = may(Scope.ORGS_WRITE) & (of.endpoint.status != "disabled") & (of.endpoint.last_failure_at != "")
    again = button("Replay failed deliveries", "rotate-cw", small=True, on_click=Replay.show(True))
    return panel(
        toolbar(
            filters("Status", of.status, of.filter_status, STATUSES),
            end(rx.cond(has_failed, again, rx.fragment())),
        ),
        list_table(
            "Deliveries",
            [Col("Event"), Col("Status"), Col("Response"), Col("Attempt", right=True),
             Col("Next attempt", narrow=False),
             Col("Occurred", sort="created_at")],
            of,
            _row,
            empty=nothing,
        ),
        pager(
            "Newest first, kept for 30 days",
            of,
            csv=csv_of("/webhooks/" + rx.State.webhook_id + "/deliveries", status=of.status),
        ),
        label="Deliveries",
    )  # fmt: skip


def _row(one: rx.Var[DeliveryView]) -> rx.Component:
    open_ = rx.el.button(
        one.event_type,
        type="button",
        class_name="name mono",
        aria_label="Show the " + one.status + " delivery of " + one.event_type,
        on_click=DeliveryState.show(one.id),
    )
    return tr(
        td(open_),
        td(status(one.status)),
        td(rx.el.span(one.said, class_name="break"), full=True, label="Response"),
        td(one.attempt, " of 10", right=True, label="Attempt"),
        td(when(one.next_attempt_at, none="none"), narrow=False, class_name="muted"),
        td(when(one.created_at), class_name="muted"),
        key=one.id,
        aria_selected=rx.cond(DeliveryState.delivery.id == one.id, "true", "false"),
    )


def story() -> rx.Component:
    """Draw one delivery: payload, response, every attempt, and the button that resends it."""
    one, more = DeliveryState.delivery, DeliveryState.detail
    again = button("Resend", "rotate-cw", kind="primary", busy=DeliveryState.sending, on_click=DeliveryState.send_again)
    fix = rx.cond(one.has_response, " Correct the receiver.", " Start the receiver, or edit the endpoint's URL.")
    then = rx.cond(
        one.next_attempt_at != "",
        rx.fragment(" Next attempt: ", when(one.next_attempt_at, "exact"), "."),
        rx.cond(one.status == "failed", " Then resend.", ""),
    )
    said = rx.cond(more.failure != "", note(more.failure, ".", fix, then, tone="bad"), rx.fragment())
    waits = rx.cond(
        one.next_attempt_at != "", when(one.next_attempt_at, "exact"), rx.el.span("none", class_name="muted")
    )
    return drawer(
        one.event_type,
        rx.el.span("Event ", short_hash(one.event_id, "webhook-id")),
        col(
            said,
            kv(
                ("Status", badge(one.status)),
                ("Response", _response(one)),
                ("Occurred", when(one.created_at, "exact")),
                ("Next attempt", waits),
            ),
            _text("Response body", more.response, more.missing),
            _text("Payload", more.payload, ""),
            rx.el.div(rx.el.h3("Attempts"), _tries(more.tries)),
            cls="wide",
        ),
        is_open=one.id != "",
        on_close=DeliveryState.hide,
        foot=(
            rx.el.span(class_name="end"),
            button("Close", on_click=DeliveryState.hide),
            rx.cond(may(Scope.ORGS_WRITE) & (WebhookState.endpoint.status != "disabled"), again, rx.fragment()),
        ),
    )


def _response(one: rx.Var[DeliveryView]) -> rx.Component:
    """Say the status of the response; the reason of a failure without one is above."""
    none = rx.el.span(rx.cond(one.attempt > 0, "None", "None yet"), class_name="muted")
    return rx.cond(one.has_response, one.said, none)


def _text(title: str, text: rx.Var[str], none: rx.Var[str] | str) -> rx.Component:
    shown = rx.el.pre(text, class_name="payload", tab_index=0, role="region", aria_label=title)
    return rx.el.div(rx.el.h3(title), rx.cond(text != "", shown, rx.el.p(none, class_name="muted small")))


def _tries(tries: rx.Var[list[AttemptView]]) -> rx.Component:
    none = rx.el.p("Not sent yet.", class_name="muted small")
    return rx.cond(tries.length() > 0, rx.el.ul(rx.foreach(tries, _try), class_name="tries"), none)


def _try(one: rx.Var[AttemptView]) -> rx.Component:
    sign = rx.cond(
        one.is_good, icon("circle-check", 15, class_name="ok-text"), icon("circle-x", 15, class_name="bad-text")
    )
    return rx.el.li(
        sign,
        rx.el.span(one.said, class_name="grow break"),
        rx.el.span(one.took, class_name="muted small num nowrap"),
        rx.el.span(when(one.at), class_name="muted small nowrap"),
        key=one.id,
    )


def questions() -> rx.Component:
    """Draw the confirmation dialogs."""
    hurry = check_field(
        "Revoke the previous secret immediately",
        "revokes_now",
        checked=Rotation.revokes_now,
        on_change=Rotation.hurry,
        hint="For a leaked secret. Receivers reject deliveries until they have the new one.",
    )
    kept = "Deliveries stop. New events stay in the log for 30 days. You can replay them after you enable the endpoint."
    both = "A new secret signs immediately and is shown once. The previous one also signs for 24 hours."
    gone = rx.el.span(
        "Deletes ", rx.el.b(WebhookState.endpoint.url, class_name="break"), " with its secret and log. ",
        "Pending deliveries are not sent. This cannot be undone.",
    )  # fmt: skip
    return rx.fragment(
        _question(Disablement, "Disable this endpoint", kept, "Disable endpoint"),
        _question(Rotation, "Rotate the signing secret", both, "Rotate secret", hurry),
        _question(Removal, "Delete this endpoint", gone, "Delete endpoint"),
        _recovery(),
    )


def _question(of: Any, title: str, about: Any, word: str, *body: rx.Component) -> rx.Component:
    return confirm(
        title,
        about,
        *body,
        form=of,
        word=word,
        danger=word == "Delete endpoint",
    )


def _recovery() -> rx.Component:
    return form_dialog(
        "Replay failed deliveries",
        "Sends failed deliveries of the chosen period again, oldest first, with 10 more attempts each.",
        select_field("Period", "since", SINCE, id="r-since", default_value="24"),
        form=Replay,
        submit="Replay deliveries",
        width="440px",
    )
