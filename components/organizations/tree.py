"""The hierarchy as a tree, with a search that reveals its results."""

from typing import Any

import reflex as rx

from components.ui.button import icon_button
from components.ui.icon import icon
from components.ui.note import failure, forbidden, skeleton
from components.ui.overlay import picker, tree, tree_row
from state.organizations.organization import OrganizationState
from state.organizations.tree import Hierarchy
from state.organizations.tree_rows import NodeView


def organization_tree() -> rx.Component:
    """Draw the card with search and tree, or why the tree did not load."""
    broken = rx.cond(
        Hierarchy.is_forbidden,
        forbidden(Hierarchy.problem),
        failure("The hierarchy did not load", Hierarchy.problem, _again()),
    )
    full = rx.fragment(_search(), _tree())
    waiting = rx.cond(Hierarchy.rows.length() > 0, full, skeleton(6))
    head = rx.el.div(
        rx.el.h2("Hierarchy"),
        rx.el.div(
            icon_button("chevrons-down-up", "Close all branches", small=True, on_click=Hierarchy.collapse),
            class_name="end row tight",
        ),
        class_name="card-head",
    )
    return rx.el.section(
        head, rx.cond(Hierarchy.problem != "", broken, waiting), class_name="card org-tree", aria_label="Hierarchy"
    )


def _again() -> rx.Component:
    return rx.el.button("Try again", type="button", class_name="btn", on_click=OrganizationState.load)


def _search() -> rx.Component:
    return rx.el.div(
        picker(
            Hierarchy.found,
            "Find an organization by name or ID",
            on_pick=OrganizationState.find,
            on_search=Hierarchy.search,
            found_for=Hierarchy.found_for,
            placeholder="Find by name or ID",
            none=rx.cond(Hierarchy.searched, "No organizations match", ""),
            search=True,
        ),
        class_name=rx.cond(Hierarchy.searched, "org-search found", "org-search"),
    )


def _tree() -> rx.Component:
    return tree(
        "Organizations",
        rx.foreach(Hierarchy.rows, _row),
        active=Hierarchy.active,
        above=Hierarchy.above,
        total=Hierarchy.total,
        on_key=OrganizationState.press,
        on_type=Hierarchy.type,
        on_window=Hierarchy.scroll,
    )


def _row(node: rx.Var[NodeView]) -> rx.Component:
    content: list[Any] = [
        rx.cond(node.more, icon("ellipsis", 15), rx.cond(node.level == 1, icon("network", 15), icon("building-2", 15))),
        rx.el.span(node.name, class_name="name trunc"),
        rx.cond(node.count > 0, rx.el.span(node.count, class_name="count", title="Sub-organizations"), rx.fragment()),
    ]
    return tree_row(
        *content,
        id=node.id,
        depth=node.level,
        selected=Hierarchy.selected == node.id,
        active=Hierarchy.active == node.id,
        branch=node.is_branch,
        expanded=node.is_open,
        position=node.position,
        size=node.size,
        on_click=OrganizationState.choose(node.id),
        on_toggle=Hierarchy.toggle(node.id),
        key=node.id,
    )
