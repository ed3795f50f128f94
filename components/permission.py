"""Who is shown what writes. Cosmetic: the API decides, and says no in words."""

from typing import Any

import reflex as rx

from state.session import Session


def may_issue() -> rx.Var[bool]:
    """Whether the person's role has assets:write here."""
    return (Session.org.role == "admin") | (Session.org.role == "compliance_officer")


def may_trade() -> rx.Var[bool]:
    """Whether the person's role has transfers:write here."""
    return (Session.org.role == "admin") | (Session.org.role == "member")


def for_issuers(*children: Any) -> rx.Component:
    """Show something to those who may write assets."""
    return rx.cond(may_issue(), rx.fragment(*children), rx.fragment())


def for_traders(*children: Any) -> rx.Component:
    """Show something to those who may place orders."""
    return rx.cond(may_trade(), rx.fragment(*children), rx.fragment())
