"""The page of parties: people and companies that an organization knows."""

import reflex as rx

from app.shell.layout import Nav, page
from app.shell.sidebar import Action
from components.attestations.bulk import bulk_bar, bulk_dialog
from components.attestations.case import AT_REST, case_drawer
from components.attestations.checklist import checklist_dialog
from components.attestations.issue import issue_dialog
from components.attestations.revoke import revoke_dialog
from components.core.csv_link import csv_at
from components.core.permission import Scope, allowed, lacking
from components.core.saved_views import saved_views
from components.parties.decision import reject_dialog
from components.parties.edit import edit_dialog
from components.parties.form import party_form
from components.parties.imports import import_dialog
from components.ui.box import end
from components.ui.button import button
from components.ui.card import avatar, page_head, panel
from components.ui.form import search_box
from components.ui.list_keys import keys_hint, list_keys, marks_hint
from components.ui.marks import mark_box
from components.ui.note import empty
from components.ui.status import status
from components.ui.table import Col, list_table, pager, td, toolbar, tr
from components.ui.tabs import counted, filters
from components.ui.value import country, no_value, short_hash, when
from state.attestations.case import Case
from state.core.session import Session
from state.parties.detail import PartyView
from state.parties.form import PartyForm
from state.parties.imports import PartyImport
from state.parties.list import Parties

STATUSES = [
    ("", "All"),
    ("created", "To review"),
    ("verifying", "In review"),
    ("verified", "Verified"),
    ("rejected", "Rejected"),
]


@page(
    route="/o/[org_id]/parties",
    title="Parties",
    nav=Nav(
        "Issuance",
        "id-card",
        34,
        "y",
        actions=[
            Action("Register party", Scope.ATTESTATIONS_WRITE, PartyForm.show(True), words="add, investor"),
            Action("Import parties", Scope.ATTESTATIONS_WRITE, PartyImport.show(True), words="investors, CSV"),
        ],
    ),
    on_load=[*AT_REST, PartyForm.show(False), PartyImport.show(False), Parties.load],
    in_url=[Parties],
)
def parties() -> rx.Component:
    """Draw the list, and the selected party in a drawer."""
    new = allowed(
        Scope.ATTESTATIONS_WRITE,
        button("Import parties", "upload", on_click=PartyImport.show(True)),
        button("Register party", "user-plus", kind="primary", on_click=PartyForm.show(True)),
    )
    who = lacking(Scope.ATTESTATIONS_WRITE, "register and verify parties")
    return rx.el.div(
        rx.el.div(
            page_head(
                "Parties",
                "People and companies of this organization, and their identity decisions",
                saved_views(),
                new,
                who=who,
            ),
            panel(
                toolbar(
                    filters("Status", Parties.status, Parties.filter_status, counted(STATUSES, Parties)),
                    end(search_box("Find a party", Parties.search, on_change=Parties.find.debounce(250))),
                ),
                _meaning(),
                bulk_bar(Parties, "attest", "verify", "reject"),
                _list(),
                pager(keys_hint(allowed(Scope.ATTESTATIONS_WRITE, marks_hint())), Parties, csv=_csv()),
                label="Parties",
            ),
            class_name=rx.cond(Case.shown != "", "with-drawer", ""),
        ),
        case_drawer(Parties.step, Parties.leave),
        list_keys(Parties.step, Parties.leave, Parties),
        party_form(),
        import_dialog(),
        issue_dialog(),
        checklist_dialog(),
        bulk_dialog(),
        reject_dialog(),
        edit_dialog(),
        revoke_dialog(),
        class_name="cases parties",
    )  # fmt: skip


def _meaning() -> rx.Component:
    """Explain what distinguishes the two statuses that wait for a decision."""
    words = rx.match(
        Parties.status,
        ("created", "To review: registered, without documents. The first document starts the review."),
        ("verifying", "In review: documents are uploaded. The identity decision is open."),
        "",
    ).to(str)
    return rx.cond(words != "", rx.el.p(words, class_name="muted small status-words"), rx.fragment())


def _csv() -> rx.Var[str]:
    wanted = {"status": Parties.status, "q": Parties.search, "organization_id": Session.org.id}
    return csv_at("/v1/identity/parties", **wanted)


def _list() -> rx.Component:
    is_all = (Parties.status == "") & (Parties.search == "")
    first = empty("id-card", "No parties yet", "Register a person or company. Once verified, it can be attested.")
    none = empty("search", "No parties match these filters", "Try another name, email, wallet or status.")
    return list_table(
        "Parties",
        [Col("Party", sort="name"), Col("Kind", narrow=False), Col("Country"), Col("Level", right=True),
         Col("Wallet", narrow=False), Col("Status"), Col("Registered", right=True, sort="created_at")],
        Parties,
        _row,
        empty=rx.cond(is_all, first, none),
        two=True,
    )  # fmt: skip


def _row(party: rx.Var[PartyView]) -> rx.Component:
    name = rx.el.button(party.name, type="button", class_name="name trunc", on_click=Parties.choose(party.id))
    who = rx.el.div(
        allowed(Scope.ATTESTATIONS_WRITE, mark_box(Parties, party, party.name)),
        avatar(party.mark),
        rx.el.div(name, rx.el.span(party.email, class_name="muted small trunc"), class_name="col none grow"),
        class_name="row who",
    )
    return tr(
        td(who),
        td(status(party.status), class_name="first-right only-narrow"),
        td(party.kind, narrow=False, class_name="aside-hidden"),
        td(country(party.country_name, party.country)),
        td(rx.cond(party.level > 0, party.level.to_string(), no_value()), right=True, label="Level"),
        td(short_hash(party.wallet, "wallet address"), narrow=False, class_name="aside-hidden"),
        td(status(party.status), narrow=False),
        td(when(party.created_at), right=True, class_name="muted"),
        key=party.id,
        aria_selected=rx.cond(Parties.chosen == party.id, "true", "false"),
    )
