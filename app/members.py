"""The people of an organization, and who has been invited."""

import reflex as rx

from app.layout import Nav, page
from components.access import for_admins
from components.invitations import invitations_panel, revoke_dialog
from components.members import members_panel, remove_dialog, role_dialog, wallet_dialog
from components.ui.button import button, link_button
from components.ui.card import page_head
from components.ui.tabs import tabs
from state.invitations import InvitationsState
from state.members import MembersState, WalletMember
from state.session import Session


@page(
    route="/o/[org_id]/members",
    title="Members",
    nav=Nav("Organization", "users", 11, "p"),
    on_load=[MembersState.load, InvitationsState.load],
)
def members() -> rx.Component:
    """Draw members and invitations."""
    return rx.fragment(
        page_head(
            "Members",
            "Who has a role here; roles from above reach down as well",
            for_admins(
                button("Add by wallet", "wallet", on_click=WalletMember.show(True)),
                link_button("Invite people", "/o/" + Session.org.id + "/eligibility", "user-plus", kind="primary"),
            ),
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
    )
