"""One webhook endpoint: its facts, its log, a delivery's story, and the questions before something is changed."""

from typing import Any

import reflex as rx

from components.access import for_admins, is_admin
from components.ui.box import col, end, row
from components.ui.button import button
from components.ui.card import card_foot, kv, panel
from components.ui.dialog import confirm, drawer, form_dialog
from components.ui.form import check_field, select_field
from components.ui.icon import icon
from components.ui.note import empty, note
from components.ui.status import badge, status
from components.ui.table import Col, pager, table, td, toolbar, tr
from components.ui.tabs import filters
from components.ui.value import short_hash, when
from state.webhook import Delivery, DeliveryState, Disabling, Recovery, Removal, Rotation, Try, WebhookState
from state.webhook_form import EndpointForm

STATUSES = [("", "All"), ("pending", "On their way"), ("succeeded", "Delivered"), ("failed", "Failed")]
SINCE = [("1", "The last hour"), ("24", "The last day"), ("168", "The last week"), ("720", "The last 30 days")]


def actions() -> rx.Component:
    """Draw what an admin came for: to try it, or to let it be sent to again."""
    of = WebhookState
    send = button("Send test", "send", kind="primary", busy=of.testing, on_click=of.test)
    enable = button("Enable", "circle-play", kind="primary", busy=of.changing, on_click=of.enable)
    return for_admins(rx.cond(of.endpoint.status != "disabled", send, enable))


def _changes() -> rx.Component:
    """Draw the rarer things."""
    disable = button("Disable", "circle-pause", small=True, on_click=Disabling.show(True))
    return for_admins(
        card_foot(
            row(
                button("Change", "pencil", small=True, on_click=EndpointForm.edit(WebhookState.endpoint.id)),
                button("Rotate secret", "key-round", small=True, on_click=Rotation.show(True)),
                rx.cond(WebhookState.endpoint.status != "disabled", disable, rx.fragment()),
                button("Delete", "trash-2", small=True, on_click=Removal.show(True)),
                cls="wrap",
            )
        )
    )


def facts() -> rx.Component:
    """Draw what the endpoint is, and why it is disabled."""
    of = WebhookState.endpoint
    events = rx.cond(of.event_types.contains("*"), "Every event", of.event_types.join(", "))
    both = rx.fragment("Until ", when(of.old_secrets_until, "clock"), " the one before signs too")
    stopped = note(
        rx.el.b(of.reason, ". "),
        rx.cond(of.by_itself, "Check the receiver, enable the endpoint, then send again what it missed.", ""),
        tone="warn",
    )
    return rx.el.div(
        rx.cond(of.status == "disabled", rx.el.div(stopped, class_name="hooks-note"), rx.fragment()),
        panel(
            kv(
                    ("Events", rx.el.span(events, class_name="break")),
                    ("Reach", rx.cond(of.include_descendants, "This organization and all below", "This organization")),
                    ("Description", rx.cond(of.description != "", of.description, "none")),
                    ("Last success", when(of.last_success_at)),
                    ("Last failure", when(of.last_failure_at)),
                    ("Secret", rx.cond(of.old_secrets_until != "", both, "One signs")),
                    two=True,
                ),
            _changes(),
            label="Endpoint",
            class_name="hook-facts",
        ),
    )  # fmt: skip


def log_panel() -> rx.Component:
    """Draw the deliveries."""
    of = WebhookState
    nothing = rx.cond(
        of.status == "",
        empty("send", "Nothing was sent yet", "Send a test, or wait until something changes."),
        empty("filter", "No delivery fits"),
    )
    again = button("Send failed ones again", "rotate-cw", small=True, on_click=Recovery.show(True))
    return panel(
        toolbar(
            filters("Status", of.status, of.filter_status, STATUSES),
            end(rx.cond(is_admin() & (of.endpoint.status != "disabled"), again, rx.fragment())),
        ),
        table(
            "Deliveries",
            [Col("Event"), Col("Status"), Col("Answer"), Col("Attempt", right=True), Col("Next attempt", narrow=False),
             Col("Happened")],
            of.rows,
            _row,
            empty=nothing,
            loading=of.loading,
            problem=of.problem,
            is_forbidden=of.is_forbidden,
            on_retry=of.reload,
        ),
        pager(
            "Newest first, kept for 30 days", has_newer=of.has_newer, has_older=of.has_older, on_newer=of.newer,
            on_older=of.older, busy=of.busy,
        ),
        label="Deliveries",
    )  # fmt: skip


