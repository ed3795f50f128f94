"""Parts of a distribution's page: facts, one recipient's proof, activation, cancellation and deletion."""

import reflex as rx

from components.core.holder_picker import account_field
from components.ui.box import col, split
from components.ui.card import card, kv
from components.ui.dialog import confirm, form_dialog
from components.ui.form import form, text_field
from components.ui.note import note, problem_note
from components.ui.progress import bar
from components.ui.status import status
from components.ui.value import amount, copy_button, short_hash, when
from state.distributions.detail import DistributionState
from state.distributions.operations import Activation, Cancellation, Deletion
from state.distributions.proof import ProofFinder

ONE = DistributionState.distribution
"""The most decimals that a token can have."""


def facts() -> rx.Component:
    """Draw the distribution's facts and how much was claimed."""
    claimed = col(
        bar(ONE.claimed_percent, "Claimed"),
        rx.el.span(
            amount(ONE.claimed, ONE.symbol, ONE.decimals, 2, 2), " of ",
            amount(ONE.total, ONE.symbol, ONE.decimals, 2, 2),
            ", ", ONE.claimed_percent, "%",
        ),
        cls="tight",
    )  # fmt: skip
    by = rx.cond(
        ONE.recipients > 0,
        rx.el.span(ONE.claimed_recipients, " of ", ONE.recipients, class_name="num"),
        rx.el.span("Known after activation", class_name="muted"),
    )
    money = card(
        "Entitlements",
        kv(
            ("Claimed", claimed),
            ("Recipients who claimed", by),
            ("Unclaimed", amount(ONE.unclaimed, ONE.symbol, ONE.decimals, 2, 2)),
            ("Held back", _unpaid()),
            ("Created", when(ONE.created_at)),
        ),
    )
    on_chain = card(
        "On chain",
        kv(
            ("Chain", ONE.chain),
            ("Distributor", _explained(_made(ONE.distributor), "The contract that pays the recipients")),
            ("Merkle root", _explained(short_hash(ONE.root, "root"), "Proves who is on the list, and each amount")),
        ),
    )
    return split(money, on_chain)


def _explained(value: rx.Component, about: str) -> rx.Component:
    return col(value, rx.el.span(about, class_name="muted small"), cls="none")


def _unpaid() -> rx.Component:
    held = rx.cond(
        ONE.held > 0,
        rx.el.span(ONE.held, rx.cond(ONE.held == 1, " recipient", " recipients"), class_name="num"),
        rx.fragment(),
    )
    excluded = rx.cond(ONE.excluded > 0, rx.el.span(ONE.excluded, " excluded", class_name="num"), rx.fragment())
    between = rx.cond((ONE.held > 0) & (ONE.excluded > 0), ", ", "")
    none = (ONE.held == 0) & (ONE.excluded == 0)
    return rx.cond(none, rx.el.span("none", class_name="muted"), rx.el.span(held, between, excluded))


def _made(address: rx.Var[str]) -> rx.Component:
    shown = short_hash(address, "distributor address", DistributionState.distributor_url)
    return rx.cond(address != "", shown, rx.el.span("Not deployed yet", class_name="muted"))


