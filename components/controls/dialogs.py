"""The dialogs of the controls: inputs, effects, reason, and the symbol to type where it cannot be undone."""

from typing import Any, NamedTuple

import reflex as rx

from components.compliance.verdicts import verdict_list
from components.controls.second_person import second_person
from components.core.holder_picker import account_field
from components.ui.box import col
from components.ui.dialog import form_dialog
from components.ui.form import area_field, select_field, text_field
from components.ui.note import note, problem_note
from components.ui.progress import diff
from state.assets.detail import AssetState
from state.controls.controls import CONTROLS, ControlForm


class Words(NamedTuple):
    """Texts of a control: its name, what it does, and the labels of its addresses."""

    name: str
    sign: str
    about: str
    submit: str
    addresses: tuple[str, ...] = ()
    amount: str = "Amount"


WORDS = {
    "mint": Words(
        "Mint", "coins",
        "Issues tokens and increases the total supply. The receiver must pass every rule, including the maximum number "
        "of holders; the treasury is exempt. Only a burn reverses it.",
        "Mint tokens", ("Receiver",),
    ),
    "burn": Words(
        "Burn", "flame",
        "Destroys tokens permanently and reduces the total supply. Tokens of a holder, frozen or not, are moved to the "
        "treasury first and destroyed there.",
        "Burn tokens", ("From",),
    ),
    "pause": Words(
        "Pause", "circle-pause",
        "Stops every transfer, trade, mint and burn on this chain immediately, for all holders. "
        "Orders can still be cancelled, and you can still force transfers. You can unpause it later.",
        "Pause token",
    ),
    "unpause": Words("Unpause", "circle-play", "Transfers and trades resume under the same rules.", "Unpause token"),
    "freeze": Words(
        "Freeze", "snowflake",
        "The account keeps its tokens but cannot send, sell or burn frozen ones. Without an amount, the whole "
        "account is frozen, including tokens it receives later. Open orders stay. You can unfreeze it later.",
        "Freeze account", ("Account",),
    ),
    "unfreeze": Words(
        "Unfreeze", "sun",
        "Unfrozen tokens can be sent again under the rules. Without an amount, all are unfrozen.",
        "Unfreeze account", ("Account",),
    ),
    "forced_transfer": Words(
        "Forced transfer", "gavel",
        "Moves tokens, including frozen ones, to an eligible receiver without the holder's consent. "
        "Works while the token is paused or locked up. It cannot be undone: only another forced transfer returns them.",
        "Force transfer", ("From", "To"),
    ),
    "recover": Words(
        "Recover wallet", "life-buoy",
        "Moves this token from a lost wallet to a new, eligible wallet of the same person: tokens with their freezes, "
        "and the tokens and money in open orders. Those orders are cancelled, and your attestation of "
        "the lost wallet on this chain is revoked. It cannot be undone.",
        "Recover wallet", ("Lost wallet", "New wallet"),
    ),
}  # fmt: skip


def control_dialogs() -> rx.Component:
    """Draw every dialog; at most one is open."""
    return rx.fragment(*[_dialog(kind) for kind in CONTROLS])


def _dialog(kind: str) -> rx.Component:
    form, control, words = ControlForm, CONTROLS[kind], WORDS[kind]
    danger = [_symbol(kind)] if control.danger else []
    between = {"forced_transfer": " of ", "recover": ", "}.get(kind, " ")
    title = rx.fragment(words.name, between, AssetState.asset.symbol)
    return form_dialog(
        title,
        words.about,
        select_field(
            "Chain", "chain_eid", form.chains, errors=form.errors, id=f"{kind}-chain", value=form.chain,
            on_change=form.write("chain_eid"),
        ),
        *([_frozen()] if kind == "unfreeze" else []),
        *[_address(kind, name, label) for name, label in zip(control.addresses, words.addresses, strict=True)],
        *([_amount(kind)] if control.has_amount else []),
        _plan(),
        area_field(
            "Reason", "reason", errors=form.errors, id=f"{kind}-reason", rows=2, max_length=500,
            hint="Stored with the request and visible to everyone who can see it",
        ),
        *danger,
        second_person(form),
        is_open=form.kind == kind,
        on_open_change=form.close,
        form=form,
        submit=rx.cond(form.needs_second_person, "Request approval", words.submit),
        kind="danger" if control.danger else "primary",
        width="560px",
    )  # fmt: skip


def _address(kind: str, name: str, label: str) -> rx.Component:
    return account_field(
        label, name, id=f"{kind}-{name}", errors=ControlForm.errors, asset_id=AssetState.asset.id,
        chain_eid=ControlForm.chain, on_pick=ControlForm.write(name),
    )  # fmt: skip


def _frozen() -> rx.Component:
    """List the frozen holders of the chain, or say that no account is frozen."""
    frozen = ControlForm.frozen
    listed = note(
        rx.el.b("Frozen on this chain"), rx.el.ul(rx.foreach(frozen.rows, lambda one: rx.el.li(one, key=one)))
    )
    none = rx.cond(frozen.none != "", note(frozen.none, role="status"), rx.fragment())
    return rx.cond(frozen.rows.length() > 0, listed, none)


def _amount(kind: str) -> rx.Component:
    whole = {"freeze": "Empty: the whole account", "unfreeze": "Empty: all frozen tokens"}.get(kind)
    return text_field(
        rx.el.span("Amount, ", AssetState.asset.symbol), "amount", errors=ControlForm.errors, id=f"{kind}-amount",
        input_mode="decimal", optional=whole is not None, hint=whole or "In tokens, such as 12.5",
        on_change=ControlForm.write("amount").debounce(250), on_blur=ControlForm.leave("amount"),
    )  # fmt: skip


def _symbol(kind: str) -> rx.Component:
    label = rx.el.span("Type ", rx.el.b(AssetState.asset.symbol), " to confirm")
    return text_field(label, "symbol", errors=ControlForm.errors, id=f"{kind}-symbol", spell_check=False)


def _plan() -> rx.Component:
    """Draw what the control would change, or why it is refused."""
    form = ControlForm
    warned = rx.foreach(form.warnings, lambda words: note(words, tone="warn", key=words))
    refused: Any = rx.fragment(
        note(rx.el.b("The rules refuse this. "), "Nothing was sent.", tone="bad"),
        rx.el.div(verdict_list(form.refusals, "Refusals"), class_name="card"),
    )
    return rx.el.div(
        rx.cond(form.planning, rx.el.span("Querying the chain", class_name="muted small"), rx.fragment()),
        rx.cond(form.refusals.length() > 0, refused, rx.fragment()),
        problem_note(form.plan_problem),
        rx.cond(form.changes.length() > 0, rx.el.div(diff(form.changes), class_name="card plan-diff"), rx.fragment()),
        col(warned),
        class_name="col effects",
        aria_live="polite",
        aria_label="What it changes",
        role="region",
    )
