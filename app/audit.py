"""The page of the audit log: who changed what and when, before and after, and a check for tampering."""

from typing import Any

import reflex as rx

from app.shell.layout import Nav, page
from components.core.saved_views import saved_views
from components.ui.box import col, row, text
from components.ui.button import button, download, link
from components.ui.card import kv, page_head, panel
from components.ui.dialog import drawer
from components.ui.form import select
from components.ui.icon import icon
from components.ui.note import empty, note, unread
from components.ui.progress import diff
from components.ui.table import Col, list_table, pager, td, toolbar, tr
from components.ui.value import short_hash, when
from state.audit.differences import KINDS
from state.audit.log import AuditState, OneEntry, Verification
from state.audit.views import AuditAction, AuditEntryView
from state.core.session import Session
from state.users.preferences import MyPreferences

PLACES = {
    "asset": "/assets/",
    "market": "/markets/",
    "request": "/requests?id=",
    "bridge": "/bridges?id=",
    "approval": "/approvals?id=",
    "party": "/parties?id=",
    "webhook": "/webhooks/",
    "distribution": "/distributions/",
}
"""Pages of the kinds of subject that have one."""
NARROW = {"width": "auto", "max_width": "160px"}


@page(
    route="/o/[org_id]/audit",
    title="Audit log",
    nav=Nav("Network", "scroll-text", 66, "l"),
    on_load=[AuditState.load],
    in_url=[AuditState, OneEntry],
)
def audit() -> rx.Component:
    """Draw the log, and the selected entry in a drawer."""
    state = AuditState
    nothing = rx.cond(
        state.query != "",
        empty("filter", "No entries match these filters", "Try another kind, person or period."),
        empty("scroll-text", "No entries yet", "Every change is recorded here as it happens."),
    )
    main = rx.el.div(
        page_head("Audit log", "Every change, who made it and how", saved_views(), *_actions()),
        rx.el.div(_verdict(), _log(nothing), class_name="col wide"),
        class_name=rx.cond(OneEntry.entry.seq > 0, "audit-log with-drawer", "audit-log"),
    )
    return rx.fragment(main, _one())


def _log(nothing: rx.Component) -> rx.Component:
    state = AuditState
    return panel(
        _filters(),
        list_table(
            "Audit log",
            [Col("Change"), Col("Who"), Col("When", right=True, sort="seq")],
            state,
            _row,
            empty=nothing,
            two=True,
        ),
        pager("Newest first. Each row includes what followed", state),
        label="Audit log",
    )


def _actions() -> tuple[rx.Component, ...]:
    source = "/v1/orgs/" + Session.org.id + "/audit.csv" + AuditState.query
    return (
        download(rx.fragment(icon("download", 15), "Export CSV"), source, class_name="btn"),
        # Loading the page clears the verdict, also that of a person who was faster.
        button(
            "Verify",
            "shield-check",
            kind="primary",
            busy=Verification.busy,
            disabled=AuditState.loading,
            on_click=Verification.verify,
        ),
    )


def _verdict() -> rx.Component:
    found = Verification
    whole = note(
        rx.el.b("The hash chain is intact. "),
        found.words,
        " Last hash: ",
        short_hash(found.last_hash, "last hash"),
        tone="ok",
        role="status",
    )
    broken = note(rx.el.b("The hash chain is broken. "), found.words, tone="bad", role="alert")
    return rx.match(
        found.said,
        ("whole", whole),
        ("broken", broken),
        ("problem", note(found.words, tone="warn", role="alert")),
        rx.fragment(),
    )


def _filters() -> rx.Component:
    state = AuditState
    kinds = [("", "All kinds"), *KINDS.items()]
    who = {"placeholder": "Everyone", "value": state.person, "on_change": state.pick_person}
    return toolbar(
        select(kinds, aria_label="Kind", value=state.kind, on_change=state.pick_kind, style=NARROW),
        rx.cond(
            state.people_problem != "",
            unread("The list of people did not load.", state.read_people),
            select(state.people, aria_label="Who", style=NARROW, **who),
        ),
        rx.el.div(
            _day("From", "first", state.first_day),
            _day("Until", "last", state.last_day),
            text(MyPreferences.time_zone, cls="muted small"),
            class_name="days",
        ),
    )


def _day(words: str, which: str, value: Any) -> rx.Component:
    field = rx.el.input(
        type="date",
        class_name="input",
        value=value,
        on_change=lambda day: AuditState.pick_day(which, day),
    )
    return rx.el.label(text(words, cls="muted small"), field, class_name="day")


