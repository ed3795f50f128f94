"""The cards of an organization's settings."""

import reflex as rx

from components.core.permission import Scope, read_only
from components.organizations.form import networks
from components.organizations.ip_ranges import ip_ranges_field
from components.organizations.policy import ACTIONS, LEVELS, MORE
from components.ui.button import button, link
from components.ui.card import card
from components.ui.form import area_field, check_field, error_of, field_row, form, select_field, text_field
from components.ui.note import note
from state.core.session import Session
from state.organizations.settings import (
    IpRangesForm,
    PolicyForm,
    ProfileForm,
    RequirementsForm,
    RulesForm,
    SecurityForm,
    Settings,
)

GIVEN = Settings.given


def profile_card() -> rx.Component:
    """Draw the organization's name and network."""
    errors = ProfileForm.errors
    return card(
        "Organization",
        form(
            field_row(
                text_field("Name", "name", errors=errors, id="s-name", default_value=GIVEN.name, max_length=120),
                select_field(
                    "Network", "network", networks(), errors=errors, id="s-network", default_value=GIVEN.network,
                    hint="API keys without their own network use this network.",
                ),
            ),
            on_submit=ProfileForm.submit,
            problem=ProfileForm.form_problem,
            edits=ProfileForm,
            submit="Save organization",
            kind="plain",
            busy=ProfileForm.saving,
            key="profile" + GIVEN.version,
        ),
        pad=True,
    )  # fmt: skip


def requirements_card() -> rx.Component:
    """Draw the requirements for new members."""
    errors = RequirementsForm.errors
    return card(
        "Who can be invited",
        form(
            field_row(
                select_field(
                    "Minimum KYC level", "min_kyc_level", LEVELS, errors=errors, id="s-level",
                    default_value=GIVEN.min_kyc_level,
                ),
                text_field(
                    "Seats", "seats", errors=errors, id="s-seats", optional=True, default_value=GIVEN.seats,
                    input_mode="numeric", hint="Empty means no limit.",
                ),
            ),
            check_field("Verified identity required", "kyc_required", default_checked=GIVEN.kyc_required),
            check_field(
                "Accredited investors only", "accreditation_required",
                default_checked=GIVEN.accreditation_required,
            ),
            area_field(
                "Allowed email domains", "allowed_email_domains", errors=errors, id="s-domains", optional=True,
                default_value=GIVEN.allowed_email_domains, rows=2, max_length=4_000,
                hint="Separated by commas. Empty: any domain.",
            ),
            area_field(
                "Blocked countries", "blocked_countries", errors=errors, id="s-countries", optional=True,
                default_value=GIVEN.blocked_countries, rows=2, max_length=4_000,
                hint="Names or codes, separated by commas.",
            ),
            on_submit=RequirementsForm.submit,
            problem=RequirementsForm.form_problem,
            edits=RequirementsForm,
            submit="Save requirements",
            kind="plain",
            busy=RequirementsForm.saving,
            key="requirements" + GIVEN.version,
        ),
        pad=True,
    )  # fmt: skip


def security_card() -> rx.Component:
    """Draw the sign-in requirements."""
    return card(
        "Signing in",
        form(
            check_field(
                "Second factor required", "require_second_factor", default_checked=GIVEN.require_second_factor,
                hint="Here and in the organizations below. Users without one see only their account page until "
                "they set one up. API keys are exempt.",
            ),
            on_submit=SecurityForm.submit,
            problem=SecurityForm.form_problem,
            edits=SecurityForm,
            submit="Save sign-in rules",
            kind="plain",
            busy=SecurityForm.saving,
            key="security" + GIVEN.version,
        ),
        rx.cond(
            SecurityForm.asks,
            button("Request approval", "user-check", busy=SecurityForm.saving, on_click=SecurityForm.ask),
            rx.fragment(),
        ),
        pad=True,
    )  # fmt: skip


