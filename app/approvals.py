"""The page of approvals: actions waiting for a second person."""

import reflex as rx

from app.shell.layout import Nav, page
from components.approvals.list import approval_drawer, approvals_table, denial_dialog
from components.approvals.withdrawal import withdrawal_dialog
from components.core.permission import Scope, lacking
from components.core.saved_views import saved_views
from components.ui.card import page_head, panel
from components.ui.table import pager, toolbar
from components.ui.tabs import filters
from state.approvals.list import Approvals, OneApproval
from state.approvals.own import OwnApprovals
from state.notifications.bell import Bell

VIEWS = [
    ("for_me", "For me"), ("mine", "My requests"), ("pending", "Waiting"), ("approved", "Approved"),
    ("denied", "Denied"), ("expired", "Expired"), ("all", "All"),
]  # fmt: skip


@page(
    route="/o/[org_id]/approvals",
    title="Approvals",
    nav=Nav("Organization", "user-check", 14, "v", count=Bell.approvals),
    on_load=[Approvals.load, OwnApprovals.load],
    in_url=[Approvals, OneApproval],
)
def approvals() -> rx.Component:
    """Draw the list, and the selected approval in a drawer."""
    return rx.el.div(
        rx.el.div(
            page_head(
                "Approvals",
                "Actions waiting for a second person",
                saved_views(),
                who=lacking(Scope.ASSETS_WRITE, "approve actions on assets"),
            ),
            panel(
                toolbar(filters("View", Approvals.view, Approvals.pick_view, VIEWS)),
                approvals_table(),
                pager("Newest first, 50 per page", Approvals),
                label="Approvals",
            ),
            class_name=rx.cond(OneApproval.is_open, "with-drawer", ""),
        ),
        approval_drawer(),
        denial_dialog(),
        withdrawal_dialog(),
        class_name="request-list",
    )  # fmt: skip
