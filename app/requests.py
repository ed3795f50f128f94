"""The page of requests: their steps, transactions and failures."""

import reflex as rx

from app.shell.layout import Nav, page
from app.shell.sidebar import View
from components.approvals.withdrawal import withdraw_button, withdrawal_dialog
from components.core.csv_link import csv_of
from components.core.permission import permitted
from components.core.saved_views import saved_views
from components.requests.fix import fix_offer, who_can_retry
from components.requests.waiting import approval_link, awaits_approval, is_own
from components.ui.box import row, text
from components.ui.button import Kind, button, link
from components.ui.card import kv, page_head, panel
from components.ui.dialog import drawer
from components.ui.list_keys import keys_hint, list_keys, step_buttons
from components.ui.note import empty, note, problem_note, skeleton
from components.ui.progress import bar, timeline
from components.ui.status import badge, of_request, status
from components.ui.table import Col, list_table, pager, td, toolbar, tr
from components.ui.tabs import filters
from components.ui.value import elapsed, short_hash, when
from state.approvals.withdrawal import Withdrawal
from state.core.session import Session
from state.requests.list import OneRequest, Requests
from state.requests.views import RequestView

STATUSES = [
    ("", "All"), ("awaiting_approval", "Needs approval"), ("failed", "Failed"), ("running", "Running"),
    ("accepted", "Waiting to start"), ("succeeded", "Done"), ("denied", "Denied"),
]  # fmt: skip
WORDS = {
    "awaiting_approval": "waiting for approval, pending, second person",
    "failed": "errors, problems",
    "running": "in progress",
    "accepted": "accepted, queued",
    "succeeded": "succeeded, completed",
    "denied": "rejected, refused",
}
"""What people call a status, besides the name of its filter."""
VIEWS = [
    View(f"Requests, {name[0].lower()}{name[1:]}", f"status={status}", WORDS[status])
    for status, name in STATUSES
    if status
]
ONE = OneRequest.request


@page(
    route="/o/[org_id]/requests",
    title="Requests",
    nav=Nav("Network", "list-checks", 61, "q", views=VIEWS),
    on_load=[Requests.load],
    in_url=[Requests, OneRequest],
)
def requests() -> rx.Component:
    """Draw the list, and the selected request in a drawer."""
    return rx.el.div(
        rx.el.div(
            page_head("Requests", "Accepted operations and their progress on chain", saved_views()),
            panel(
                toolbar(filters("Status", Requests.status, Requests.filter_status, STATUSES)),
                _list(),
                pager(keys_hint(), Requests, csv=csv_of("/requests", status=Requests.status)),
                label="Requests",
            ),
            class_name=rx.cond(OneRequest.is_open, "with-drawer", ""),
        ),
        _drawer(),
        withdrawal_dialog(),
        list_keys(Requests.step, OneRequest.leave),
        class_name="request-list",
    )  # fmt: skip


def _list() -> rx.Component:
    is_all = Requests.status == ""
    first = empty(
        "list-checks", "No requests yet", "Deployments, attestations, bridges and orders appear here as they run."
    )
    return list_table(
        "Requests",
        [
            Col("Request"),
            Col("Steps", right=True),
            Col("By", narrow=False),
            Col("Status"),
            Col("Started", right=True, sort="created_at"),
        ],
        Requests,
        _row,
        empty=rx.cond(is_all, first, empty("list-checks", "No requests", "No requests have this status.")),
        two=True,
    )


def _row(request: rx.Var[RequestView]) -> rx.Component:
    name = rx.el.button(
        request.title,
        type="button",
        title=request.title_full,
        class_name="name trunc",
        on_click=OneRequest.show(request.id),
    )
    below = rx.cond(request.line != "", request.line, _about(request.subject_type))
    return tr(
        td(rx.el.div(name, text(below, cls="muted small trunc"), class_name="col none title-cell")),
        td(status(of_request(request.status)), class_name="first-right only-narrow"),
        td(text(request.done_steps, " of ", request.steps.length(), cls="num"), right=True, label="Steps"),
        td(request.created_by, narrow=False, class_name="muted aside-hidden"),
        td(status(of_request(request.status)), narrow=False),
        td(when(request.created_at), right=True, class_name="muted"),
        key=request.id,
        aria_selected=rx.cond(ONE.id == request.id, "true", "false"),
    )


