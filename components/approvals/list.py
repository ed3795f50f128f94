"""Actions waiting for a second person: the table, and one of them in the drawer."""

import reflex as rx

from components.approvals.withdrawal import withdraw_button
from components.core.csv_link import csv_of
from components.ui.box import col, row, text
from components.ui.button import button, download, link
from components.ui.card import item, items, kv
from components.ui.dialog import drawer, form_dialog
from components.ui.form import area_field
from components.ui.icon import icon
from components.ui.note import empty, note, problem_note, skeleton
from components.ui.progress import diff
from components.ui.status import badge, status
from components.ui.table import Col, list_table, td, tr
from components.ui.value import short_hash, when
from state.approvals.list import Approvals, OneApproval
from state.approvals.own import OwnApprovals
from state.approvals.views import ApprovalView, ArgumentView, CommentView, DocumentView
from state.approvals.withdrawal import Withdrawal
from state.core.session import Session

ONE = OneApproval.row
PLAN = OneApproval.plan
LIFTED = (
    "The organization no longer requires a second person for this action. This request was made before that, and still "
    "needs one."
)


def approvals_table() -> rx.Component:
    """Draw the table of approvals."""
    own = OwnApprovals.rows.length()
    count = rx.cond(own == 1, "A request of yours waits", "Requests of yours wait").to(str)
    mine = empty(
        "user-check",
        "Nothing to approve",
        rx.cond(
            own > 0,
            count + " for another person.",
            "Actions that others requested and you can approve appear here.",
        ),
        rx.cond(own > 0, button("Show my requests", "hourglass", on_click=Approvals.pick_view("mine")), rx.fragment()),
        button("Show all waiting", "hourglass", on_click=Approvals.pick_view("pending")),
    )
    waiting = empty("user-check", "Nothing waits", "Actions that wait for a second person appear here.")
    none = empty("user-check", "No approvals", "Choose in the settings which actions need a second person.")
    return list_table(
        "Approvals",
        [
            Col("Action"),
            Col("Expires", right=True),
            Col("Requested by", narrow=False),
            Col("Status"),
            Col("Requested", right=True, sort="created_at"),
        ],
        Approvals,
        _row,
        empty=rx.match(Approvals.view, ("for_me", mine), ("pending", waiting), none),
        two=True,
    )


def _row(approval: rx.Var[ApprovalView]) -> rx.Component:
    name = rx.el.button(approval.title, type="button", class_name="name trunc", on_click=OneApproval.show(approval.id))
    below = text(approval.asked_by, ", ", when(approval.created_at), cls="muted small trunc only-narrow")
    return tr(
        td(rx.el.div(name, below, class_name="col none title-cell"), full=True),
        td(status(_waits(approval.status)), class_name="only-narrow"),
        td(rx.cond(approval.status == "pending", when(approval.expires_at), "–"), right=True, label="Expires"),
        td(approval.asked_by, narrow=False, class_name="muted aside-hidden"),
        td(status(_waits(approval.status)), narrow=False),
        td(when(approval.created_at), right=True, narrow=False, class_name="muted"),
        key=approval.id,
        aria_selected=rx.cond(ONE.id == approval.id, "true", "false"),
    )


def _waits(value: rx.Var[str]) -> rx.Var[str]:
    """Show a pending approval as one that needs approval."""
    return rx.cond(value == "pending", "awaiting_approval", value).to(str)


