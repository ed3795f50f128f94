"""The list of members and the dialogs that change it."""

import reflex as rx

from components.core.csv_link import csv_of
from components.core.holder_picker import account_field
from components.core.permission import Scope, may
from components.core.roles import ABOUT, NAMES, OPTIONS, role_name
from components.ui.box import col, end, row, text
from components.ui.button import button
from components.ui.card import avatar, panel
from components.ui.dialog import confirm, form_dialog
from components.ui.form import choice, choices, error_of, field_row, search_box, select_field, text_field
from components.ui.note import empty, note
from components.ui.status import status, tag
from components.ui.table import Col, list_table, pager, td, toolbar, tr
from components.ui.tabs import filters
from components.ui.value import short_hash, when
from state.members.list import MemberAct, MembersState, MemberView
from state.members.wallet_member import WalletMember


def members_panel() -> rx.Component:
    """Draw the table with its filters."""
    narrowed = (MembersState.role != "") | (MembersState.words != "")
    none = rx.cond(
        narrowed,
        empty("user-search", "No members match these filters", "Try another role or name."),
        empty("users", "No members yet", "Invite people, or add them by wallet."),
    )
    return panel(
        toolbar(
            filters("Role", MembersState.role, MembersState.filter_role, [("", "All"), *OPTIONS]),
            end(search_box("Find a member", MembersState.words, on_change=MembersState.search.debounce(250))),
        ),
        list_table(
            "Members",
            [
                Col("Person"),
                Col("Role"),
                Col("Linked wallet", narrow=False),
                Col("Status"),
                Col("Since", sort="created_at"),
                Col("Actions", hidden=True),
            ],
            MembersState,
            _row,
            empty=none,
            two=True,
        ),
        pager(
            rx.cond(MembersState.has_older | MembersState.has_newer, "Newest first, 50 per page", _count()),
            MembersState,
            csv=csv_of("/members", role=MembersState.role, q=MembersState.words),
        ),
        label="Members",
    )


def _count() -> rx.Var[str]:
    count = MembersState.rows.length()
    return (count.to_string() + rx.cond(count == 1, " member", " members, newest first").to(str)).to(str)


def person(
    name: rx.Var[str], initials: rx.Var[str], below: rx.Var[str], is_me: rx.Var[bool] | bool = False
) -> rx.Component:
    """Draw a person with a muted line below the name; mark the user."""
    second = rx.cond((below != "") & (below != name), rx.el.div(below, class_name="muted small break"), rx.fragment())
    return row(
        avatar(initials),
        rx.el.div(
            rx.el.div(name, rx.cond(is_me, tag("You"), rx.fragment()), class_name="strong break"),
            second,
            class_name="grow",
        ),
    )


def _row(member: rx.Var[MemberView]) -> rx.Component:
    more = rx.cond(
        member.more_wallets > 0,
        rx.el.span(" and ", member.more_wallets, " more", class_name="muted small"),
        rx.fragment(),
    )
    return tr(
        td(person(member.name, member.initials, member.email, member.is_me)),
        td(role_name(member.role), _given(member.given_by)),
        td(short_hash(member.wallet, "wallet address"), more, narrow=False),
        td(status(member.status), class_name="status-cell"),
        td(when(member.created_at), class_name="muted", label="Since"),
        td(
            rx.cond(may(Scope.MEMBERS_WRITE) & (member.status != "inactive"), _acts(member), ""),
            right=True,
            class_name="acts",
        ),
        key=member.id,
        class_name="member",
    )


def _given(by: rx.Var[str]) -> rx.Component:
    """Show who granted the role: accounts placed by one person may all be that person."""
    return rx.cond(by != "", rx.el.div("Granted by ", by, class_name="muted small break"), rx.fragment())


def _acts(member: rx.Var[MemberView]) -> rx.Component:
    change = button(
        "Change role",
        small=True,
        on_click=MemberAct.change(member.id),
        aria_label="Change role of " + member.name,
    )
    remove = button("Remove", small=True, on_click=MemberAct.ask(member.id), aria_label="Remove " + member.name)
    words = rx.cond(member.is_me, "You are the only admin. ", "The only admin. ")
    only = text(words, "Make another person an admin first.", cls="muted small only-admin")
    return rx.cond(member.is_only_admin, only, rx.fragment(change, remove))


def role_dialog() -> rx.Component:
    """Draw the dialog that changes a member's role, with each role's permissions."""
    cards = [
        choice(
            "role", str(role), NAMES[role], ABOUT[role],
            checked=MemberAct.chosen == str(role), on_change=MemberAct.pick(str(role)),
        )
        for role in NAMES
    ]  # fmt: skip
    said = error_of(MemberAct.errors, "role")
    return form_dialog(
        "Role of " + MemberAct.member.name,
        "The role also applies to every sub-organization, except for clients.",
        rx.el.div(choices("Role", *cards), class_name="one-column"),
        rx.cond(said != "", rx.el.div(said, class_name="error"), rx.fragment()),
        _takes(),
        is_open=MemberAct.open_as == "role",
        form=MemberAct,
        submit=rx.cond(MemberAct.steps.length() > 0, "Request approval", "Change role"),
        width="600px",
    )


def remove_dialog() -> rx.Component:
    """Ask for confirmation before a member is removed."""
    return confirm(
        "Remove " + MemberAct.member.name,
        MemberAct.loss,
        _takes(),
        is_open=MemberAct.open_as == "remove",
        form=MemberAct,
        on_confirm=MemberAct.remove,
        word=rx.cond(MemberAct.steps.length() > 0, "Request approval", "Remove"),
    )


def _takes() -> rx.Component:
    """Say who must approve the change where it needs a second person; nothing where it applies immediately."""
    words = note(
        rx.el.b("A second person must approve this. "),
        MemberAct.approvers,
        rx.cond(
            MemberAct.open_as == "remove", MemberAct.member.name + " stays a member until then.",
            MemberAct.member.name + " keeps the present role until then.",
        ),
        tone="info",
        role="status",
    )  # fmt: skip
    return rx.cond(MemberAct.steps.length() > 0, words, rx.fragment())


def wallet_dialog() -> rx.Component:
    """Draw the dialog that adds a member by wallet."""
    errors = WalletMember.errors
    return form_dialog(
        "Add by wallet",
        "People from outside your organizations must accept first. Until then, you see only what you enter here.",
        account_field("Wallet address", "wallet_address", id="w-address", errors=errors, free=True, offers="parties"),
        field_row(
            text_field("Name", "display_name", id="w-name", errors=errors, optional=True, max_length=120),
            text_field("Email", "email", id="w-email", errors=errors, optional=True, type="email"),
        ),
        col(select_field("Role", "role", OPTIONS, id="w-role", errors=errors, default_value="client")),
        form=WalletMember,
        submit="Add member",
    )  # fmt: skip
