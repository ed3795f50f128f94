"""The selected organization: its fields, its sub-organizations, and the people with access."""

from typing import Any

import reflex as rx

from components.core.roles import role_name
from components.organizations.form import new_button, testnet
from components.ui.box import row
from components.ui.button import button, icon_button, link_button
from components.ui.card import avatar, card, figure_strip, kv, logo
from components.ui.icon import icon
from components.ui.note import empty, failure, forbidden, note, skeleton
from components.ui.status import badge, status
from components.ui.table import Col, table, td, tr
from components.ui.value import short_hash, when
from state.organizations.form import OrganizationForm
from state.organizations.move import MoveState
from state.organizations.organization import AccessView, OrganizationState, SubOrganizationView

Page = OrganizationState


def organization_detail() -> rx.Component:
    """Draw the selected organization, or why it cannot be shown."""
    broken = rx.cond(
        Page.is_forbidden,
        forbidden(Page.problem),
        failure("The organization did not load", Page.problem, button("Try again", "rotate-cw", on_click=Page.retry)),
    )
    full = rx.fragment(_head(), _figures(), _subs(), _people())
    back = button("All organizations", "arrow-left", kind="quiet", on_click=Page.back, class_name="org-back")
    return rx.el.div(
        back,
        _moved(),
        rx.cond(
            Page.problem != "",
            rx.el.div(broken, class_name="card"),
            rx.cond(Page.item.id != "", full, rx.el.div(skeleton(5), class_name="card")),
        ),
        class_name="col wide org-detail",
    )


def _moved() -> rx.Component:
    """Show the last move's result, and a button that undoes it."""
    moved = MoveState.moved
    can_undo = moved.old_parent != ""
    words = rx.cond(
        can_undo,
        rx.fragment(rx.el.b(moved.name, " was moved. "), "From ", moved.old_name, " to ", moved.new_name, "."),
        rx.fragment(rx.el.b(moved.name, " is back. "), "It is below ", moved.new_name, " again."),
    )
    undo = rx.cond(
        can_undo, button("Undo", "undo-2", small=True, busy=MoveState.undoing, on_click=MoveState.undo), rx.fragment()
    )
    said = note(
        row(
            rx.el.span(words, class_name="grow"),
            undo,
            icon_button("x", "Dismiss", small=True, on_click=MoveState.dismiss),
        ),
        rx.cond(MoveState.undo_problem != "", rx.el.div(MoveState.undo_problem, class_name="bad-text"), rx.fragment()),
        tone="ok",
    )
    return rx.el.div(rx.cond(moved.id != "", said, rx.fragment()), role="status", class_name="org-moved")


def _head() -> rx.Component:
    item = Page.item
    top = rx.el.div(
        logo(item.initials, "lg"),
        rx.el.div(
            row(rx.el.h2(item.name, class_name="org-name"), badge(item.status), cls="wrap"),
            rx.el.div(rx.cond(item.above != "", item.above, "Top of the hierarchy"), class_name="muted small"),
            class_name="grow",
        ),
        row(
            rx.cond(
                Page.can_write, button("Edit", "pencil", small=True, on_click=OrganizationForm.edit), rx.fragment()
            ),
            rx.cond(
                Page.can_write & (item.parent_id != ""),
                button("Move", "folder-input", small=True, on_click=MoveState.show(True)),
                rx.fragment(),
            ),
            link_button("Open", "/o/" + item.id + "/overview", "arrow-right", small=True),
            cls="org-acts",
        ),
        class_name="org-head",
    )
    fields = kv(
        ("Type", _or_none(item.org_type)),
        (
            "Jurisdiction",
            rx.cond(item.country != "", item.country + " (" + item.jurisdiction + ")", _or_none(item.jurisdiction)),
        ),
        ("Network", rx.cond(item.network == "mainnet", "Mainnet", testnet())),
        ("Contact", _contact()),
        ("Website", _website()),
        ("ID", short_hash(item.id, "ID")),
        ("Created", when(item.created_at, "day")),
        two=True,
    )
    about = rx.cond(item.description != "", rx.el.p(item.description, class_name="org-about break"), rx.fragment())
    return rx.el.section(top, about, fields, class_name="card", aria_label=item.name)


def _none() -> rx.Component:
    return rx.el.span("none", class_name="muted")


def _or_none(value: rx.Var[str]) -> rx.Component:
    return rx.cond(value != "", value, _none())


def _contact() -> rx.Component:
    email = Page.item.email
    return rx.cond(email != "", rx.el.a(email, href="mailto:" + email, class_name="link break"), _none())


def _website() -> rx.Component:
    site = Page.item.website
    out = rx.el.a(
        rx.el.span(site, class_name="break"),
        icon("external-link", 12),
        href=site,
        target="_blank",
        rel="noopener noreferrer",
        class_name="link row tight",
    )
    return rx.cond(site != "", out, _none())


def _figures() -> rx.Component:
    item = Page.item
    below = rx.cond(item.subs_all > item.subs, f"{item.subs} direct, {item.subs_all} in all", item.subs.to_string())
    return figure_strip(
        ("Members", item.members), ("Sub-organizations", below), ("Assets", item.assets), ("Wallets", item.wallets)
    )


def _subs() -> rx.Component:
    body = table(
        "Sub-organizations",
        [Col("Name"), Col("Status"), Col("Sub-organizations", right=True), Col("Created", narrow=False)],
        Page.subs,
        _sub,
        empty=empty("network", "No sub-organizations yet", "Sub-organizations of this organization appear here."),
        loading=Page.loading,
        problem=rx.Var.create(""),
        slim=True,
    )
    more = rx.cond(
        Page.item.subs > Page.subs.length(),
        rx.el.div(
            "The newest ", Page.subs.length(), " of ", Page.item.subs, "; all are in the tree", class_name="card-foot"
        ),
        rx.fragment(),
    )
    return card("Sub-organizations", body, more, count=Page.item.subs, right=new_button())


def _sub(sub: rx.Var[SubOrganizationView]) -> rx.Component:
    name = rx.el.button(sub.name, type="button", class_name="name", on_click=Page.find(sub.id))
    return tr(
        td(name),
        td(status(sub.status)),
        td(sub.below, right=True, label="Sub-organizations"),
        td(when(sub.created_at, "day"), narrow=False, class_name="muted"),
        key=sub.id,
    )


def _people() -> rx.Component:
    body = table(
        "People with access",
        [Col("Person"), Col("Role"), Col("From")],
        Page.people,
        _person,
        empty=empty("users", "No people with access", "No role applies to this organization."),
        loading=Page.loading,
        problem=rx.Var.create(""),
    )
    more = rx.cond(
        Page.more_people,
        rx.el.div(button("Show more", small=True, on_click=Page.rest), class_name="card-foot"),
        rx.fragment(),
    )
    said = rx.el.span(
        "Clients are not listed. Roles also apply to sub-organizations", class_name="muted small hide-narrow"
    )
    return card("People with access", body, more, right=said)


def _person(person: rx.Var[AccessView]) -> rx.Component:
    here: Any = rx.cond(person.origin == "", "Here", rx.el.span(person.origin, class_name="muted"))
    return tr(
        td(
            row(
                avatar(person.initials, small=True),
                rx.el.span(
                    rx.el.span(person.name, class_name="strong"),
                    rx.cond(person.email != person.name, rx.el.span(person.email, class_name="muted small break"), ""),
                    class_name="col none",
                ),
            )
        ),
        td(role_name(person.role)),
        td(here, full=True),
        key=person.id,
    )
