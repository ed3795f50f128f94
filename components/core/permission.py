"""Whether the user's role has a write scope here. For display only: the API decides and explains refusals."""

from typing import Any

import reflex as rx

from state.core.session import Session


def is_admin() -> rx.Var[bool]:
    """Return whether the user may change wallets, chains and API keys."""
    return Session.org.role == "admin"


def is_officer() -> rx.Var[bool]:
    """Return whether the role has attestations:write."""
    return is_admin() | (Session.org.role == "compliance_officer")


def is_onlooker() -> rx.Var[bool]:
    """Return whether the role has no write scope at all."""
    return (Session.org.role == "viewer") | (Session.org.role == "client")


def may_issue() -> rx.Var[bool]:
    """Return whether the user's role has assets:write here."""
    return is_admin() | (Session.org.role == "compliance_officer")


def may_trade() -> rx.Var[bool]:
    """Return whether the user's role has transfers:write here."""
    return is_admin() | (Session.org.role == "member")


def for_admins(*children: Any) -> rx.Component:
    """Show components to admins only."""
    return rx.cond(is_admin(), rx.fragment(*children), rx.fragment())


def for_officers(*children: Any) -> rx.Component:
    """Show components only to users who review parties and issue attestations."""
    return rx.cond(is_officer(), rx.fragment(*children), rx.fragment())


def for_issuers(*children: Any) -> rx.Component:
    """Show components only to users who may write assets."""
    return rx.cond(may_issue(), rx.fragment(*children), rx.fragment())


def for_traders(*children: Any) -> rx.Component:
    """Show components only to users who may place orders."""
    return rx.cond(may_trade(), rx.fragment(*children), rx.fragment())
