"""What a request says that waits for a second person: to its requester, and to others."""

from typing import Any

import reflex as rx

from backend.auth.scopes import Scope
from components.core.permission import may
from components.ui.button import link, link_button
from components.ui.note import note
from state.core.session import Session


def is_own(request: rx.Var[Any]) -> rx.Var[bool]:
    """Return whether the user requested it, who therefore cannot approve it."""
    return (request.created_by_id != "") & (request.created_by_id == Session.user_id)


def review_href(request: rx.Var[Any]) -> rx.Var[str]:
    """Return the address of the approval that a request waits for."""
    return ("/o/" + rx.State.org_id + "/approvals?view=all&id=" + request.approval_id).to(str)


def approval_link(request: rx.Var[Any]) -> rx.Component:
    """Draw the button that leads to the approval: the requester, and a role that may not decide, only read it."""
    href = review_href(request)
    view = link_button("View approval", href, "user-check", class_name="end")
    review = link_button("Review approval", href, "user-check", kind="primary", class_name="end")
    return rx.cond(is_own(request) | ~may(request.scope), view, review)


def awaits_approval(request: rx.Var[Any], *, linked: bool = True, who: rx.Var[str] | str = "") -> rx.Component:
    """Say that a request waits for a second person, with a link to its approval; otherwise draw nothing.

    `who` says who can approve it, where that was read.
    """
    own = "You requested this, so another person must approve it. " + other_people(request.scope)
    others = "Nothing happens until someone other than the requester approves it. "
    words = rx.cond(is_own(request), rx.cond(who != "", who, own), others + rx.Var.create(who))
    where = rx.cond(is_own(request), "View approval", "Review approval")
    waiting = note(
        rx.el.b("Waiting for a second person. "),
        words,
        link(where, review_href(request)) if linked else "",
        tone="warn",
        sign="user-check",
    )
    return rx.cond(request.status == "awaiting_approval", waiting, rx.fragment())


def other_people(scope: Scope | rx.Var[str]) -> rx.Var[str]:
    """Name other people who have a scope: "Elin Halvorsen can approve it. " Empty where none is known."""
    names = Session.org.others.get(scope.value if isinstance(scope, Scope) else scope, "").to(str)
    return rx.cond(names != "", names + " can approve it. ", "").to(str)
