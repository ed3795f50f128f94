"""The parts of the page that invites people."""

import reflex as rx

from components.core.permission import Scope, may
from components.core.roles import OPTIONS
from components.ui.button import button, link_button
from components.ui.card import card
from components.ui.form import save_bar, select
from components.ui.icon import icon
from components.ui.note import empty, note
from components.ui.progress import bar
from components.ui.status import status
from components.ui.table import Col, table, td, tr
from components.ui.tabs import filters
from state.core.session import Session
from state.invitations.eligibility import EligibilityState
from state.invitations.views import AddressView, FindingView

Check = EligibilityState


def paste_card() -> rx.Component:
    """Draw the field for pasted text, the count, and problems of the whole text."""
    count = rx.el.span(
        rx.el.b(Check.total),
        rx.el.span(rx.cond(Check.total == 1, " address", " addresses"), class_name="muted"),
        role="status",
        class_name="num small",
    )
    box = rx.el.textarea(
        id="addresses",
        class_name="input mono paste",
        on_change=Check.write.debounce(400),
        disabled=Check.inviting,
        aria_label="Addresses to check",
        aria_describedby="addresses-said",
        placeholder="Paste a list, an email or a spreadsheet column. Signum finds and checks the addresses.",
        spell_check=False,
        auto_complete="off",
    )
    unchecked = note(
        rx.el.b("Row 501 and later were not checked. "),
        "Invite those above first, then paste the remaining ", Check.unchecked, ".",
        tone="warn", role="status",
    )  # fmt: skip
    failed = note(
        rx.el.b("The check failed. "), Check.check_problem, " ",
        rx.el.button("Try again", type="button", class_name="link", on_click=Check.again),
        tone="bad", role="alert",
    )  # fmt: skip
    twice = note(
        rx.cond(Check.doubles == 1, "One address is", rx.fragment(Check.doubles, " addresses are")),
        " listed more than once and checked once.",
    )
    none = note("No email address found in this text.")
    said = rx.el.div(
        rx.cond(Check.unchecked > 0, unchecked, rx.fragment()),
        rx.cond(Check.check_problem != "", failed, rx.fragment()),
        rx.cond(Check.doubles > 0, twice, rx.fragment()),
        rx.cond(Check.typed & (Check.total == 0), none, rx.fragment()),
        class_name="col paste-result",
        id="addresses-said",
    )
    return card("Addresses", rx.el.div(box, said, class_name="paste-body"), right=count)


def results_card() -> rx.Component:
    """Draw one row per address, the most severe finding first."""
    counts = Check.counts
    options = [
        ("", "All", Check.rows.length()),
        ("error", "Errors", counts["error"]),
        ("warning", "Warnings", counts["warning"]),
        ("info", "Notes", counts["info"]),
        ("ready", "Ready", counts["ready"]),
    ]
    checking = rx.el.span(icon("loader-circle", 13, spin=True), "Checking", class_name="row tight muted small")
    nothing = empty(
        "clipboard-check",
        "No addresses yet",
        "Paste addresses to see who can be invited.",
    )
    list_ = table(
        "Result for each address",
        [Col("Address"), Col("Status"), Col("Why"), Col("Invite", right=True)],
        Check.shown,
        _row,
        empty=rx.cond(Check.rows.length() > 0, empty("filter-x", "No addresses of this kind"), nothing),
        loading=Check.checking,
        problem=rx.Var.create(""),
        two=True,
    )
    filter_bar = rx.el.div(filters("Severity", Check.severity, Check.show, options), class_name="toolbar")
    return card(
        "Results",
        rx.cond(Check.rows.length() > 0, filter_bar, rx.fragment()),
        list_,
        right=rx.el.span(rx.cond(Check.checking, checking, ""), role="status"),
    )


def _row(address: rx.Var[AddressView]) -> rx.Component:
    ready = rx.el.span("Meets every requirement", class_name="muted")
    why = rx.cond(
        address.findings.length() > 0,
        rx.el.ul(rx.foreach(address.findings, _finding), class_name="findings"),
        ready,
    )
    outcome = rx.match(
        address.outcome,
        ("invited", rx.el.div(status("invited"), class_name="invite-outcome")),
        ("awaiting_approval", rx.el.div(status("awaiting_approval"), class_name="invite-outcome")),
        (
            "refused",
            rx.el.div(
                status("refused"), rx.el.span(address.reason, class_name="bad-text"), class_name="invite-outcome"
            ),
        ),
        rx.fragment(),
    )
    box = rx.el.input(
        type="checkbox",
        checked=address.is_chosen & address.can_invite,
        disabled=~address.can_invite
        | Check.inviting
        | (address.outcome == "invited")
        | (address.outcome == "awaiting_approval"),
        on_change=lambda _: Check.choose(address.email),
        aria_label="Invite " + address.email,
    )
    return tr(
        td(rx.el.span(address.email, class_name="break strong"), class_name="wrap address"),
        td(status(address.severity)),
        td(why, outcome, class_name="wrap", full=True),
        td(
            rx.el.label(box, rx.el.span("Invite", class_name="only-narrow small"), class_name="check invite"),
            right=True,
            class_name="invite-cell",
        ),
        key=address.email,
    )


