"""What waits for a second person."""

import reflex as rx

from app.layout import Nav, page
from components.approvals import approval_drawer, approvals_table, denial_dialog
from components.ui.card import page_head, panel
from components.ui.table import pager, toolbar
from components.ui.tabs import filters
from state.approvals import ApprovalCount, Approvals, OneApproval

VIEWS = [
    ("for_me", "For me"), ("mine", "My asks"), ("approved", "Approved"), ("denied", "Denied"), ("expired", "Expired"),
    ("all", "All"),
]  # fmt: skip


@page(
    route="/o/[org_id]/approvals",
    title="Approvals",
    nav=Nav("Organization", "user-check", 14, "v", count=ApprovalCount.waiting),
    on_load=[Approvals.load],
)
def approvals() -> rx.Component:
    """Draw the list, and one approval beside it."""
    return rx.el.div(
        rx.el.div(
            page_head("Approvals", "What one person asked for and another one has to agree to"),
            panel(
                toolbar(filters("View", Approvals.view, Approvals.pick_view, VIEWS)),
                approvals_table(),
                pager("Newest first, 50 a page", has_newer=Approvals.has_newer, has_older=Approvals.has_older,
                      on_newer=Approvals.newer, on_older=Approvals.older, busy=Approvals.busy),
                label="Approvals",
            ),
            class_name=rx.cond(OneApproval.is_open, "with-drawer", ""),
        ),
        approval_drawer(),
        denial_dialog(),
        class_name="request-list",
    )  # fmt: skip