def approval_drawer() -> rx.Component:
    """Draw one approval: who requests what, what it does, and the decision."""
    failed = note(rx.el.b("This cannot be approved now. "), OneApproval.obstacle, tone="warn", role="alert")
    body = rx.fragment(
        rx.cond(ONE.cause != "", note(ONE.cause, tone="info"), rx.fragment()),
        rx.cond(ONE.rule_lifted, note(LIFTED, tone="info"), rx.fragment()),
        rx.cond(OneApproval.arguments.length() > 0, _arguments(), rx.fragment()),
        rx.cond(
            _has_effects(),
            rx.fragment(
                row(
                    rx.el.h3(rx.cond(ONE.status == "pending", "What it will do when approved", "What was decided")),
                    text(badge(_waits(ONE.status)), cls="end"),
                    cls="section-line",
                ),
                rx.cond(OneApproval.loading, skeleton(3), rx.fragment(_decision(), _plan(), _changed())),
            ),
            rx.fragment(),
        ),
        rx.cond(OneApproval.obstacle != "", failed, rx.fragment()),
        _documents(),
        _comments(),
        row(
            rx.el.h3("Details"),
            rx.cond(_has_effects(), rx.fragment(), text(badge(_waits(ONE.status)), cls="end")),
            cls="section-line",
        ),
        kv(
            ("Action", ONE.action_words),
            rx.foreach(OneApproval.basis, _fact),
            ("Requested by", ONE.asked_by),
            ("Requested", when(ONE.created_at, "exact")),
            ("Expires", when(ONE.expires_at, "exact")),
            ("Request", link("View request", "/o/" + Session.org.id + "/requests?id=" + ONE.request_id)),
        ),
    )
    return drawer(
        rx.cond(ONE.title != "", ONE.title, "Approval"),
        rx.cond(ONE.asked_by != "", "Requested by " + ONE.asked_by, ""),
        problem_note(OneApproval.form_problem),
        rx.cond(ONE.title != "", body, rx.cond(OneApproval.loading, skeleton(4), rx.fragment())),
        is_open=OneApproval.is_open,
        on_close=OneApproval.leave,
        foot=(_buttons(),),
    )


def _has_effects() -> rx.Var[bool]:
    """Return whether there is something to say about effects: users without the action's scope get no plan."""
    return (ONE.status != "pending") | OneApproval.loading | (PLAN.steps.length() > 0) | (PLAN.changes.length() > 0)


def _fact(fact: rx.Var[dict[str, str]]) -> rx.Component:
    return rx.fragment(rx.el.dt(fact["name"]), rx.el.dd(fact["value"], class_name="break"), key=fact["name"])


def _arguments() -> rx.Component:
    """Show everything that was requested, as it was sent."""
    facts = rx.el.dl(
        rx.foreach(
            OneApproval.arguments,
            lambda one: rx.el.div(
                rx.el.dt(one.label),
                rx.el.dd(rx.cond(one.address != "", _account(one), one.text), class_name="break"),
                key=one.name,
            ),
        ),
        class_name="kv",
    )
    recipients = rx.el.div(
        download(
            rx.fragment(icon("download", 13), "Download the recipients (CSV)"),
            csv_of(OneApproval.recipients),
            class_name="link csv",
        )
    )
    unknown = note("Signum does not know the recipients: only the Merkle root was given.", tone="warn")
    list_of = rx.cond(OneApproval.recipients != "", recipients, unknown)
    return rx.fragment(
        rx.el.h3("What was requested"),
        facts,
        rx.cond(ONE.action == "distribution.activate", list_of, rx.fragment()),
    )


def _account(one: rx.Var[ArgumentView]) -> rx.Component:
    """Name an account: its party, its wallet, its address."""
    return col(
        text(one.text),
        rx.cond(one.wallet != "", text(one.wallet, cls="muted small"), rx.fragment()),
        short_hash(one.address),
        cls="none",
    )


def _decision() -> rx.Component:
    """Show the decision, who made it and why."""
    said = rx.cond(ONE.reason != "", rx.fragment(": ", ONE.reason), rx.fragment())
    words = rx.match(
        ONE.status,
        ("approved", note(rx.el.b(ONE.decided_by, " approved it "), when(ONE.decided_at), tone="ok")),
        ("denied", note(rx.el.b(ONE.decided_by, " denied it"), said, tone="bad")),
        ("withdrawn", note(rx.el.b(ONE.decided_by, " withdrew it"), said, tone="info", sign="undo-2")),
        ("expired", note("No one decided in time.", tone="warn")),
        rx.fragment(),
    )
    return rx.el.div(words)


