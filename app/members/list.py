"""The page of an organization's members and invitations."""

import reflex as rx

from app.shell.layout import Nav, page
from app.shell.sidebar import Action
from components.core.permission import Scope, allowed, lacking, may
from components.core.saved_views import saved_views
from components.invitations.list import invitations_panel, renewal_dialog, revoke_dialog
from components.members.list import members_panel, remove_dialog, role_dialog, wallet_dialog
from components.ui.button import button, link_button
from components.ui.card import page_head
from components.ui.tabs import tabs
from state.core.session import Session
from state.invitations.list import InvitationsState
from state.members.list import MembersState
from state.members.wallet_member import WalletMember

ELIGIBILITY = "/o/" + Session.org.id + "/eligibility"


@page(
    route="/o/[org_id]/members",
    title="Members",
    nav=Nav(
        "Organization",
        "users",
        11,
        "p",
        actions=[Action("Add by wallet", Scope.MEMBERS_WRITE, WalletMember.show(True), words="member")],
    ),
    on_load=[MembersState.load, InvitationsState.load],
    in_url=[MembersState, InvitationsState],
)
def members() -> rx.Component:
    """Draw members and invitations in tabs."""
    return rx.fragment(
        page_head(
            "Members",
            "Who has a role here. Roles from parent organizations also apply",
            saved_views(),
            allowed(
                Scope.MEMBERS_WRITE,
                button("Add by wallet", "wallet", on_click=WalletMember.show(True)),
                link_button("Invite people", ELIGIBILITY, "user-plus", kind="primary"),
            ),
            rx.cond(
                may(Scope.MEMBERS_WRITE), rx.fragment(), link_button("Check addresses", ELIGIBILITY, "clipboard-check")
            ),
            who=lacking(Scope.MEMBERS_WRITE, "invite people and change roles"),
        ),
        tabs(
            "People",
            MembersState.tab,
            MembersState.turn,
            ("members", "Members", members_panel()),
            ("invitations", "Invitations", invitations_panel()),
        ),
        role_dialog(),
        remove_dialog(),
        wallet_dialog(),
        revoke_dialog(),
        renewal_dialog(),
    )
