"""Whether the user may do something here, by scope. For display only: the API decides and explains refusals."""

from typing import Any

import reflex as rx

from backend.auth.scopes import Scope
from components.ui.button import explained
from components.ui.icon import icon
from components.ui.note import note
from state.core.session import Session

__all__ = [
    "Scope",
    "allowed",
    "lacking",
    "may",
    "permitted",
    "read_only",
    "who_can",
]


def may(scope: Scope | rx.Var[str]) -> rx.Var[bool]:
    """Return whether the user's roles have a scope here."""
    return Session.org.scopes.contains(_plain(scope))


def allowed(scope: Scope, *children: Any) -> rx.Component:
    """Show components only to users who have a scope."""
    return rx.cond(may(scope), rx.fragment(*children), rx.fragment())


def permitted(scope: Scope | rx.Var[str], action: rx.Component, label: Any, **look: Any) -> rx.Component:
    """Draw a button for users who have a scope; for others, a disabled one with its label that explains who can.

    `look` are the arguments of `button`.
    """
    return rx.cond(may(scope), action, explained(label, who_can(scope), **look))


def who_can(scope: Scope | rx.Var[str], action: str = "") -> rx.Var[str]:
    """Return the roles that have a scope and the names of people who have it, as sentences. `action` is what the scope
    is needed for, such as "create wallets"."""
    said = Session.org.holders.get(_plain(scope), "").to(str)
    return said.replace(" for this.", f" to {action}.") if action else said


def lacking(scope: Scope | rx.Var[str], action: str) -> rx.Component:
    """Say in one line who can do something, to users who cannot: where its button would be missing without a word."""
    said = rx.el.div(icon("lock", 13), rx.el.span(who_can(scope, action)), class_name="who-can")
    return rx.cond(may(scope) | (who_can(scope) == ""), rx.fragment(), said)


def _plain(scope: Scope | rx.Var[str]) -> rx.Var[str] | str:
    return scope.value if isinstance(scope, Scope) else scope


def read_only(scope: Scope, action: str) -> rx.Component:
    """Say who can do an action, such as "change the rules", to users who can only read."""
    return rx.cond(may(scope), rx.fragment(), note(rx.el.b("Read-only. "), who_can(scope, action)))
