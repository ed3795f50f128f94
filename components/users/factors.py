"""Second factors: the account's list and dialogs, the confirmation dialog, and the advice to set one up."""

from typing import Any

import reflex as rx

from components.ui.box import row
from components.ui.button import button, link_button
from components.ui.card import card, item, items
from components.ui.dialog import confirm, dialog, form_dialog
from components.ui.form import text_field
from components.ui.icon import mark
from components.ui.note import failure, note, problem_note, skeleton
from components.ui.value import Local, copy_button, when
from state.core.session import Session
from state.users.factor_prompt import ProofPrompt
from state.users.factors import FactorRemoval, FactorSetup, FactorsState, FactorView


class ShowPasskey(Local):
    """A button that asks for a passkey with the options at `url`; within a form with `credential` it posts the form."""

    library = "$/public/react/passkey.jsx"
    tag = "ShowPasskey"

    url: rx.Var[str]
    label: rx.Var[str]

    on_answer: rx.EventHandler[rx.event.passthrough_event_spec(str)]


class MakePasskey(Local):
    """A button that creates a passkey from options; it starts on its own when the options change."""

    library = "$/public/react/passkey.jsx"
    tag = "MakePasskey"

    options: rx.Var[dict[str, Any]]
    label: rx.Var[str]

    on_answer: rx.EventHandler[rx.event.passthrough_event_spec(str)]


class SignWithWallet(Local):
    """A button that asks the browser's wallet for its account, and for a signature once there is a message."""

    library = "$/public/react/wallet_proof.jsx"
    tag = "SignWithWallet"

    message: rx.Var[str]
    label: rx.Var[str]

    on_account: rx.EventHandler[rx.event.passthrough_event_spec(str)]
    on_signature: rx.EventHandler[rx.event.passthrough_event_spec(str)]


def factors_card() -> rx.Component:
    """Draw the list of second factors, and the buttons that add one."""
    add = row(
        button("Add authenticator app", "smartphone", small=True, on_click=FactorSetup.begin("totp")),
        button("Add passkey", "fingerprint", small=True, on_click=FactorSetup.begin("passkey")),
        cls="wrap",
    )
    none = rx.el.p(
        rx.el.b("No second factor yet. "),
        "An authenticator app or a passkey protects your account if your password leaks.",
        class_name="card-body muted",
    )
    factors = items(rx.foreach(FactorsState.rows, _row), label="Second factors")
    listed = rx.cond(FactorsState.rows.length() > 0, rx.fragment(factors, _codes()), none)
    return card(
        "Second factor",
        rx.cond(
            FactorsState.problem != "",
            failure("Your second factors did not load", FactorsState.problem),
            rx.cond(FactorsState.loading, skeleton(1), listed),
        ),
        right=add,
        class_name="factors",
    )


def _row(factor: rx.Var[FactorView]) -> rx.Component:
    used = rx.cond(factor.last_used_at != "", rx.el.span("Last used ", when(factor.last_used_at)), "Not used yet")
    sign = rx.cond(factor.kind == "Passkey", "fingerprint", "smartphone")
    remove = button("Remove", small=True, on_click=FactorRemoval.ask(factor.id), aria_label="Remove " + factor.name)
    below = rx.el.span(rx.cond(factor.kind != factor.name, factor.kind + ". ", ""), used)
    return item(factor.name, below, remove, sign=_sign(sign), key=factor.id)


def _sign(name: rx.Var[str]) -> rx.Component:
    return rx.match(name, ("fingerprint", mark("fingerprint")), mark("smartphone"))


def _codes() -> rx.Component:
    words = rx.el.span(
        "Recovery codes left: ", rx.el.b(FactorsState.codes_left), ". Each one replaces your second factor once.",
        class_name="grow",
    )  # fmt: skip
    renew = button("New recovery codes", small=True, on_click=FactorSetup.renew)
    return rx.el.div(row(words, renew, cls="wrap"), class_name="card-foot")


def factor_dialogs() -> rx.Component:
    """Draw the dialogs of the account page."""
    return rx.fragment(_password(), _wallet(), _app(), _passkey(), _saved(), _removal())


def password_dialog(state: Any, why: str, submit: str, *, name: str) -> rx.Component:
    """Draw the dialog in which a person confirms with their password, while `state` is at the step `password`."""
    return form_dialog(
        "Confirm your identity",
        why,
        text_field(
            "Password", "password", type="password", errors=state.errors, auto_complete="current-password",
            max_length=256, id=name,
        ),
        is_open=state.step == "password",
        form=state,
        on_submit=state.give_password,
        submit=submit,
    )  # fmt: skip


def _password() -> rx.Component:
    why = "Enter your password to add your first second factor."
    return password_dialog(FactorSetup, why, "Continue", name="factor-password")


def _wallet() -> rx.Component:
    sign = SignWithWallet.create(
        message=FactorSetup.message,
        label="Sign with wallet",
        on_account=FactorSetup.choose_wallet,
        on_signature=FactorSetup.give_signature,
    )
    return dialog(
        "Confirm your identity",
        "Your account has no password. Sign a message with a wallet that you sign in with. Signing is free.",
        sign,
        problem_note(FactorSetup.form_problem),
        is_open=FactorSetup.step == "wallet",
        on_open_change=FactorSetup.show,
        width="460px",
    )


