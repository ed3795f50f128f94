"""Applications that sign users in with Signum: the table, and the registration dialog."""

import reflex as rx

from components.core.permission import Scope, allowed, may, who_can
from components.ui.box import row
from components.ui.button import button
from components.ui.card import card
from components.ui.dialog import confirm, dialog, form_dialog
from components.ui.form import area_field, check_field, choice, choices, text_field
from components.ui.note import empty, forbidden, note
from components.ui.status import status
from components.ui.table import Col, list_table, pager, td, tr
from components.ui.value import copy_button, short_hash, when
from state.oauth.client_form import ClientForm
from state.oauth.clients import ClientRemoval, ClientsState, ClientView

SCOPES = [("profile", "Their name"), ("email", "Their email address"), ("kyc:status", "Their attestation status"),
          ("chains:read", "Their wallets' addresses")]  # fmt: skip


def clients_card() -> rx.Component:
    """Draw the table of applications."""
    new = allowed(Scope.API_KEYS_WRITE, button("New application", "plus", small=True, on_click=ClientForm.show(True)))
    why = "An application lets people sign in elsewhere with their Signum account (OpenID Connect)."
    table = rx.fragment(
        list_table(
            "Applications",
            [
                Col("Name"), Col("Client ID"), Col("Kind", narrow=False),
                Col("Created", right=True, sort="created_at"), Col("Status"), Col("Actions", hidden=True),
            ],
            ClientsState,
            _row,
            empty=empty("app-window", "No applications yet", why),
        ),
        pager("Newest first, 50 per page", ClientsState),
    )  # fmt: skip
    hidden = forbidden(who_can(Scope.API_KEYS_READ))
    return card("Applications", rx.cond(may(Scope.API_KEYS_READ), table, hidden), right=new)


def _row(client: rx.Var[ClientView]) -> rx.Component:
    remove = button("Remove", small=True, on_click=ClientRemoval.ask(client.id), aria_label="Remove " + client.name)
    below = rx.el.div(client.addresses, class_name="muted small break")
    return tr(
        td(rx.el.div(client.name, class_name="strong break"), below),
        td(short_hash(client.id, "client id"), label="Client ID"),
        td(client.kind, narrow=False, class_name="muted"),
        td(when(client.created_at), right=True, class_name="muted", label="Created"),
        td(status(client.status)),
        td(rx.cond(may(Scope.API_KEYS_WRITE) & (client.status == "active"), remove, ""), right=True),
        key=client.id,
    )


def client_dialog() -> rx.Component:
    """Draw the form; once it is sent, the id and the secret."""
    return rx.cond(ClientForm.created.id != "", _shown_once(), _form())


def _shown_once() -> rx.Component:
    secret = rx.fragment(
        _copied("The new secret", ClientForm.secret, "new-secret"),
        rx.el.div(note("The secret is shown only once. Signum stores only its digest."), class_name="after"),
    )
    public = rx.el.div(note("A public application has no secret; PKCE protects it."), class_name="after")
    return dialog(
        "Copy what " + ClientForm.created.name + " needs",
        "Its discovery document is at /.well-known/openid-configuration.",
        _copied("Client ID", ClientForm.created.id, "new-client-id"),
        rx.cond(ClientForm.secret != "", secret, public),
        is_open=ClientForm.is_open,
        on_open_change=ClientForm.show,
        foot=(rx.el.span(class_name="end"), rx.dialog.close(button("Done", kind="primary"))),
        width="560px",
    )


def _copied(label: str, value: rx.Var[str], id: str) -> rx.Component:
    held = rx.el.input(value=value, read_only=True, id=id, class_name="input mono", aria_label=label, spell_check=False)
    return row(held, copy_button(value), cls="after")


def _form() -> rx.Component:
    errors = ClientForm.errors
    asked = [check_field(words, name, default_checked=name in ("profile", "email")) for name, words in SCOPES]
    return form_dialog(
        "New application",
        "People sign in to it with their Signum account and choose what to share with it.",
        text_field("Name", "name", id="c-name", errors=errors, max_length=120),
        area_field(
            "Redirect URIs", "redirect_uris", id="c-uris", errors=errors, rows=2, max_length=8_000,
            placeholder="https://app.example/callback",
            hint="One per line, compared exactly. A loopback address is accepted with any port.",
        ),
        text_field(
            "Logout URI", "backchannel_logout_uri", id="c-logout", errors=errors, max_length=2_000, optional=True,
            placeholder="https://app.example/logout", hint="Notified when a user's session ends.",
        ),
        choices(
            "Kind",
            choice("kind", "confidential", "Confidential", "Runs on a server with a secret.", default_checked=True),
            choice("kind", "public", "Public", "Runs on the user's device and has no secret."),
        ),
        rx.el.fieldset(
            rx.el.legend("It may ask for"),
            rx.el.div(*asked, class_name="ticks"),
            class_name="tick-group",
        ),
        form=ClientForm,
        submit="Create application",
        width="600px",
    )  # fmt: skip


def removal_dialog() -> rx.Component:
    """Ask for confirmation before an application is removed."""
    return confirm(
        "Remove " + ClientRemoval.about.name,
        "Everyone signed in through it is signed out immediately. This cannot be undone.",
        form=ClientRemoval,
        word="Remove",
    )
