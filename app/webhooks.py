"""Webhook endpoints, and the log of one."""

import reflex as rx

from app.layout import Nav, page
from components.ui.card import page_head
from components.ui.status import badge
from components.webhook import actions, facts, log_panel, questions, story
from components.webhooks import endpoint_dialog, endpoints_panel, new_button, secret_dialog, stopped_note
from state.session import Session
from state.webhook import DeliveryState, WebhookState
from state.webhook_form import EndpointForm
from state.webhooks import SigningSecret, WebhooksState

LIST = "/o/[org_id]/webhooks"
CLOSED = (SigningSecret.show(False), EndpointForm.show(False))
"""A page begins without a dialog, whatever was open when it was left."""


@page(
    route=LIST,
    title="Webhooks",
    nav=Nav("Network", "webhook", 63, "h"),
    on_load=[*CLOSED, WebhooksState.load],
)
def webhooks() -> rx.Component:
    """Draw the list."""
    return rx.fragment(
        page_head("Webhooks", "Where other programs are told that something has changed", new_button()),
        stopped_note(),
        endpoints_panel(),
        endpoint_dialog(),
        secret_dialog(),
    )


@page(
    route=LIST + "/[webhook_id]",
    title="Webhook endpoint",
    under=LIST,
    crumbs=[("Webhooks", "/o/" + Session.org.id + "/webhooks"), ("Endpoint", "")],
    on_load=[*CLOSED, DeliveryState.hide, WebhookState.enter],
)
def webhook() -> rx.Component:
    """Draw one endpoint, and the drawer beside its log."""
    of = WebhookState.endpoint
    known = rx.fragment(
        page_head(
            rx.el.span(of.url, class_name="break"),
            "Deliveries, newest event first, each with what came back",
            actions(),
            badge=badge(of.status),
        ),
        facts(),
    )
    unknown = page_head("Webhook endpoint")
    main = rx.el.div(
        rx.cond(of.id != "", known, unknown),
        log_panel(),
        class_name=rx.cond(DeliveryState.delivery.id != "", "with-drawer", ""),
    )
    return rx.fragment(main, story(), questions(), endpoint_dialog(), secret_dialog())