def _app() -> rx.Component:
    return form_dialog(
        "Add an authenticator app",
        "Scan the code with your app, then enter the 6 digits it shows.",
        rx.el.img(src=FactorSetup.picture, alt="QR code for your authenticator app", class_name="qr"),
        rx.el.div(
            rx.el.div("Or enter this key in the app", class_name="label"),
            row(rx.el.code(FactorSetup.secret, class_name="mono break grow"), copy_button(FactorSetup.secret)),
            class_name="field",
        ),
        text_field(
            "Code", "code", errors=FactorSetup.errors, auto_complete="one-time-code", input_mode="numeric",
            max_length=7, id="factor-code",
        ),
        text_field(
            "Name", "name", errors=FactorSetup.errors, default_value="Authenticator app", max_length=120,
            id="factor-name",
        ),
        is_open=FactorSetup.step == "app",
        form=FactorSetup,
        on_submit=FactorSetup.confirm,
        submit="Add app",
    )  # fmt: skip


def _passkey() -> rx.Component:
    return dialog(
        "Add a passkey",
        "Your browser asks where to store it: this device, your phone or a security key.",
        MakePasskey.create(options=FactorSetup.options, label="Create passkey", on_answer=FactorSetup.register),
        problem_note(FactorSetup.form_problem),
        is_open=FactorSetup.step == "passkey",
        on_open_change=FactorSetup.show,
        width="460px",
    )


def _saved() -> rx.Component:
    code = rx.foreach(FactorSetup.codes, lambda code: rx.el.li(code, key=code))
    return dialog(
        "Save your recovery codes",
        "They are shown only once. Each one signs you in once if you lose your second factor.",
        rx.el.ul(code, class_name="codes mono", aria_label="Recovery codes"),
        rx.el.div(copy_button(FactorSetup.codes.join("\n"), word="Copy codes"), class_name="after"),
        is_open=FactorSetup.step == "codes",
        on_open_change=FactorSetup.show,
        foot=(rx.el.span(class_name="end"), rx.dialog.close(button("I have saved them", kind="primary"))),
        width="460px",
    )


def _removal() -> rx.Component:
    return confirm(
        "Remove " + FactorRemoval.about.name,
        "You can no longer sign in with it. If it is your last second factor, your recovery codes stop working too.",
        form=FactorRemoval,
        word="Remove",
    )


@rx.memo
def proof_dialogs() -> rx.Component:
    """Draw the dialogs that ask for a proof of identity during an action; every page's shell has them."""
    return rx.fragment(_confirm_by_factor(), _confirm_by_password(), _confirm_by_wallet())


def _confirm_by_factor() -> rx.Component:
    passkey = ShowPasskey.create(
        url="/v1/auth/factors/challenge", label="Use a passkey", on_answer=ProofPrompt.answer, class_name="btn"
    )
    return form_dialog(
        "Confirm your identity",
        "This action requires your second factor, at most once every 5 minutes.",
        text_field(
            "Code", "code", errors=ProofPrompt.errors, auto_complete="one-time-code", max_length=40, id="confirm-code",
            hint="The 6 digits from your authenticator app, or a recovery code.",
        ),
        rx.cond(ProofPrompt.has_passkey, passkey, rx.fragment()),
        is_open=ProofPrompt.step == "factor",
        form=ProofPrompt,
        submit="Confirm",
        width="420px",
    )  # fmt: skip


def _confirm_by_password() -> rx.Component:
    return form_dialog(
        "Confirm your identity",
        "This action requires your password, at most once every 5 minutes.",
        text_field(
            "Password", "password", type="password", errors=ProofPrompt.errors, auto_complete="current-password",
            max_length=256, id="confirm-password",
        ),
        is_open=ProofPrompt.step == "password",
        form=ProofPrompt,
        on_submit=ProofPrompt.give_password,
        submit="Confirm",
        width="420px",
    )  # fmt: skip


def _confirm_by_wallet() -> rx.Component:
    sign = SignWithWallet.create(
        message=ProofPrompt.message,
        label="Sign with wallet",
        on_account=ProofPrompt.choose_wallet,
        on_signature=ProofPrompt.give_signature,
    )
    return dialog(
        "Confirm your identity",
        "This action requires a signature of a wallet that you sign in with, at most once every 5 minutes. It is free.",
        sign,
        problem_note(ProofPrompt.form_problem),
        is_open=ProofPrompt.step == "wallet",
        on_open_change=ProofPrompt.show,
        width="420px",
    )


@rx.memo
def factor_advice() -> rx.Component:
    """Advise users with write access to set up a second factor; "Later" hides it until the next sign-in."""
    words = rx.el.span(
        rx.el.b("Protect your account. "),
        "Your role can change what people own. Set up an authenticator app or a passkey.",
        class_name="grow",
        style={"minWidth": "min(240px, 100%)"},
    )
    actions = row(
        link_button("Set up second factor", Session.account_path, small=True),
        button("Later", small=True, on_click=Session.put_off_factor),
    )
    advice = rx.el.div(
        note(row(words, actions, cls="wrap"), tone="info", sign="shield"),
        style={"marginBottom": "16px"},
        role="region",
        aria_label="Advice",
        class_name="advice",
    )
    return rx.cond(Session.advises_factor, advice, rx.fragment())
