"""Documents of the party in the drawer: what there is, and adding one."""

import reflex as rx

from components.access import for_officers
from components.ui.box import row, text
from components.ui.button import download
from components.ui.card import item, items
from components.ui.file_form import file_form
from components.ui.value import when
from state.case import Case
from state.document import ENDINGS, KINDS, MOST, DocumentView
from state.session import Session

PARTY, PAPERS = Case.party, Case.papers
CHOICES = [{"value": value, "label": words} for value, words in KINDS.items()]


def documents() -> rx.Component:
    """Draw the list, and the form for those who may add to it."""
    action = "/v1/identity/parties/" + PARTY.id + "/documents?organization_id=" + Session.org.id
    # Its key empties it with every party: a file chosen for one must not go to the next.
    form = file_form(
        "Add a document", action, CHOICES, accept=",".join(ENDINGS), most=MOST, on_sent=Case.uploaded, key=PARTY.id
    )
    none = text("None yet. The first one begins the review.", cls="muted")
    return rx.fragment(
        rx.el.h3("Documents"),
        rx.cond(PAPERS.length() > 0, items(rx.foreach(PAPERS, _one), label="Documents"), none),
        for_officers(form),
    )


def _one(paper: rx.Var[DocumentView]) -> rx.Component:
    name = download(paper.name, paper.href, class_name="link break")
    below = row(
        rx.el.span(paper.kind, ", ", paper.size, ","), rx.el.span(paper.by, " ", when(paper.at)), cls="wrap tight"
    )
    return item(name, below, sign="file-text", key=paper.id)