def _row(one: rx.Var[Delivery]) -> rx.Component:
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
        td(rx.el.span(one.said, class_name="break"), full=True, label="Answer"),
        td(one.attempt, " of 10", right=True, label="Attempt"),
        td(when(one.next_attempt_at, none="none"), narrow=False, class_name="muted"),
        td(when(one.created_at), class_name="muted"),
        key=one.id,
        aria_selected=rx.cond(DeliveryState.delivery.id == one.id, "true", "false"),
    )


def story() -> rx.Component:
    """Draw one delivery: what was sent, what came back, every attempt, and the button to send it again."""
    one, more = DeliveryState.delivery, DeliveryState.detail
    again = button(
        "Send again", "rotate-cw", kind="primary", busy=DeliveryState.sending, on_click=DeliveryState.send_again
    )
    said = rx.cond(more.failure != "", note(more.failure, tone="bad"), rx.fragment())
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
                ("Answer", rx.cond(one.said != "", one.said, rx.el.span("none yet", class_name="muted"))),
                ("Happened", when(one.created_at, "exact")),
                ("Next attempt", waits),
            ),
            _text("Answer's body", more.response, more.missing),
            _text("Sent", more.payload, ""),
            rx.el.div(rx.el.h3("Attempts"), _tries(more.tries)),
            cls="wide",
        ),
        is_open=one.id != "",
        on_close=DeliveryState.hide,
        foot=(
            rx.el.span(class_name="end"),
            button("Close", on_click=DeliveryState.hide),
            rx.cond(is_admin() & (WebhookState.endpoint.status != "disabled"), again, rx.fragment()),
        ),
    )


def _text(title: str, text: rx.Var[str], none: rx.Var[str] | str) -> rx.Component:
    shown = rx.el.pre(text, class_name="payload", tab_index=0, role="region", aria_label=title)
    return rx.el.div(rx.el.h3(title), rx.cond(text != "", shown, rx.el.p(none, class_name="muted small")))


def _tries(tries: rx.Var[list[Try]]) -> rx.Component:
    none = rx.el.p("Not sent yet.", class_name="muted small")
    return rx.cond(tries.length() > 0, rx.el.ul(rx.foreach(tries, _try), class_name="tries"), none)


def _try(one: rx.Var[Try]) -> rx.Component:
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
    """Draw the dialogs before something is changed."""
    hurry = check_field(
        "End the secret before at once",
        "at_once",
        checked=Rotation.at_once,
        on_change=Rotation.hurry,
        hint="Where somebody else knows it. Receivers refuse deliveries until they have the new one.",
    )
    kept = "Nothing is sent to it. Events stay in its log for 30 days; enabled again, they can be sent."
    both = "A new one signs at once and is shown once. The one before signs beside it for a day."
    gone = "Its secret and its log go with it. This cannot be taken back."
    return rx.fragment(
        _question(Disabling, "Disable this endpoint", kept, "Disable"),
        _question(Rotation, "Rotate the signing secret", both, "Rotate", hurry),
        _question(Removal, "Delete this endpoint", gone, "Delete"),
        _recovery(),
    )


def _question(of: Any, title: str, about: str, word: str, *body: rx.Component) -> rx.Component:
    return confirm(
        title,
        about,
        *body,
        is_open=of.is_open,
        on_open_change=of.show,
        on_confirm=of.confirm,
        problem=of.form_problem,
        busy=of.saving,
        word=word,
        danger=word != "Rotate",
    )


def _recovery() -> rx.Component:
    return form_dialog(
        "Send failed deliveries again",
        "Those of events that happened since then, oldest first, with ten attempts more each.",
        select_field("Since", "since", SINCE, id="r-since", default_value="24"),
        is_open=Recovery.is_open,
        on_open_change=Recovery.show,
        on_submit=Recovery.submit,
        problem=Recovery.form_problem,
        busy=Recovery.saving,
        submit="Send again",
        width="440px",
    )
