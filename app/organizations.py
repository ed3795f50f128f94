"""The page of the hierarchy: find, open, create, edit and move organizations."""

import reflex as rx

from app.shell.layout import Nav, page
from app.shell.sidebar import Action
from components.core.permission import Scope, lacking
from components.organizations.detail import organization_detail
from components.organizations.form import organization_form
from components.organizations.move import move_dialog
from components.organizations.tree import organization_tree
from components.ui.button import button
from components.ui.card import page_head
from state.organizations.form import OrganizationForm
from state.organizations.organization import OrganizationState


@page(
    route="/o/[org_id]/organizations",
    title="Organizations",
    nav=Nav(
        "Organization",
        "network",
        10,
        "r",
        actions=[Action("New organization", Scope.ORGS_WRITE, OrganizationForm.create, words="subsidiary")],
    ),
    on_load=[OrganizationState.load],
    in_url=[OrganizationState],
)
def organizations() -> rx.Component:
    """Draw the tree beside the selected organization."""
    new = button("New organization", "plus", kind="primary", on_click=OrganizationForm.create)
    new = rx.cond(OrganizationState.can_create, new, rx.fragment())
    return rx.el.div(
        page_head(
            "Organizations",
            "Your organizations. A role applies to everything below it",
            new,
            who=lacking(Scope.ORGS_WRITE, "change organizations"),
        ),
        rx.el.div(organization_tree(), organization_detail(), class_name="split left"),
        organization_form(),
        move_dialog(),
        class_name=rx.cond(OrganizationState.asked != "", "organizations opened", "organizations"),
    )
