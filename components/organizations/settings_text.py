"""The settings of an organization as text, for users who may only read them."""

from typing import Any

import reflex as rx

from components.organizations.form import networks
from components.organizations.policy import ACTIONS, LEVELS
from components.ui.box import col
from components.ui.card import card, kv
from state.organizations.settings import Settings

GIVEN = Settings.given


def settings_text() -> rx.Component:
    """Draw each card of the settings with its values."""
    network = rx.match(GIVEN.network, *networks(), GIVEN.network)
    cards = [
        card("Organization", kv(("Name", GIVEN.name), ("Network", network))),
        card(
            "Who can be invited",
            kv(
                ("Minimum KYC level", rx.match(GIVEN.min_kyc_level, *LEVELS, GIVEN.min_kyc_level)),
                ("Seats", _or(GIVEN.seats, "No limit")),
                ("Verified identity required", _yes(GIVEN.kyc_required)),
                ("Accredited investors only", _yes(GIVEN.accreditation_required)),
                ("Allowed email domains", _or(GIVEN.allowed_email_domains, "Any domain")),
                ("Blocked countries", _or(GIVEN.blocked_countries, "None")),
            ),
        ),
        card("Signing in", kv(("Second factor required", _yes(GIVEN.require_second_factor)))),
        card(
            "Allowed IP addresses",
            kv(("Addresses", rx.el.span(_or(GIVEN.allowed_ip_ranges, "Every address"), class_name="pre-line break"))),
        ),
        card(
            "Compliance rules",
            kv(("Refuse changes based on an older version of the rules", _yes(GIVEN.require_if_match))),
        ),
        _policy(),
    ]
    return col(*cards, cls="wide settings-text")


def _policy() -> rx.Component:
    """List the actions that need a second person."""
    some = kv(
        *[_group(title, actions) for title, actions in ACTIONS],
        ("New approvers can approve after", rx.fragment(GIVEN.approver_wait_hours, " hours")),
    )
    none = kv(("Actions", rx.el.span("None", class_name="muted")))
    return card("What needs a second person", rx.cond(GIVEN.approvals.length() > 0, some, none))


def _group(title: str, actions: list[tuple[str, str]]) -> rx.Component:
    """Draw the selected actions of a group, or nothing."""
    chosen = [GIVEN.approvals.contains(name) for name, _ in actions]
    some = chosen[0]
    for one in chosen[1:]:
        some |= one
    names = [rx.cond(is_on, rx.el.li(words), rx.fragment()) for is_on, (_, words) in zip(chosen, actions, strict=True)]
    return rx.cond(some, rx.fragment(rx.el.dt(title), rx.el.dd(rx.el.ul(*names))), rx.fragment())


def _yes(value: rx.Var[bool]) -> rx.Var[str]:
    return rx.cond(value, "Yes", "No").to(str)


def _or(value: rx.Var[str], none: str) -> Any:
    return rx.cond(value != "", value, rx.el.span(none, class_name="muted"))
