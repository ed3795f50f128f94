"""The page of attestations: parties to review, and attestations by status."""

import reflex as rx

from app.shell.layout import Nav, page
from app.shell.sidebar import Action
from components.attestations.bulk import bulk_bar, bulk_dialog
from components.attestations.case import AT_REST, case_drawer
from components.attestations.checklist import checklist_dialog
from components.attestations.issue import issue_dialog
from components.attestations.revoke import revoke_dialog
from components.core.csv_link import csv_of
from components.core.permission import Scope, allowed, lacking
from components.core.saved_views import saved_views
from components.parties.decision import reject_dialog
from components.parties.edit import edit_dialog
from components.ui.box import text
from components.ui.button import button
from components.ui.card import avatar, page_head, panel
from components.ui.list_keys import keys_hint, list_keys, marks_hint
from components.ui.marks import mark_box
from components.ui.note import empty
from components.ui.status import status
from components.ui.table import Col, list_table, pager, td, toolbar, tr
from components.ui.tabs import filters
from components.ui.value import country, no_value, when
from state.attestations.case import Case
from state.attestations.issue import Issue
from state.attestations.queue import EntryView, Queue

WORDS = {
    "review": "To decide", "pending": "Pending", "active": "Active", "expiring": "Expiring", "expired": "Expired",
    "revoked": "Revoked", "failed": "Failed",
}  # fmt: skip


@page(
    route="/o/[org_id]/attestations",
    title="Attestations",
    nav=Nav(
        "Issuance",
        "badge-check",
        33,
        "t",
        actions=[Action("Issue attestation", Scope.ATTESTATIONS_WRITE, Issue.begin(""), words="attest")],
    ),
    on_load=[*AT_REST, Queue.load],
    in_url=[Queue],
)
def attestations() -> rx.Component:
    """Draw the list, and the selected party or attestation in a drawer."""
    new = allowed(
        Scope.ATTESTATIONS_WRITE, button("Issue attestation", "badge-check", kind="primary", on_click=Issue.begin(""))
    )
    who = lacking(Scope.ATTESTATIONS_WRITE, "issue and revoke attestations")
    return rx.el.div(
        rx.el.div(
            page_head("Attestations", "Parties in review and their on-chain attestations", saved_views(), new, who=who),
            panel(
                toolbar(filters("Show", Queue.show, Queue.pick_filter, [
                    (name, word, Queue.counts[name]) for name, word in WORDS.items()
                ]), _expiring()),
                rx.cond(Queue.show == "review", bulk_bar(Queue, "verify", "reject"), bulk_bar(Queue, "renew")),
                _list(),
                pager(
                    keys_hint(allowed(Scope.ATTESTATIONS_WRITE, marks_hint())),
                    Queue,
                    csv=csv_of("/attestations", status=_status()),
                ),
                label="Queue",
            ),
            class_name=rx.cond(Case.shown != "", "with-drawer", ""),
        ),
        case_drawer(Queue.step, Queue.leave),
        list_keys(Queue.step, Queue.leave, Queue),
        issue_dialog(),
        checklist_dialog(),
        bulk_dialog(),
        reject_dialog(),
        edit_dialog(),
        revoke_dialog(),
        class_name="cases attestations",
    )  # fmt: skip


def _expiring() -> rx.Component:
    """Say that active attestations include the expiring ones, which have their own filter."""
    words = text(Queue.counts["expiring"], " of them expiring within 30 days", cls="muted small")
    expire = Queue.counts.contains("expiring") & (Queue.counts["expiring"] != "0")
    return rx.cond((Queue.show == "active") & expire, words, rx.fragment())


MOMENT = rx.match(
    Queue.show,
    ("review", "Waiting since"),
    ("active", "Expires"),
    ("expiring", "Expires"),
    ("expired", "Expired"),
    "Changed",
).to(str)


def _list() -> rx.Component:
    nothing = rx.match(
        Queue.show,
        ("review", empty("inbox", "No parties to review", "Parties without an identity decision appear here.")),
        (
            "active",
            empty("badge-check", "No active attestations", "Issue the first one. It lets a wallet receive tokens."),
        ),
        (
            "expiring",
            empty("hourglass", "No attestations expire soon", "Attestations that expire within 30 days appear here."),
        ),
        empty("badge-check", "No attestations", "No attestations have this status."),
    )

    def drawn(moment: Col) -> rx.Component:
        return list_table(
            "Queue",
            [Col("Party"), Col("Country"), Col("Level", right=True), Col("Accredited", narrow=False), Col("Status"),
             moment],
            Queue,
            _row,
            empty=nothing,
            two=True,
        )  # fmt: skip

    sorts = (Queue.show == "active") | (Queue.show == "expiring") | (Queue.show == "expired")
    return rx.cond(sorts, drawn(Col(MOMENT, right=True, sort="expires_at")), drawn(Col(MOMENT, right=True)))


def _row(entry: rx.Var[EntryView]) -> rx.Component:
    name = rx.el.button(entry.name, type="button", class_name="name trunc", on_click=Queue.choose(entry.id))
    who = rx.el.div(
        allowed(Scope.ATTESTATIONS_WRITE, mark_box(Queue, entry, entry.name)),
        avatar(entry.mark),
        rx.el.div(
            name,
            rx.el.div(entry.below, _wallet(entry), class_name="muted small below", title=entry.wallet),
            class_name="col none grow",
        ),
        class_name="row who",
    )
    return tr(
        td(who),
        td(status(entry.status), class_name="first-right only-narrow"),
        td(country(entry.country_name, entry.country)),
        td(rx.cond(entry.level > 0, entry.level.to_string(), no_value()), right=True, label="Level"),
        td(_accredited(entry), narrow=False, class_name="aside-hidden"),
        td(status(entry.status), narrow=False),
        td(_moment(entry), right=True, class_name="muted", label=rx.cond(Queue.show == "review", "", MOMENT)),
        key=entry.id,
        aria_selected=rx.cond(Queue.chosen == entry.id, "true", "false"),
    )


def _accredited(entry: rx.Var[EntryView]) -> rx.Var[str]:
    """Say whether an entry is accredited; a party without a level was not reviewed yet."""
    return rx.cond(entry.is_party & (entry.level == 0), "–", rx.cond(entry.accredited, "Yes", "No")).to(str)


def _wallet(entry: rx.Var[EntryView]) -> rx.Component:
    return rx.cond(
        entry.short_wallet != "", rx.fragment(", ", rx.el.span(entry.short_wallet, class_name="num")), rx.fragment()
    )


def _moment(entry: rx.Var[EntryView]) -> rx.Component:
    """Show a day for an expiry, so that all rows compare, and the age of anything else."""
    expires = (Queue.show == "active") | (Queue.show == "expiring") | (Queue.show == "expired")
    return rx.cond(expires, when(entry.at, "day"), when(entry.at))


def _status() -> rx.Var[str]:
    """Return the attestation status that the filter selects; empty for filters that are not a status."""
    return rx.cond((Queue.show == "review") | (Queue.show == "expiring"), "", Queue.show).to(str)
