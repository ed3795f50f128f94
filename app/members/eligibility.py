"""The page that invites people: paste addresses, see the findings for each, invite."""

import reflex as rx

from app.shell.layout import Nav, page
from components.core.permission import Scope, lacking, may
from components.invitations.eligibility import (
    about_card,
    invitations_link,
    invite_bar,
    paste_card,
    requirements_card,
    results_card,
)
from components.ui.box import col, split
from components.ui.button import button
from components.ui.card import page_head
from components.ui.note import failure, forbidden
from state.invitations.eligibility import EligibilityState

TITLE = rx.cond(may(Scope.MEMBERS_WRITE), "Invite people", "Check addresses").to(str)


@page(
    route="/o/[org_id]/eligibility",
    title="Invite people",
    crumbs=[(TITLE, "")],
    nav=Nav("Organization", "clipboard-check", 12, "e", shown=may(Scope.MEMBERS_WRITE), words="new member, invitation"),
    on_load=[EligibilityState.load],
)
def eligibility() -> rx.Component:
    """Draw the address field, the results and the invitation bar."""
    about = rx.cond(EligibilityState.rows.length() > 0, about_card(), rx.fragment())
    again = button("Try again", "rotate-cw", on_click=EligibilityState.load)
    broken = rx.cond(
        EligibilityState.is_forbidden,
        forbidden(EligibilityState.problem),
        failure("This did not load", EligibilityState.problem, again),
    )
    full = rx.fragment(
        split(col(paste_card(), results_card(), cls="wide"), col(requirements_card(), about, cls="wide")),
        invite_bar(),
    )
    return rx.fragment(
        page_head(
            TITLE,
            rx.cond(
                may(Scope.MEMBERS_WRITE),
                "Check email addresses against the requirements, then invite",
                "Check email addresses against the requirements for members",
            ),
            invitations_link(),
            who=lacking(Scope.MEMBERS_WRITE, "invite people"),
        ),
        rx.cond(EligibilityState.problem != "", rx.el.div(broken, class_name="card"), full),
    )
