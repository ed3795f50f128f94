"""Parts of a distribution's page: what it is, one recipient's proof, opening it and ending it."""

import reflex as rx

from components.ui.box import col
from components.ui.card import card, kv
from components.ui.dialog import confirm, form_dialog
from components.ui.form import form, text_field
from components.ui.note import note, problem_note
from components.ui.progress import bar
from components.ui.status import status
from components.ui.value import amount, copy_button, short_hash, when
from state.distribution import Activation, Cancellation, DistributionState, ProofFinder

ONE = DistributionState.distribution


def facts() -> rx.Component:
    """What it is, and how much of it was claimed."""
    claimed = col(
        bar(ONE.claimed_percent, "Claimed"),
        rx.el.span(
            amount(ONE.claimed, ONE.symbol, ONE.decimals), " of ", amount(ONE.total, ONE.symbol, ONE.decimals),
        ),
        cls="tight",
    )  # fmt: skip
    by = rx.cond(
        ONE.recipients > 0,
        rx.el.span(ONE.claimed_recipients, " of ", ONE.recipients, class_name="num"),
        rx.el.span("told by its activation", class_name="muted"),
    )
    return card(
        "Entitlements",
        kv(
            ("Claimed", claimed),
            ("Recipients who claimed", by),
            ("Merkle root", short_hash(ONE.root, "root")),
            ("Distributor", _made(ONE.distributor)),
            ("Chain", ONE.chain),
            ("Created", when(ONE.created_at)),
        ),
    )


def _made(address: rx.Var[str]) -> rx.Component:
    shown = short_hash(address, "distributor address", DistributionState.distributor_url)
    return rx.cond(address != "", shown, rx.el.span("not made yet", class_name="muted"))


def proof_card() -> rx.Component:
    """Look a recipient up."""
    found = col(
        kv(
            ("Address", short_hash(ProofFinder.address)),
            ("Amount", amount(ProofFinder.amount, ONE.symbol, ONE.decimals)),
            ("Index", rx.el.span(ProofFinder.index, class_name="num")),
            ("Claim", status(rx.cond(ProofFinder.claimed, "claimed", "open"))),
        ),
        rx.el.pre(ProofFinder.text, class_name="proof-text", tab_index=0, aria_label="What claim takes"),
        rx.el.div(copy_button(ProofFinder.text, "Copy proof", small=True), class_name="row"),
        cls="wide",
    )
    ask = form(
        text_field(
            "Address", "address", errors=ProofFinder.errors, id="proof-address", class_name="mono", spell_check=False,
            placeholder="0x…", hint="Of a recipient; anybody may hand the proof in, the money goes to the address",
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
    """What activating does, and doing it."""
    state = Activation
    steps = rx.el.ol(rx.foreach(state.steps, lambda step: rx.el.li(step, key=step)), class_name="plan-steps")
    said = rx.cond(
        state.steps.length() > 0, rx.fragment(rx.el.p("Four transactions:", class_name="muted"), steps), rx.fragment()
    )
    by_root = rx.fragment(
        note("Its recipients are kept elsewhere. Write the root of their tree, and how many they are."),
        text_field(
            "Merkle root", "merkleRoot", errors=state.errors, id="activate-root", class_name="mono", placeholder="0x…"
        ),
        text_field("Recipients", "totalRecipients", errors=state.errors, id="activate-count", input_mode="numeric"),
    )
    return form_dialog(
        "Activate " + ONE.name,
        rx.el.span(
            "The sum of ", amount(ONE.total, ONE.symbol, ONE.decimals),
            " leaves the wallet that owns the token. What nobody claims comes back when you cancel.",
        ),
        problem_note(state.plan_problem),
        rx.cond(ONE.has_recipients, said, by_root),
        is_open=state.is_open,
        on_open_change=state.show,
        on_submit=state.submit,
        problem=state.form_problem,
        busy=state.saving,
        submit="Fund and activate",
    )  # fmt: skip


def cancellation_dialog() -> rx.Component:
    """Ask before it is ended."""
    draft = rx.el.span("The draft is ended. Nothing was paid, and nothing is.")
    active = rx.el.span("Nobody can claim any more. What was not claimed goes back to the wallet that owns the token.")
    return confirm(
        "Cancel " + ONE.name,
        rx.cond(ONE.status == "draft", draft, active),
        is_open=Cancellation.is_open,
        on_open_change=Cancellation.show,
        on_confirm=Cancellation.confirm,
        problem=Cancellation.form_problem,
        busy=Cancellation.saving,
        word="Cancel distribution",
    )
