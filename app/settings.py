"""The page of an organization's settings."""

import reflex as rx

from app.shell.layout import Nav, page
from components.core.permission import Scope, may
from components.oauth.clients import client_dialog, clients_card, removal_dialog
from components.organizations.settings import (
    ip_ranges_card,
    policy_card,
    profile_card,
    read_only_note,
    requirements_card,
    rules_card,
    security_card,
)
from components.organizations.settings_text import settings_text
from components.ui.card import page_head
from components.ui.note import failure, skeleton
from state.oauth.clients import ClientsState
from state.organizations.settings import Settings


@page(
    route="/o/[org_id]/settings",
    title="Settings",
    nav=Nav("Organization", "settings", 15, "s"),
    on_load=[Settings.load, ClientsState.load],
)
def settings() -> rx.Component:
    """Draw the settings cards."""
    forms = (profile_card(), requirements_card(), security_card(), ip_ranges_card(), rules_card(), policy_card())
    own = rx.cond(may(Scope.ORGS_WRITE), rx.el.div(*forms, class_name="col wide"), settings_text())
    cards = rx.el.div(own, clients_card(), class_name="col wide")
    loaded = rx.cond(Settings.given.version == "", skeleton(6), cards)
    return rx.fragment(
        page_head("Settings", "Name, network, invitations, approvals and applications"),
        rx.cond(may(Scope.ORGS_WRITE), rx.fragment(), read_only_note()),
        rx.cond(Settings.problem != "", failure("The settings did not load", Settings.problem), loaded),
        client_dialog(),
        removal_dialog(),
    )