def _plan() -> rx.Component:
    steps = rx.el.ol(rx.foreach(PLAN.steps, lambda step: rx.el.li(step)), class_name="plan-steps")
    facts = rx.el.dl(
        rx.foreach(
            PLAN.facts, lambda fact: rx.el.div(rx.el.dt(fact["name"]), rx.el.dd(fact["value"]), key=fact["name"])
        ),
        class_name="kv",
    )
    warnings = rx.foreach(PLAN.warnings, lambda words: note(words, tone="warn"))
    return rx.fragment(
        rx.cond(PLAN.steps.length() > 0, steps, rx.fragment()),
        rx.cond(PLAN.changes.length() > 0, diff(PLAN.changes), rx.fragment()),
        # Effects of the impact engine on holders, orders and claims (`plan.impact.effects`) belong here.
        rx.cond(PLAN.facts.length() > 0, facts, rx.fragment()),
        rx.el.div(warnings, class_name="col"),
    )


def _changed() -> rx.Component:
    """Show what has changed in the plan since the request."""
    same = text("Nothing relevant has changed since the request.", cls="muted")
    found = rx.cond(OneApproval.changed.length() > 0, diff(OneApproval.changed), same)
    unknown = text("No comparison is available.", cls="muted")
    return rx.cond(
        PLAN.steps.length() > 0,
        rx.el.section(
            rx.el.h3("Since it was requested"),
            rx.cond(OneApproval.planned_at != "", found, unknown),
            aria_label="Since it was requested",
        ),
        rx.fragment(),
    )


def _documents() -> rx.Component:
    """Link the documents of the parties that the action concerns."""

    def one(document: rx.Var[DocumentView]) -> rx.Component:
        name = download(document.name, document.href, class_name="link break")
        return item(
            name, text(document.party, ", ", document.kind, ", ", when(document.at)), sign="file-text", key=document.id
        )

    documents = items(rx.foreach(OneApproval.documents, one))
    return rx.cond(
        OneApproval.documents.length() > 0,
        rx.el.section(rx.el.h3("Documents of the parties"), documents, aria_label="Documents of the parties"),
        rx.fragment(),
    )


def _comments() -> rx.Component:
    """Show the comments, and the form for another one while the approval is pending."""

    def one(comment: rx.Var[CommentView]) -> rx.Component:
        return item(comment.by, text(comment.text, cls="break"), when(comment.at), key=comment.id)

    form = rx.el.form(
        area_field(
            "Add a comment", "text", errors=OneApproval.errors, id="approval-comment", max_length=1000, rows=2,
            hint="The requester and everyone who can decide see it.",
        ),
        rx.el.div(button("Add comment", type="submit", disabled=OneApproval.saving)),
        key=OneApproval.comments.length().to_string(),
        on_submit=OneApproval.comment,
        class_name="col",
    )  # fmt: skip
    return rx.cond(
        OneApproval.can_comment | (OneApproval.comments.length() > 0),
        rx.el.section(
            rx.el.h3("Comments"),
            items(rx.foreach(OneApproval.comments, one)),
            rx.cond(OneApproval.can_comment, form, rx.fragment()),
            aria_label="Comments",
        ),
        rx.fragment(),
    )


def _buttons() -> rx.Component:
    deny = button("Deny", "x", on_click=OneApproval.show_denial(True))
    approve = button("Approve", "check", kind="primary", busy=OneApproval.saving, on_click=OneApproval.approve)
    both = rx.fragment(deny, rx.el.span(class_name="end"), approve)
    is_own = (ONE.asked_by_id != "") & (ONE.asked_by_id == Session.user_id)
    withdraw = withdraw_button(Withdrawal.ask_approval, class_name="none")
    waits = rx.fragment(text(ONE.who, cls="muted small grow"), rx.cond(is_own, withdraw, rx.fragment()))
    decided = text(
        rx.cond(ONE.status == "withdrawn", "Withdrawn ", "Decided "), when(ONE.decided_at, "exact"), cls="muted small"
    )
    return rx.cond(ONE.can_decide, both, rx.cond(ONE.status == "pending", waits, decided))


def denial_dialog() -> rx.Component:
    """Draw the dialog that denies."""
    return form_dialog(
        "Deny: " + ONE.title,
        "The request ends and nothing changes. The requester sees the reason.",
        area_field("Reason", "reason", errors=OneApproval.errors, id="deny-reason", max_length=500),
        is_open=OneApproval.denying,
        on_open_change=OneApproval.show_denial,
        on_submit=OneApproval.deny,
        form=OneApproval,
        submit="Deny request",
        kind="danger",
    )
