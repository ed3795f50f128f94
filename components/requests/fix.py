"""The next step after a failed request: its button or link, and the dialog that takes it."""

import reflex as rx

from components.core.permission import lacking, permitted, who_can
from components.ui.button import button, link_button
from components.ui.dialog import form_dialog
from components.ui.form import area_field
from components.ui.note import note
from components.ui.progress import bar
from state.requests.fix_form import FixForm
from state.requests.views import RequestView

STATE = FixForm
ABOUT = {
    "attest": "The party gets an attestation on this chain, for one year, with the level that was verified.",
    "unfreeze": "All frozen tokens of the account on this chain can be sent, sold and burned again.",
    "unpause": "Transfers, trades, mints and burns resume on this chain, for all holders.",
    "unpause-path": "Packets pass between the two chains again. Waiting ones can be delivered.",
}
WORDS = {"attest": "Attest", "unfreeze": "Unfreeze", "unpause": "Unpause", "unpause-path": "Resume path"}


def fix_offer(request: rx.Var[RequestView]) -> rx.Component:
    """Draw the next step after a failure; where no button takes it, what to do; nothing if nothing is known."""
    fix = request.fix
    go = link_button(fix.label, fix.href, "arrow-right", kind="primary", small=True)
    take = button(
        fix.label, "wrench", kind="primary", small=True, on_click=STATE.begin(request.id), aria_haspopup="dialog"
    )
    shown = permitted(fix.scope, go, fix.label, sign="arrow-right", small=True)
    link = rx.cond(fix.scope == "", go, shown)
    step = rx.cond(fix.kind == "link", link, permitted(fix.scope, take, fix.label, sign="wrench", small=True))
    words = rx.cond(fix.words != "", rx.el.span(fix.words, class_name="muted small"), rx.fragment())
    who = rx.cond(_by_same_people(request), rx.fragment(), lacking(fix.scope, "take the next step"))
    return rx.cond(fix.kind != "", rx.fragment(step, who), words)


def who_can_retry(request: rx.Var[RequestView]) -> rx.Component:
    """Say who can retry a request, and who can take its next step where these are the same people."""
    both = lacking(request.scope, "take the next step and to retry this request")
    return rx.cond(_by_same_people(request), both, lacking(request.scope, "retry this request"))


def _by_same_people(request: rx.Var[RequestView]) -> rx.Var[bool]:
    fix = request.fix
    return (fix.kind != "") & request.can_retry & (who_can(fix.scope) == who_can(request.scope))


@rx.memo
def fix_dialog() -> rx.Component:
    """Draw the dialog. It is part of every page."""
    request = STATE.request
    reason = area_field(
        "Reason", "reason", errors=STATE.errors, id="fix-request-reason", rows=2, max_length=500,
        hint="Stored with the request and visible to everyone who can see it",
    )  # fmt: skip
    waiting = rx.el.div(
        rx.el.span("Waiting for the chain. You can close this dialog.", class_name="muted small"),
        bar(60, "Waiting for the chain"),
        class_name="col",
        role="status",
    )
    then = rx.cond(
        request.can_retry,
        note(rx.el.b("Then retried: "), rx.el.span(request.title, title=request.title_full)),
        note("The request cannot be retried. Send it again afterwards."),
    )
    why = note(rx.el.span(request.problem, title=request.problem_full), tone="bad")
    return form_dialog(
        STATE.fix.label,
        rx.match(STATE.fix.kind, *ABOUT.items(), "").to(str),
        why,
        rx.cond(STATE.needs_reason, reason, rx.fragment()),
        then,
        rx.cond(STATE.is_waiting, waiting, rx.fragment()),
        form=STATE,
        submit=rx.fragment(rx.match(STATE.fix.kind, *WORDS.items(), ""), rx.cond(request.can_retry, " and retry", "")),
        busy=STATE.saving | STATE.is_waiting,
    )
