"""The hierarchy: find, open, create, edit and move organizations."""

import reflex as rx

from app.layout import Nav, page
from components.organization_detail import organization_detail
from components.organization_form import organization_form
from components.organization_move import move_dialog
from components.organization_tree import organization_tree
from components.ui.button import button
from components.ui.card import page_head
from state.organization import OrganizationState
from state.organization_form import OrganizationForm


@page(
    route="/o/[org_id]/organizations",
    title="Organizations",
    nav=Nav("Organization", "network", 10, "r"),
    on_load=[OrganizationState.load],
)
def organizations() -> rx.Component:
    """Draw the tree beside the organization it has selected."""
    new = button("New organization", "plus", kind="primary", on_click=OrganizationForm.create)
    return rx.el.div(
        page_head("Organizations", "Who stands where; roles reach down from each to everything below it", new),
        rx.el.div(organization_tree(), organization_detail(), class_name="split left"),
        organization_form(),
        move_dialog(),
        class_name=rx.cond(OrganizationState.is_opened, "organizations opened", "organizations"),
    )