def proof_card() -> rx.Component:
    """Draw the form that looks up a recipient's proof."""
    claim = status(rx.cond(ProofFinder.claimed, "claimed", "open"))
    found = col(
        kv(
            ("Address", short_hash(ProofFinder.address)),
            ("Amount", amount(ProofFinder.amount, ONE.symbol, ONE.decimals, 2, 2)),
            ("Index", rx.el.span(ProofFinder.index, class_name="num")),
            ("Claim", rx.cond(ONE.status == "draft", "After activation", claim)),
        ),
        rx.el.pre(ProofFinder.text, class_name="proof-text", tab_index=0, aria_label="Arguments of claim"),
        rx.el.p(
            "What the contract's claim function takes, with the amount as a whole number.",
            class_name="muted small",
        ),
        rx.cond(
            ONE.recipients == 1,
            rx.el.p("The list has one recipient, so the proof is empty.", class_name="muted small"),
            rx.fragment(),
        ),
        rx.el.div(copy_button(ProofFinder.text, "Copy proof", small=True), class_name="row"),
        cls="wide",
    )
    ask = form(
        account_field(
            "Recipient", "address", id="proof-address", errors=ProofFinder.errors, free=True,
            asset_id=ONE.asset_id, chain_eid=ONE.chain_eid.to_string(),
            hint="Anyone can submit the proof. The payment always goes to the recipient's address.",
        ),
        on_submit=ProofFinder.find,
        problem=ProofFinder.form_problem,
        submit="Find proof",
        busy=ProofFinder.saving,
    )  # fmt: skip
    shown = rx.cond(ProofFinder.text != "", found, rx.fragment())
    return card(
        "A recipient's proof",
        col(ask, rx.el.div(shown, aria_live="polite", class_name="recipient"), cls="wide"),
        pad=True,
    )


def activation_dialog() -> rx.Component:
    """Draw the dialog that activates the distribution."""
    state = Activation
    steps = rx.el.ol(rx.foreach(state.steps, lambda step: rx.el.li(step, key=step)), class_name="plan-steps")
    said = rx.cond(
        state.steps.length() > 0, rx.fragment(rx.el.p("Transactions:", class_name="muted"), steps), rx.fragment()
    )
    by_root = rx.fragment(
        note("The recipients are stored outside Signum. Enter the Merkle root of their tree and their number."),
        text_field(
            "Merkle root", "merkleRoot", errors=state.errors, id="activate-root", class_name="mono", placeholder="0x…"
        ),
        text_field("Recipients", "totalRecipients", errors=state.errors, id="activate-count", input_mode="numeric"),
    )
    return form_dialog(
        "Activate " + ONE.name,
        rx.el.span(
            "Moves ", amount(ONE.total, ONE.symbol, ONE.decimals, 2),
            " out of your treasury. What is not claimed returns to it when you cancel the distribution.",
        ),
        problem_note(state.plan_problem),
        rx.cond(ONE.has_recipients, said, by_root),
        form=state,
        submit="Fund and activate",
    )  # fmt: skip


def cancellation_dialog() -> rx.Component:
    """Ask for confirmation before the distribution is cancelled."""
    draft = rx.el.span("Ends the draft. Nothing has been paid out. This cannot be undone.")
    people = rx.cond(
        ONE.unclaimed_recipients == 1, "1 recipient who has", f"{ONE.unclaimed_recipients} recipients who have"
    )
    active = rx.el.span(
        "Ends claims on ",
        ONE.chain,
        ". The ",
        people,
        " not claimed can no longer do so",
        rx.cond(Cancellation.losing != "", ": " + Cancellation.losing, ""),
        ". ",
        amount(ONE.unclaimed, ONE.symbol, ONE.decimals, 2),
        " return to your treasury. This cannot be undone.",
    )
    return confirm(
        "Cancel distribution “" + ONE.name + "”?",
        rx.cond(ONE.status == "draft", draft, active),
        form=Cancellation,
        word="Cancel distribution",
        keep="Keep distribution",
    )


def deletion_dialog() -> rx.Component:
    """Ask for confirmation before the draft is deleted."""
    return confirm(
        "Delete draft “" + ONE.name + "”?",
        "Deletes the draft with its recipients and their proofs. Nothing has been paid out. This cannot be undone.",
        form=Deletion,
        word="Delete draft",
    )


def deletion_note() -> rx.Component:
    """State when the draft is deleted, if it will be."""
    said = note(
        rx.el.b("Temporary. "),
        "Signum deletes this draft after ", when(ONE.deleted_at, "day"), ", unless you activate it.",
    )  # fmt: skip
    return rx.cond(ONE.deleted_at != "", said, rx.fragment())
