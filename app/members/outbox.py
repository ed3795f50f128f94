"""The page of outgoing emails; without a mail server, of the emails that were not sent."""

import reflex as rx

from app.shell.layout import Nav, page
from components.core.permission import Scope, may, who_can
from components.ui.box import end
from components.ui.button import button
from components.ui.card import page_head, panel
from components.ui.form import search_box
from components.ui.icon import icon, mark
from components.ui.note import empty, failure, forbidden, note, skeleton
from components.ui.status import status
from components.ui.table import pager, toolbar
from components.ui.value import when
from state.core.session import Session
from state.mail.outbox import MailView, OutboxState

IS_EMBEDDED = Session.network == "devnet"


@page(
    route="/o/[org_id]/outbox",
    title="Outbox",
    nav=Nav("Organization", "mail", 13, "u", shown=IS_EMBEDDED & may(Scope.MEMBERS_WRITE)),
    on_load=[OutboxState.load],
    in_url=[OutboxState],
)
def outbox() -> rx.Component:
    """Draw the emails. Where no mail server is set, one note says how the operator reads the hidden ones."""
    mails = rx.el.ul(rx.foreach(OutboxState.rows, _mail), class_name="mails")
    nothing = rx.cond(
        OutboxState.loading,
        skeleton(),
        rx.cond(
            OutboxState.words != "",
            empty("mail-search", "No emails match this search", "Try another recipient or subject."),
            empty("mail", "No emails yet", "Invitations of this organization appear here with their delivery status."),
        ),
    )
    again = failure(
        "This did not load", OutboxState.problem, button("Try again", "rotate-cw", on_click=OutboxState.reload)
    )
    refused = rx.cond(OutboxState.is_forbidden, forbidden(who_can(Scope.MEMBERS_WRITE)), again)
    search = toolbar(end(search_box("Find a recipient", OutboxState.words, on_change=OutboxState.search.debounce(250))))
    return rx.fragment(
        page_head("Outbox", "Emails of this organization and their delivery status"),
        rx.cond(OutboxState.keeps, rx.el.div(_no_server(), style={"marginBottom": "16px"}), rx.fragment()),
        panel(
            rx.cond(OutboxState.is_forbidden, rx.fragment(), search),
            rx.cond(OutboxState.problem != "", refused, rx.cond(OutboxState.rows.length() > 0, mails, nothing)),
            pager("Newest first, 50 per page", OutboxState),
            label="Outbox",
        ),
    )  # fmt: skip


def _mail(mail: rx.Var[MailView]) -> rx.Component:
    head = rx.el.summary(
        mark("mail", "info"),
        rx.el.span(
            rx.el.span(mail.subject, class_name="title"), rx.el.span("To ", mail.recipient, class_name="below"),
            class_name="grow",
        ),
        status(mail.status),
        rx.el.span(when(mail.created_at), class_name="muted small nowrap"),
        icon("chevron-down", 15, class_name="turn"),
        class_name="mail-head",
    )  # fmt: skip
    body = rx.el.div(
        rx.el.p(mail.before),
        rx.cond(mail.path != "", rx.el.p(rx.el.a(mail.link, href=mail.path, class_name="link break")), rx.fragment()),
        rx.cond(mail.secret != "", _one_time(mail), rx.fragment()),
        rx.cond(mail.after != "", rx.el.p(mail.after), rx.fragment()),
        rx.cond(mail.is_hidden, rx.el.p("Only the recipient may read this email."), rx.fragment()),
        rx.cond(
            mail.is_over,
            rx.el.p("Its link was used, was revoked or has expired, so the text is no longer shown."),
            rx.fragment(),
        ),
        rx.cond(mail.failure != "", rx.el.p("Mail server response: ", mail.failure), rx.fragment()),
        class_name="mail-body",
    )
    return rx.el.li(rx.el.details(head, body), key=mail.id)


def _one_time(mail: rx.Var[MailView]) -> rx.Component:
    """Draw a one-time link closed: a person who follows it acts as the recipient."""
    return rx.el.details(
        rx.el.summary("Show link", aria_label="Show link for " + mail.recipient, class_name="link"),
        rx.el.code(mail.secret, class_name="mono break"),
    )


def _no_server() -> rx.Component:
    return note(
        rx.el.b("No mail server is configured. "),
        "Emails are kept here instead of sent. The text of an email with a private link is hidden; the operator can "
        "show it on the server with ",
        rx.el.code("signum outbox --to EMAIL", class_name="mono"),
        ".",
        tone="info",
    )
