"""The list of API keys, the matrix of scopes, and the dialog that shows a new key once."""

from typing import Any

import reflex as rx

from components.core.csv_link import csv_of
from components.core.permission import Scope, allowed, may
from components.organizations.ip_ranges import ip_ranges_field
from components.ui.box import row
from components.ui.button import button, text_button
from components.ui.card import panel
from components.ui.dialog import confirm, dialog, form_dialog
from components.ui.form import choice, choices, error_of, field_row, select_field, text_field
from components.ui.icon import icon
from components.ui.note import empty, note
from components.ui.status import status
from components.ui.table import Col, list_table, pager, td, tr
from components.ui.value import copy_button, when
from state.api_keys.list import SETS, KeyForm, KeyRevocation, KeysState
from state.api_keys.views import KeyView
from state.core.session import Session

RESOURCES = [
    ("orgs", "Organizations", "See them, their requests and summary", "Create and change them"),
    ("assets", "Assets", "See assets, markets, orders and bridges", "Create and change them, deploy markets"),
    ("members", "Members", "See members, check eligibility", "Add, change, remove, invite"),
    ("wallets", "Wallets", "See wallets and balances", "Create and manage them"),
    ("chains", "Chains", "See which are enabled", "Enable and disable them"),
    ("attestations", "Attestations", "See parties and attestations", "Verify parties, issue and revoke"),
    ("transfers", "Transfers", "See transfers", "Start transfers, place orders"),
    ("api-keys", "API keys", "List keys", "Create and revoke keys"),
]
RECOMMENDED = [
    ("dashboard", "Read-only dashboard"),
    ("issuer", "Attestation issuer"),
    ("keys", "Key management"),
    ("full", "Full access"),
]
EXPIRY = [("90", "In 90 days"), ("30", "In 30 days"), ("365", "In a year"), ("never", "Never")]


def keys_panel() -> rx.Component:
    """Draw the table of API keys."""
    return panel(
        list_table(
            "API keys",
            [
                Col("Name"), Col("Key"), Col("Scopes"), Col("Created"), Col("Last used"), Col("Expires"),
                Col("Status"), Col("Actions", hidden=True),
            ],
            KeysState,
            _row,
            empty=empty("key-round", "No API keys yet", "An API key lets a program call the API within its scopes."),
        ),
        pager("Newest first, 50 per page", KeysState, csv=csv_of("/api-keys")),
        label="API keys",
    )  # fmt: skip


def new_button() -> rx.Component:
    """Draw the button that opens the form of a new key, for users who can create one."""
    new = button("New key", "plus", kind="primary", on_click=KeyForm.show(True))
    return allowed(Scope.API_KEYS_WRITE, new)


def _row(key: rx.Var[KeyView]) -> rx.Component:
    revoke = button("Revoke", small=True, on_click=KeyRevocation.ask(key.id), aria_label="Revoke " + key.name)
    is_live = may(Scope.API_KEYS_WRITE) & ((key.status == "active") | (key.status == "expiring"))
    network = rx.cond(key.network != "", rx.el.div(key.network, " only", class_name="muted small"), rx.fragment())
    made = rx.cond(
        key.created_by != "", rx.el.div("Created by ", key.created_by, class_name="muted small"), rx.fragment()
    )
    places = rx.el.div("From ", key.ip_ranges, class_name="muted small break", title=key.all_ip_ranges)
    places = rx.cond(key.ip_ranges != "", places, rx.fragment())
    return tr(
        td(rx.el.div(key.name, class_name="strong break"), network, places, made, full=True),
        td(rx.el.span(key.shown, class_name="mono"), label="Key"),
        td(rx.el.span(key.access, title=key.scopes.join(", ")), label="Scopes"),
        td(when(key.created_at, "day"), class_name="muted", label="Created"),
        td(when(key.last_used_at), class_name="muted", label="Last used"),
        td(when(key.expires_at, "day"), class_name="muted", label="Expires"),
        td(status(key.status), label="Status"),
        td(rx.cond(is_live, revoke, ""), right=True),
        class_name="facts",
        key=key.id,
    )


def key_dialog() -> rx.Component:
    """Draw the form; once it is sent, the new key."""
    return rx.cond(KeyForm.secret != "", _shown_once(), _form())