def _finding(finding: rx.Var[FindingView]) -> rx.Component:
    return rx.el.li(finding.message, key=finding.code)


def requirements_card() -> rx.Component:
    """List the organization's requirements for members."""
    required = Check.requirements
    kyc = rx.cond(required.kyc_level > 0, f"KYC level {required.kyc_level} or higher", "A verified identity")
    lines = rx.fragment(
        rx.cond(
            required.kyc | (required.kyc_level > 0),
            _line("fingerprint", kyc, "Needed to hold assets: the person is a verified party of this organization"),
            rx.fragment(),
        ),
        rx.cond(
            required.accredited,
            _line("badge-dollar-sign", "Accredited investors", "Needed to hold assets, according to the verification"),
            rx.fragment(),
        ),
        rx.cond(
            required.countries.length() > 0,
            _line("globe-lock", f"{required.countries.length()} blocked countries", required.countries.join(", ")),
            rx.fragment(),
        ),
        rx.cond(
            required.domains.length() > 0,
            _line("at-sign", "Allowed domains only", required.domains.join(", ")),
            rx.fragment(),
        ),
        rx.cond(required.limited, _line("armchair", _seats(), "Members and open invitations use seats"), rx.fragment()),
    )
    is_empty = ~(required.kyc | (required.kyc_level > 0) | required.accredited | required.limited)
    free = is_empty & (required.countries.length() == 0) & (required.domains.length() == 0)
    none = rx.el.p("No requirements. Anyone can be invited.", class_name="muted card-body")
    return card("Requirements of " + Session.org.name, rx.cond(free, none, rx.el.ul(lines)), class_name="asks")


def _seats() -> rx.Var[str]:
    required = Check.requirements
    return rx.cond(
        required.seats < 0, f"{required.limit} seats", f"{required.seats} of {required.limit} seats left"
    ).to(str)


def _line(sign: str, title: rx.Var[str] | str, about: rx.Var[str] | str) -> rx.Component:
    return rx.el.li(
        icon(sign, 16),
        rx.el.div(
            rx.el.div(title, class_name="strong"), rx.el.div(about, class_name="muted small break"), class_name="grow"
        ),
        class_name="ask",
    )


def about_card() -> rx.Component:
    """Explain the result statuses."""
    return card(
        "Statuses",
        rx.el.ul(
            rx.el.li(status("error"), rx.el.span("cannot be invited", class_name="muted small")),
            rx.el.li(
                status("warning"), rx.el.span("can be invited, but cannot hold assets yet", class_name="muted small")
            ),
            rx.el.li(status("info"), rx.el.span("good to know", class_name="muted small")),
            rx.el.li(status("ready"), rx.el.span("meets every requirement", class_name="muted small")),
            class_name="reading",
        ),
    )


def invite_bar() -> rx.Component:
    """Draw the bar that invites the selected addresses, for users who may, and the outcome."""
    progress = rx.el.div(
        rx.el.span("Inviting ", Check.done + 1, " of ", Check.done + Check.chosen, class_name="num", role="status"),
        bar((100 * Check.done) // (Check.done + Check.chosen + 1), "Invitations sent"),
        class_name="grow",
    )
    many = rx.cond(
        Check.chosen > Check.requirements.seats,
        rx.el.span("more than the available seats", class_name="warn-text small"),
        "",
    )
    chosen = rx.el.span(
        rx.el.b(Check.chosen),
        " chosen",
        rx.cond(Check.invited > 0, rx.el.span(", ", Check.invited, " invited", class_name="muted"), ""),
        rx.cond(Check.waiting > 0, rx.el.span(", ", Check.waiting, " waiting", class_name="muted"), ""),
        rx.cond(Check.refused > 0, rx.el.span(", ", Check.refused, " refused", class_name="bad-text"), ""),
        class_name="num",
    )
    seats = rx.cond(Check.requirements.seats >= 0, many, "")
    many_people = rx.cond(Check.chosen > 0, f"Invite {Check.chosen} people", "Invite people")
    invite = rx.cond(Check.chosen == 1, "Invite 1 person", many_people)
    return save_bar(
        may(Scope.MEMBERS_WRITE),
        rx.cond(Check.inviting, progress, rx.fragment(chosen, seats)),
        rx.el.span(
            select(
                [(value, f"as {name.lower()}") for value, name in OPTIONS],
                aria_label="Role", value=Check.role, on_change=Check.invite_as, disabled=Check.inviting,
            ),
            class_name="invite-role",
        ),
        button(
            invite, "send", kind="primary",
            busy=Check.inviting,
            disabled=(Check.chosen == 0) | Check.checking, on_click=Check.invite,
        ),
    )  # fmt: skip


def invitations_link() -> rx.Component:
    """Link to the list of sent invitations."""
    return link_button("Invitations", "/o/" + Session.org.id + "/members?tab=invitations", "mail")
