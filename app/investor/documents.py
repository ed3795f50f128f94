"""The investor's documents."""

import reflex as rx

from app.investor.shell import HOME, investor_page
from components.investor.documents import data_card, documents_card, statements_card
from components.ui.button import button
from components.ui.note import failure, page_skeleton
from state.investor.documents import InvestorDocuments


@investor_page(route=f"{HOME}/documents", title="Documents", on_load=[InvestorDocuments.load])
def documents() -> rx.Component:
    """Draw statements, documents, and the download of all data."""
    again = button("Try again", "rotate-cw", on_click=InvestorDocuments.load)
    body = rx.fragment(documents_card(), statements_card(), data_card())
    return rx.fragment(
        rx.el.h1("Documents"),
        rx.cond(
            InvestorDocuments.problem != "",
            failure("Your documents did not load", InvestorDocuments.problem, again),
            rx.cond(InvestorDocuments.loading, page_skeleton(), body),
        ),
    )
