"""Whether the person's role has a write scope here. Cosmetic: the API decides, and says no in words."""

from typing import Any

import reflex as rx

from state.session import Session


def is_admin() -> rx.Var[bool]:
    """Wallets, chains and API keys are an admin's to change."""
    return Session.org.role == "admin"


def is_officer() -> rx.Var[bool]:
    """Whether the role has attestations:write."""
    return is_admin() | (Session.org.role == "compliance_officer")


def is_onlooker() -> rx.Var[bool]:
    """Whether the role has no write scope at all."""
    return (Session.org.role == "viewer") | (Session.org.role == "client")


def for_admins(*children: Any) -> rx.Component:
    """Show something to admins."""
    return rx.cond(is_admin(), rx.fragment(*children), rx.fragment())


def for_officers(*children: Any) -> rx.Component:
    """Show something to those who decide about parties and attest them."""
    return rx.cond(is_officer(), rx.fragment(*children), rx.fragment())
