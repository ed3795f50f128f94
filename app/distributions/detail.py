"""The page of a distribution."""

import reflex as rx

from app.shell.layout import page
from components.core.permission import Scope, allowed, lacking
from components.distributions.detail import (
    activation_dialog,
    cancellation_dialog,
    deletion_dialog,
    deletion_note,
    facts,
    proof_card,
)
from components.distributions.held import held_card, release_dialog
from components.distributions.payout_all import payout_dialog
from components.distributions.recipients import recipients
from components.requests.progress import request_progress
from components.ui.box import col
from components.ui.button import button, link_button
from components.ui.card import page_head
from components.ui.note import absent, empty, note, page_skeleton
from components.ui.progress import past_progress
from components.ui.status import badge
from components.ui.tabs import tabs
from state.core.session import Session
from state.distributions.detail import DistributionState
from state.distributions.held import HeldState
from state.distributions.operations import Activation, Cancellation, Deletion
from state.distributions.payout_all import PayoutAll
from state.distributions.proof import ProofFinder
from state.distributions.recipients import RecipientsState
from state.distributions.release import Release

ONE, REQUEST = DistributionState.distribution, DistributionState.request


@page(
    route="/o/[org_id]/distributions/[distribution_id]",
    title="Distribution",
    under="/o/[org_id]/distributions",
    crumbs=[
        ("Distributions", "/o/" + Session.org.id + "/distributions"),
        (rx.cond(ONE.name != "", ONE.name, "Distribution"), ""),
    ],
    on_load=[
        ProofFinder.clear,
        Activation.show(False),
        Cancellation.show(False),
        Deletion.show(False),
        Release.show(False),
        PayoutAll.show(False),
        DistributionState.load,
        HeldState.load,
        RecipientsState.load,
    ],
    in_url=[DistributionState],
)
def distribution() -> rx.Component:
    """Draw the distribution, or why it cannot be shown."""
    state = DistributionState
    back = link_button("Distributions", "/o/" + Session.org.id + "/distributions", "arrow-left")
    broken = absent("distribution", state, state.reload, back)
    # Until this distribution has loaded, the state may still hold the previous one.
    is_here = (ONE.id != "") & (ONE.id == rx.State.distribution_id)
    return rx.cond(state.problem != "", broken, rx.cond(is_here, _whole(), page_skeleton()))


def _whole() -> rx.Component:
    is_draft, is_open = ONE.status == "draft", ONE.status == "active"
    actions = allowed(
        Scope.ASSETS_WRITE,
        rx.cond(ONE.deleted_at != "", button("Delete draft", "trash-2", on_click=Deletion.show(True)), rx.fragment()),
        rx.cond(
            (is_draft & (ONE.deleted_at == "")) | is_open,
            button("Cancel distribution", "circle-x", on_click=Cancellation.show(True)),
            rx.fragment(),
        ),
        rx.cond(is_draft, button("Activate", "play", kind="primary", on_click=Activation.show(True)), rx.fragment()),
    )
    why = note(rx.el.b("The last activation failed. "), ONE.failure, tone="bad")
    has_steps, is_done = REQUEST.steps.length() > 0, REQUEST.status == "succeeded"
    # A payment is followed below the list from which it was asked, so that the list does not move.
    is_payment = REQUEST.kind == "distribution.pay"
    shown = request_progress(DistributionState)
    return rx.fragment(
        page_head(
            ONE.name,
            rx.el.span(
                ONE.asset_symbol, " on ", ONE.chain, rx.cond(ONE.is_quote, ", paid in " + ONE.symbol, rx.fragment())
            ),
            link_button("View asset", "/o/" + Session.org.id + "/assets/" + ONE.asset_id, "landmark"),
            actions,
            badge=badge(ONE.shown),
            who=rx.cond(is_draft | is_open, lacking(Scope.ASSETS_WRITE, "pay out or cancel"), rx.fragment()),
        ),
        col(
            rx.cond((ONE.failure != "") & (REQUEST.problem == ""), why, rx.fragment()),
            rx.cond(has_steps & ~is_done & ~is_payment, shown, rx.fragment()),
            deletion_note(),
            facts(),
            rx.cond(ONE.has_recipients, _lists(), rx.fragment()),
            rx.cond(has_steps & is_payment, shown, rx.fragment()),
            rx.cond(has_steps & is_done & ~is_payment, past_progress(REQUEST), rx.fragment()),
            cls="wide",
        ),
        activation_dialog(),
        cancellation_dialog(),
        deletion_dialog(),
        release_dialog(),
        payout_dialog(),
    )


def _lists() -> rx.Component:
    held = rx.cond(ONE.held > 0, rx.el.span("Held back ", rx.el.span(ONE.held, class_name="num")), "Held back")
    none = empty("users", "No held recipients", "All recipients of the list are paid, or were excluded.")
    return tabs(
        "Distribution",
        DistributionState.tab,
        DistributionState.go,
        ("recipients", "Recipients", recipients()),
        ("held", held, rx.cond(ONE.held > 0, held_card(), none)),
        ("proof", "Proof", proof_card()),
    )
