"""The officer's queue."""

import reflex as rx

from app.layout import Nav, page
from components.access import for_officers
from components.attesting import checklist_dialog
from components.case import AT_REST, case_drawer
from components.csv_link import csv_of
from components.decision import reject_dialog
from components.issuing import issue_dialog, revoke_dialog
from components.ui.button import button
from components.ui.card import avatar, page_head, panel
from components.ui.list_keys import keys_hint, list_keys
from components.ui.note import empty
from components.ui.status import status
from components.ui.table import Col, pager, table, td, toolbar, tr
from components.ui.tabs import filters
from components.ui.value import when
from state.case import Case
from state.issuing import Issue
from state.queue import Entry, Queue

WORDS = {
    "review": "To review", "pending": "On the way", "active": "Active", "expiring": "Expiring", "expired": "Expired",
    "revoked": "Revoked", "failed": "Failed",
}  # fmt: skip


@page(
    route="/o/[org_id]/attestations",
    title="Attestations",
    nav=Nav("Issuance", "badge-check", 33, "t"),
    on_load=[*AT_REST, Queue.load],
)
def attestations() -> rx.Component:
    """Draw the queue, and what is chosen beside it."""
    new = for_officers(button("Issue attestation", "badge-check", kind="primary", on_click=Issue.begin("")))
    return rx.el.div(
        rx.el.div(
            page_head("Attestations", "Parties to decide about, and what was said of them on chain", new),
            panel(
                toolbar(filters("Show", Queue.show, Queue.pick_filter, [
                    (name, word, Queue.counts[name]) for name, word in WORDS.items()
                ])),
                _list(),
                pager(keys_hint(), has_newer=Queue.has_newer, has_older=Queue.has_older, on_newer=Queue.newer,
                      on_older=Queue.older, busy=Queue.busy, csv=csv_of("/attestations", status=_status())),
                label="Queue",
            ),
            class_name=rx.cond(Case.shown != "", "with-drawer", ""),
        ),
        case_drawer(Queue.step, Queue.leave),
        list_keys(Queue.step, Queue.leave),
        issue_dialog(),
        checklist_dialog(),
        reject_dialog(),
        revoke_dialog(),
        class_name="cases",
    )  # fmt: skip


def _list() -> rx.Component:
    moment = rx.match(
        Queue.show, ("review", "Waits since"), ("active", "Ends"), ("expiring", "Ends"), ("expired", "Ended"), "Changed"
    )
    nothing = rx.match(
        Queue.show,
        ("review", empty("inbox", "Nobody waits", "Parties whose identity is not decided about yet appear here.")),
        (
            "active",
            empty("badge-check", "No active attestation", "Issue the first one; it lets a wallet receive tokens."),
        ),
        ("expiring", empty("hourglass", "None ends soon", "Attestations that end within 30 days appear here.")),
        empty("badge-check", "None of these", "No attestation has this status."),
    )
    return table(
        "Queue",
        [Col("Party"), Col("Country"), Col("Level", right=True), Col("Accredited", narrow=False), Col("Status"),
         Col(moment, right=True)],
        Queue.rows,
        _row,
        empty=nothing,
        loading=Queue.loading,
        problem=Queue.problem,
        is_forbidden=Queue.is_forbidden,
        on_retry=Queue.reload,
        two=True,
    )  # fmt: skip


def _row(entry: rx.Var[Entry]) -> rx.Component:
    name = rx.el.button(entry.name, type="button", class_name="name trunc", on_click=Queue.choose(entry.id))
    who = rx.el.div(
        avatar(entry.mark),
        rx.el.div(name, rx.el.span(entry.below, class_name="muted small trunc"), class_name="col none grow"),
        class_name="row who",
    )
    return tr(
        td(who),
        td(status(entry.status), class_name="first-right only-narrow"),
        td(entry.country, label="Country"),
        td(rx.cond(entry.level > 0, entry.level.to_string(), "–"), right=True, label="Level"),
        td(rx.cond(entry.accredited, "Yes", "No"), narrow=False),
        td(status(entry.status), narrow=False),
        td(when(entry.at), right=True, class_name="muted"),
        key=entry.id,
        aria_selected=rx.cond(Queue.chosen == entry.id, "true", "false"),
    )


def _status() -> rx.Var[str]:
    """The status that the queue's filter stands for; what is no status of an attestation leaves all of them."""
    return rx.cond((Queue.show == "review") | (Queue.show == "expiring"), "", Queue.show).to(str)