def _shown_once() -> rx.Component:
    return dialog(
        "Copy the key of " + KeyForm.name + " now",
        "It is shown only once. Signum stores only its digest.",
        row(
            rx.el.input(
                value=KeyForm.secret, read_only=True, id="new-key", class_name="input mono", aria_label="The new key",
                spell_check=False,
            ),
            copy_button(KeyForm.secret),
        ),
        rx.el.div(note(
            "Send it as ", rx.el.code("x-api-key", class_name="mono"), " or as ",
            rx.el.code("Authorization: Bearer", class_name="mono"), ". If it is lost, revoke it and create another.",
        ), class_name="after"),
        is_open=KeyForm.is_open,
        on_open_change=KeyForm.show,
        foot=(rx.el.span(class_name="end"), rx.dialog.close(button("I have copied it", kind="primary"))),
        width="560px",
    )  # fmt: skip


def _form() -> rx.Component:
    errors = KeyForm.errors
    said = error_of(errors, "scopes")
    cards = [
        choice(
            "set",
            name,
            title,
            _count(len(SETS[name])),
            checked=KeyForm.chosen_set == name,
            on_change=KeyForm.choose(name),
        )
        for name, title in RECOMMENDED
    ]
    custom = choice(
        "set", "custom", "Custom", "The scopes selected below", checked=KeyForm.chosen_set == "custom", read_only=True
    )
    blind = rx.el.span(
        rx.el.b("Write scopes do not include read access. "),
        "This key may change ", KeyForm.blind.join(", "), " without seeing the result. ",
        text_button("Add read scopes", on_click=KeyForm.see),
        class_name="warn-text small",
        role="status",
    )  # fmt: skip
    count = rx.el.span(rx.el.b(KeyForm.scopes.length()), " of 16 scopes", class_name="muted num nowrap")
    return form_dialog(
        "New API key",
        "It belongs to " + Session.org.name + " and can never do more than you can. It is shown only once.",
        rx.el.div(
            text_field("Name", "name", id="k-name", errors=errors, max_length=120, placeholder="Dashboard export"),
            field_row(
                select_field(
                    "Network", "network",
                    [("", "Same as the organization"), ("testnet", "Testnet"), ("mainnet", "Mainnet")],
                    id="k-network", errors=errors,
                ),
                select_field("Expires", "days", EXPIRY, id="k-days", errors=errors),
            ),
            class_name="key-fields",
        ),
        ip_ranges_field(
            "k-ip-ranges", errors=errors,
            about="One address or CIDR range per line; empty means every address the organization allows. A key's "
            "ranges cannot be changed later.",
        ),
        rx.el.div(choices("Recommended sets", *cards, custom), class_name="key-sets"),
        _matrix(),
        rx.cond(said != "", rx.el.div(icon("circle-alert", 13), said, class_name="error", role="alert"), rx.fragment()),
        form=KeyForm,
        submit="Create key",
        foot=rx.el.div(count, rx.cond(KeyForm.blind.length() > 0, blind, rx.fragment()), class_name="key-foot"),
        width="800px",
    )  # fmt: skip


def _count(scopes: int) -> str:
    return "All 16 scopes" if scopes == 16 else f"{scopes} scopes"


def _matrix() -> rx.Component:
    head = rx.el.tr(*[rx.el.th(words, scope="col") for words in ("Resource", "Read", "Write")])
    body = [
        rx.el.tr(
            rx.el.th(rx.el.div(name), rx.el.div(key, class_name="mono muted"), scope="row"),
            _cell(f"{key}:read", read),
            _cell(f"{key}:write", write),
        )
        for key, name, read, write in RESOURCES
    ]
    return rx.el.table(
        rx.el.caption("Scopes by resource", class_name="sr"), rx.el.thead(head), rx.el.tbody(*body), class_name="matrix"
    )


def _cell(scope: str, about: str) -> rx.Component:
    chosen: Any = KeyForm.scopes.contains(scope)
    box = rx.el.input(
        type="checkbox", checked=chosen, on_change=lambda _: KeyForm.toggle(scope), aria_label=f"{scope}: {about}"
    )
    return rx.el.td(rx.el.label(box, rx.el.span(about), class_name="check"), class_name=rx.cond(chosen, "on", ""))


def revoke_dialog() -> rx.Component:
    """Ask for confirmation before a key is revoked."""
    return confirm(
        "Revoke “" + KeyRevocation.about.name + "”",
        "Programs that use it, or a key created with it, lose access immediately, and their requests that have not "
        "started are denied. This cannot be undone.",
        rx.el.p("Last used: ", when(KeyRevocation.about.last_used_at)),
        form=KeyRevocation,
        word="Revoke key",
    )