def rules_card() -> rx.Component:
    """Draw the setting for changes of compliance rules."""
    return card(
        "Compliance rules",
        form(
            check_field(
                "Refuse changes based on an older version of the rules", "require_if_match",
                default_checked=GIVEN.require_if_match,
                hint="An API client that changes an asset's rules must then say which version it has read. The console "
                "always does.",
            ),
            on_submit=RulesForm.submit,
            problem=RulesForm.form_problem,
            edits=RulesForm,
            submit="Save rule setting",
            kind="plain",
            busy=RulesForm.saving,
            key="rules" + GIVEN.version,
        ),
        pad=True,
    )  # fmt: skip


def ip_ranges_card() -> rx.Component:
    """Draw the IP ranges from which users and API keys may call."""
    return card(
        "Allowed IP addresses",
        form(
            ip_ranges_field(
                "s-ip-ranges", errors=IpRangesForm.errors,
                default_value=GIVEN.allowed_ip_ranges,
                about="One address or CIDR range per line; empty allows every address. Applies to users, API keys and "
                "applications, here and in the organizations below.",
            ),
            on_submit=IpRangesForm.submit,
            problem=IpRangesForm.form_problem,
            edits=IpRangesForm,
            submit="Save IP ranges",
            kind="plain",
            busy=IpRangesForm.saving,
            key="ip-ranges" + GIVEN.version,
        ),
        rx.cond(
            IpRangesForm.asks,
            button("Request approval", "user-check", busy=IpRangesForm.saving, on_click=IpRangesForm.ask),
            rx.fragment(),
        ),
        pad=True,
    )  # fmt: skip


def policy_card() -> rx.Component:
    """Draw the actions that need a second person."""
    said = error_of(PolicyForm.errors, "approvals")
    return card(
        "What needs a second person",
        rx.el.p(
            "Selected actions wait until a second person approves them. If you select any action, changes of other "
            "admins, compliance officers and members need approval too. ",
            link("View approvals", "/o/" + Session.org.id + "/approvals"),
            class_name="muted after-words",
        ),
        form(
            *[_group(title, actions) for title, actions in ACTIONS],
            text_field(
                "Hours before a new approver can approve",
                "approver_wait_hours",
                errors=PolicyForm.errors,
                id="s-wait",
                default_value=GIVEN.approver_wait_hours,
                input_mode="numeric",
                hint="From 0 to 168. Roles granted within 24 hours of the organization's creation approve immediately.",
            ),
            rx.cond(said != "", note(said, tone="bad", role="alert"), rx.fragment()),
            on_submit=PolicyForm.submit,
            problem=PolicyForm.form_problem,
            edits=PolicyForm,
            submit="Save approval rules",
            kind="plain",
            busy=PolicyForm.saving,
            key="policy" + GIVEN.version,
        ),
        rx.cond(
            PolicyForm.asks,
            button("Request approval", "user-check", busy=PolicyForm.saving, on_click=PolicyForm.ask),
            rx.fragment(),
        ),
        pad=True,
    )


def _group(title: str, actions: list[tuple[str, str]]) -> rx.Component:
    boxes = [
        check_field(words, name, hint=MORE.get(name), default_checked=GIVEN.approvals.contains(name))
        for name, words in actions
    ]
    always = [_always()] if title == "Members" else []
    return rx.el.fieldset(rx.el.legend(title), rx.el.div(*always, *boxes, class_name="ticks"), class_name="tick-group")


def _always() -> rx.Component:
    """Draw what needs a second person while any action does; it cannot be changed."""
    return check_field(
        "Add, promote, demote or remove another admin, compliance officer or member", "always",
        hint="Always, while any action is selected", checked=GIVEN.approvals.length() > 0, disabled=True,
        read_only=True,
    )  # fmt: skip


def read_only_note() -> rx.Component:
    """Say that the settings are read-only for users who are not admins."""
    return rx.el.div(read_only(Scope.ORGS_WRITE, "change the settings"), class_name="following")
