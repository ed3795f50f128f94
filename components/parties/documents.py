"""Documents of the party in the drawer: the list, and the upload form."""

import reflex as rx

from components.core.permission import Scope, allowed
from components.ui.box import row, text
from components.ui.button import download
from components.ui.card import item, items
from components.ui.file_form import file_form
from components.ui.note import line_skeleton
from components.ui.value import when
from state.attestations.case import Case
from state.core.session import Session
from state.parties.document import EXTENSIONS, KINDS, MAX_BYTES, DocumentView

PARTY, DOCUMENTS = Case.party, Case.documents
CHOICES = [{"value": value, "label": words} for value, words in KINDS.items()]


def documents() -> rx.Component:
    """Draw the list, and the form for users who may upload."""
    action = "/v1/identity/parties/" + PARTY.id + "/documents?organization_id=" + Session.org.id
    # The key resets the form with every party: a file chosen for one must not go to the next.
    form = file_form(
        "Add a document",
        action,
        CHOICES,
        accept=",".join(EXTENSIONS),
        most=MAX_BYTES,
        on_sent=Case.uploaded,
        key=PARTY.id,
    )
    starts = rx.cond(PARTY.status == "created", " The first upload starts the review.", "")
    words = text("No documents yet.", starts, cls="muted")
    none = rx.cond(Case.is_partial, line_skeleton(), words)
    aside = text("Documents open as downloads. Signum does not display uploaded files.", cls="muted small")
    return rx.fragment(
        rx.el.h3("Documents"),
        rx.cond(
            DOCUMENTS.length() > 0, rx.fragment(items(rx.foreach(DOCUMENTS, _one), label="Documents"), aside), none
        ),
        allowed(Scope.ATTESTATIONS_WRITE, form, text("The investor can read every document here.", cls="muted small")),
    )


def _one(document: rx.Var[DocumentView]) -> rx.Component:
    name = download(document.name, document.href, class_name="link break")
    below = row(
        rx.el.span(document.kind, ", ", document.size, ","),
        rx.el.span(document.by, " ", when(document.at)),
        cls="wrap tight",
    )
    return item(name, below, sign="file-text", key=document.id)
