"""Cards of the investor's documents."""

import reflex as rx

from components.ui.button import download
from components.ui.card import card
from components.ui.file_form import file_form
from components.ui.form import select_field
from components.ui.icon import icon
from components.ui.note import empty
from components.ui.value import when
from state.investor.documents import InvestorDocuments, OwnDocument, StatementView
from state.investor.place import InvestorPlace
from state.parties.document import EXTENSIONS, KINDS, MAX_BYTES

CHOICES = [{"value": value, "label": words} for value, words in KINDS.items()]


def statements_card() -> rx.Component:
    """Draw the months with a statement."""
    none = empty("file-text", "No statements yet", "A statement for each month appears here after your first purchase.")
    rows = rx.el.ul(rx.foreach(InvestorDocuments.statements, _statement), class_name="list")
    what = rx.el.p(
        "A statement has, for every asset, the opening balance, every change, and the closing balance with its value "
        "at the last trade.",
        class_name="card-body muted",
    )
    shown = rx.fragment(what, rows)
    return card("Statements", rx.cond(InvestorDocuments.statements.length() > 0, shown, none))


def _statement(one: rx.Var[StatementView]) -> rx.Component:
    return rx.el.li(
        rx.el.span(icon("file-text", 16), class_name="mark"),
        rx.el.div(
            rx.el.div(one.title, class_name="title"),
            rx.cond(one.is_complete, rx.fragment(), rx.el.div("Up to now", class_name="below")),
            class_name="grow",
        ),
        _statement_file("PDF", one.pdf, one),
        _statement_file("CSV", one.csv, one),
        class_name="item",
        key=one.csv,
    )


def _statement_file(kind: str, href: rx.Var[str], one: rx.Var[StatementView]) -> rx.Component:
    named = "Download the statement of " + one.title + f" as {kind}"
    return download(kind, href, class_name="btn small", aria_label=named)


def documents_card() -> rx.Component:
    """Draw the documents, and the form that uploads one."""
    state = InvestorDocuments
    unknown = empty(
        "user-round-search",
        "Not added yet",
        state.organization + " has to add you as an investor before you can upload documents. Ask them.",
    )
    rows = rx.el.ul(rx.foreach(state.documents, _document), class_name="list", aria_label="Documents")
    none = rx.el.p(
        state.organization, " needs documents to confirm who you are, such as a passport.", class_name="muted card-body"
    )
    body = rx.fragment(rx.cond(state.documents.length() > 0, rows, none), _upload())
    return card("Your documents", rx.cond(state.parties.length() > 0, body, unknown))


def _document(one: rx.Var[OwnDocument]) -> rx.Component:
    of = rx.cond(one.party != "", rx.fragment(", for ", one.party), rx.fragment())
    file = download("Download", one.href, class_name="btn small", aria_label="Download " + one.name)
    return rx.el.li(
        rx.el.span(icon("file-text", 16), class_name="mark"),
        rx.el.div(
            rx.el.div(one.name, class_name="title break"),
            rx.el.div(one.kind, ", ", one.size, of, class_name="below"),
            rx.el.div(one.by, " on ", when(one.at, "day"), class_name="below"),
            class_name="grow",
        ),
        file,
        class_name="item",
        key=one.id,
    )


def _upload() -> rx.Component:
    state = InvestorDocuments
    several = rx.cond(
        state.parties.length() > 1,
        select_field("Document of", "party", state.parties, value=state.party, on_change=state.pick_party),
        rx.fragment(),
    )
    action = "/v1/investor/" + InvestorPlace.here.id + "/documents?party_id=" + state.party
    # The key resets the form with the party: a file chosen for one must not go to the other.
    form = file_form(
        "Upload a document",
        action,
        CHOICES,
        accept=",".join(EXTENSIONS),
        most=MAX_BYTES,
        on_sent=state.uploaded,
        key=state.party,
    )
    who = rx.el.p(
        "PDF, PNG or JPEG, up to 10 MB. The staff of ", state.organization, " can read the file. You cannot delete it.",
        class_name="muted small",
    )  # fmt: skip
    return rx.el.div(rx.el.h3("Upload a document"), several, form, who, class_name="card-body upload")


def data_card() -> rx.Component:
    """Draw the download of everything that is stored."""
    href = "/v1/investor/" + InvestorPlace.here.id + "/data"
    words = rx.el.p(
        "One file with everything that is stored about you at ", InvestorDocuments.organization,
        ": your profile, wallets, verifications, orders, trades, claims and the list of your documents.",
        class_name="muted",
    )  # fmt: skip
    file = download(rx.fragment(icon("download", 15), "Download your data"), href, class_name="btn")
    return card("Your data", words, file, pad=True, class_name="own-data")
