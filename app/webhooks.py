"""The pages of webhook endpoints, and of one endpoint's deliveries."""

import reflex as rx

from app.shell.layout import Nav, page
from app.shell.sidebar import Action
from components.core.permission import Scope, lacking
from components.ui.card import page_head
from components.ui.status import badge
from components.webhooks.detail import actions, facts, log_panel, questions, story
from components.webhooks.list import endpoint_dialog, endpoints_panel, new_button, secret_dialog, stopped_note
from state.core.session import Session
from state.webhooks.detail import DeliveryState, WebhookState
from state.webhooks.form import EndpointForm
from state.webhooks.list import SigningSecret, WebhooksState

LIST = "/o/[org_id]/webhooks"
CLOSED = (SigningSecret.show(False), EndpointForm.show(False))
"""Events that close every dialog, so that a page never opens with one left from an earlier visit."""


@page(
    route=LIST,
    title="Webhooks",
    nav=Nav("Network", "webhook", 63, "h", actions=[Action("New endpoint", Scope.ORGS_WRITE, EndpointForm.show(True))]),
    on_load=[*CLOSED, WebhooksState.load],
)
def webhooks() -> rx.Component:
    """Draw the list of webhook endpoints."""
    return rx.fragment(
        page_head(
            "Webhooks",
            "Endpoints that receive events about changes",
            new_button(),
            who=lacking(Scope.ORGS_WRITE, "add endpoints"),
        ),
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
    on_load=[*CLOSED, DeliveryState.hide, WebhookState.load, WebhookState.enter, DeliveryState.load],
    in_url=[WebhookState, DeliveryState],
)
def webhook() -> rx.Component:
    """Draw one endpoint, and the selected delivery in a drawer."""
    of = WebhookState.endpoint
    known = rx.fragment(
        page_head(
            rx.el.span(of.url, class_name="break url-title"),
            "What this endpoint receives, and its deliveries with their responses",
            actions(),
            badge=badge(of.status),
            who=lacking(Scope.ORGS_WRITE, "test or change this endpoint"),
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