def _drawer() -> rx.Component:
    moving = (ONE.status == "running") | (ONE.status == "accepted")
    is_asked = ONE.status == "awaiting_approval"
    took = rx.cond(moving, elapsed(ONE.created_at), elapsed(ONE.created_at, ONE.updated_at))
    reason = rx.fragment(rx.el.dt("Reason given"), rx.el.dd(text(ONE.reason, cls="break")))
    waits_until = rx.fragment(rx.el.dt("Expires"), rx.el.dd(when(OneRequest.approval.expires_at)))
    expires = rx.cond(is_asked & (OneRequest.approval.expires_at != ""), waits_until, rx.fragment())
    facts = kv(
        ("Kind", ONE.kind_words),
        rx.cond(ONE.reason != "", reason, rx.fragment()),
        (rx.cond(is_asked, "Requested", "Started"), when(ONE.created_at)),
        rx.cond(is_asked, rx.fragment(), rx.fragment(rx.el.dt(rx.cond(moving, "Running for", "Took")), rx.el.dd(took))),
        ("By", rx.cond(ONE.created_by != "", ONE.created_by, "an API key")),
        expires,
        rx.cond(ONE.subject_type != "", rx.fragment(rx.el.dt(_about(ONE.subject_type)), rx.el.dd(_subject())), ""),
        ("Request", short_hash(ONE.id, "request id")),
    )
    failed = rx.cond(
        ONE.problem != "",
        note(
            rx.el.b(
                rx.match(
                    ONE.status,
                    ("denied", "It was denied. "),
                    ("withdrawn", "It was withdrawn. "),
                    "The request failed. ",
                )
            ),
            rx.el.span(ONE.problem, title=ONE.problem_full),
            rx.cond(ONE.can_retry | (ONE.status != "failed"), "", " It cannot be retried."),
            tone="bad",
            role="alert",
        ),
        rx.fragment(),
    )
    can_others = rx.cond(ONE.can_retry, who_can_retry(ONE), rx.fragment())
    offered = rx.fragment(rx.el.div(fix_offer(ONE), class_name="row wrap"), can_others)
    next_step = rx.cond(ONE.problem != "", offered, rx.fragment())
    body = rx.fragment(
        row(rx.el.h3("Steps"), text(badge(of_request(ONE.status)), cls="end"), cls="section-line"),
        awaits_approval(ONE, linked=False, who=OneRequest.approval.who),
        rx.cond(ONE.notice != "", note(ONE.notice, tone="warn", sign="link"), rx.fragment()),
        rx.cond(is_asked, rx.fragment(), bar(ONE.percent, "Progress")),
        rx.el.div(timeline(ONE.steps), class_name="drawer-timeline"),
        failed,
        next_step,
        rx.el.h3("Details"),
        facts,
    )

    def retried(kind: Kind) -> rx.Component:
        return button("Retry from here", "rotate-cw", kind=kind, busy=OneRequest.saving, on_click=OneRequest.retry)

    # A retry fails again while its cause is there, so the fix comes first.
    retry = rx.cond(ONE.fix.kind != "", retried("plain"), retried("primary"))
    withdraw = withdraw_button(Withdrawal.ask_request)
    waits = rx.fragment(rx.cond(is_own(ONE), withdraw, rx.fragment()), approval_link(ONE))
    begun = text("Started ", when(ONE.created_at, "exact"), cls="muted small")
    retry = permitted(ONE.scope, retry, "Retry from here", sign="rotate-cw")
    again = rx.fragment(text("Completed steps are not repeated.", cls="muted small grow"), retry)
    return drawer(
        rx.cond(ONE.title != "", ONE.title, "Request"),
        rx.el.span(ONE.done_steps, " of ", ONE.steps.length(), " steps"),
        problem_note(OneRequest.problem),
        rx.cond(ONE.status != "", body, rx.cond(OneRequest.problem != "", rx.fragment(), skeleton(4))),
        is_open=OneRequest.is_open,
        on_close=OneRequest.leave,
        tools=step_buttons(Requests.step),
        foot=(rx.cond(ONE.can_retry, again, rx.cond(is_asked, waits, begun)),),
    )  # fmt: skip


def _about(subject: rx.Var[str]) -> rx.Var[str]:
    """Return the name of a subject's kind."""
    words = (
        "Asset",
        "Market",
        "Order",
        "Bridge",
        "Transfer",
        "Attestation",
        "Issuer",
        "Party",
        "Wallet",
        "Chain",
        "Organization",
        "Distribution",
    )
    return rx.match(subject, *[(word.lower(), word) for word in words], "").to(str)


def _subject() -> rx.Component:
    """Link to the request's subject, where it has a page."""
    base = "/o/" + Session.org.id
    return rx.match(
        ONE.subject_type,
        ("asset", link("View asset", base + "/assets/" + ONE.subject_id)),
        ("market", link("View market", base + "/markets/" + ONE.subject_id)),
        ("order", link("View market", base + "/markets/" + ONE.market_id + "?asset=" + ONE.asset_id)),
        ("attestation", link("View attestation", base + "/attestations?show=active&id=" + ONE.subject_id)),
        ("issuer", link("View issuer", base + "/issuer")),
        ("distribution", link("View distribution", base + "/distributions/" + ONE.subject_id)),
        ("bridge", link("View bridge", base + "/bridges?id=" + ONE.subject_id)),
        ("transfer", link("View transfer", base + "/transfers?id=" + ONE.subject_id)),
        text(ONE.subject_type),
    )