def _row(action: rx.Var[AuditAction]) -> rx.Component:
    entry = action.first
    change = rx.el.div(
        _name(entry), text(entry.line, cls="muted small trunc"), _followed(action), class_name="col none title-cell"
    )
    return tr(
        td(change, full=True),
        td(col(text(entry.who, cls="trunc"), text(entry.by, cls="muted small"), cls="none")),
        td(when(action.at, "exact"), right=True, class_name="muted at"),
        key=entry.seq.to_string(),
        aria_selected=rx.cond(action.seqs.contains(OneEntry.entry.seq), "true", "false"),
    )


def _name(entry: rx.Var[AuditEntryView]) -> rx.Component:
    return rx.el.button(
        entry.what,
        rx.cond(entry.subject != "", rx.el.span(" ", entry.subject, class_name="of"), rx.fragment()),
        type="button",
        class_name="name trunc",
        on_click=OneEntry.show(entry.seq),
    )


def _followed(action: rx.Var[AuditAction]) -> rx.Component:
    """Name what followed the first entry of an action; opened, list these entries."""

    def one(entry: Any) -> rx.Component:
        line = rx.el.div(_name(entry), text(entry.line, cls="muted small trunc"), class_name="col none title-cell")
        return rx.el.li(line, rx.el.span(when(entry.at, "exact"), class_name="muted small"), key=entry.seq.to_string())

    opened = rx.el.details(
        rx.el.summary(icon("chevron-right", 13), rx.el.span(action.lead, action.followed, class_name="trunc")),
        rx.el.ol(rx.foreach(action.then, one)),
        class_name="followed",
    )
    return rx.cond(action.then.length() > 0, opened, rx.fragment())


def _one() -> rx.Component:
    entry = OneEntry.entry
    hidden = note("Your role cannot read these records, so the changes are hidden.", tone="info")
    unchanged = rx.cond(entry.technical.length() > 0, rx.fragment(), text("No fields changed.", cls="muted"))
    shown = rx.fragment(
        rx.cond(entry.differences.length() > 0, _fields(entry.differences), unchanged),
        rx.cond(entry.technical.length() > 0, _technical(), rx.fragment()),
    )
    none = text("none", cls="muted")
    facts = kv(
        ("Who", row(text(entry.who), text(entry.by, cls="muted"), cls="tight wrap")),
        ("When", when(entry.at, "exact")),
        ("From", rx.cond(entry.address != "", text(entry.address, cls="mono"), text("Signum itself", cls="muted"))),
        ("Action", row(text(entry.what), text(entry.action, cls="mono muted small"), cls="tight wrap")),
        ("Subject", _subject()),
        (
            "Request",
            rx.cond(entry.request_id != "", short_hash(entry.request_id, "request id"), none),
        ),
        ("Hash", short_hash(entry.hash, "hash")),
        ("Previous hash", short_hash(entry.previous_hash, "previous hash")),
    )
    return drawer(
        rx.cond(entry.subject != "", entry.what + ": " + entry.subject, entry.what),
        rx.el.span("Entry ", entry.seq),
        col(
            facts,
            rx.el.h3(rx.cond(entry.is_new, "Fields", "Before and after")),
            rx.cond(entry.withheld, hidden, shown),
            cls="wide",
        ),
        is_open=entry.seq > 0,
        on_close=OneEntry.leave,
    )


def _fields(changes: rx.Var[list[dict[str, str]]]) -> rx.Component:
    return rx.cond(OneEntry.entry.is_new, _written(changes), diff(changes))


def _technical() -> rx.Component:
    """Draw the ids, hashes and the like behind a line that opens them."""
    fold = rx.el.summary(icon("chevron-right", 13), "Show technical fields")
    return rx.el.details(fold, _fields(OneEntry.entry.technical), class_name="followed", key=OneEntry.entry.seq)


def _written(changes: rx.Var[list[dict[str, str]]]) -> rx.Component:
    """List the fields of a new record, which has no earlier values."""

    def one(change: Any) -> rx.Component:
        return rx.el.div(rx.el.dt(change["name"]), rx.el.dd(change["new"], class_name="break"), key=change["name"])

    return rx.el.dl(rx.foreach(changes, one), class_name="diff written")


def _subject() -> rx.Component:
    """Name what was changed, as a link where it has a page; without a name, show its id."""
    entry, base = OneEntry.entry, "/o/" + Session.org.id
    unlinked = rx.cond(entry.subject != "", text(entry.subject, cls="break"), short_hash(entry.subject_id, "id"))
    return rx.match(
        entry.subject_type,
        *[
            (
                kind,
                link(rx.cond(entry.subject != "", entry.subject, f"Open the {kind}"), base + place + entry.subject_id),
            )
            for kind, place in PLACES.items()
        ],
        unlinked,
    )
