"""Components with steps: stepper, timeline of a request, checklist of prerequisites, diff."""

from collections.abc import Sequence
from typing import Any

import reflex as rx

from components.ui.api_call import api_call
from components.ui.icon import icon, mark
from components.ui.note import note
from components.ui.status import of_request, status
from components.ui.value import elapsed, short_hash, when

# The API's step statuses, each drawn as one of four.
STEP_CLASS = {
    "succeeded": "done",
    "confirmed": "done",
    "skipped": "done",
    "running": "now",
    "submitting": "now",
    "failed": "fail",
}


def stepper(label: str, names: Sequence[str], at: rx.Var[int]) -> rx.Component:
    """Draw a wizard's steps with the current one marked; `at` counts from 0."""

    def one(i: int, name: str) -> rx.Component:
        sign = rx.cond(at > i, icon("check", 12, stroke_width=2.5), rx.el.span(str(i + 1)))
        current = rx.cond(at == i, "step", "false")
        done = rx.cond(at > i, "done", "")
        return rx.el.li(
            rx.el.span(sign, class_name="n"), rx.el.span(name, class_name="word"), class_name=done, aria_current=current
        )

    return rx.el.nav(rx.el.ol(*[one(i, name) for i, name in enumerate(names)], class_name="steps"), aria_label=label)


def _marker(kind: rx.Var[str]) -> rx.Component:
    return rx.el.span(
        rx.match(
            kind,
            ("done", icon("check", 15, stroke_width=2.25)),
            ("now", icon("loader-circle", 15, stroke_width=2.25, spin=True)),
            ("fail", icon("x", 15, stroke_width=2.25)),
            icon("circle-dashed", 14),
        ),
        class_name="marker",
    )


def _step(step: rx.Var[Any]) -> rx.Component:
    kind = rx.match(step.status, *STEP_CLASS.items(), "wait").to(str)
    words = {"done": "done", "now": "running", "fail": "failed"}
    said = rx.match(kind, *words.items(), "waits").to(str)
    transaction = rx.el.span(
        rx.cond(step.chain_name != "", rx.el.span(step.chain_name, class_name="muted small"), rx.fragment()),
        short_hash(step.tx_hash, "transaction", step.explorer_url),
        # Final is the normal case; only earlier stages need a label.
        rx.match(
            step.finality,
            ("included", rx.el.span("Included, not final yet", class_name="muted small")),
            ("safe", rx.el.span("Safe, not final yet", class_name="muted small")),
            rx.fragment(),
        ),
        class_name="row tight",
    )
    body = rx.el.div(
        rx.el.div(step.title, rx.el.span(said, class_name="sr"), class_name="what"),
        rx.cond(step.detail != "", rx.el.div(step.detail, title=step.detail_full, class_name="why"), rx.fragment()),
        rx.cond(step.tx_hash != "", rx.el.div(transaction, class_name="txs"), rx.fragment()),
    )
    meta = rx.cond(
        step.started_at != "",
        rx.el.div(
            rx.el.span(elapsed(step.started_at, step.finished_at), class_name="took"),
            when(step.started_at, "clock", ""),
            class_name="meta",
        ),
        rx.el.div(class_name="meta"),
    )
    return rx.el.li(
        _marker(kind), body, meta, class_name=kind, aria_current=rx.cond(kind == "now", "step", "false"), key=step.name
    )


def timeline(steps: rx.Var[list[Any]]) -> rx.Component:
    """Draw a request's steps (`state.requests.tracker.Step`), each with its transaction; animated while they run."""
    return rx.el.ol(rx.foreach(steps, _step), class_name="timeline", aria_live="polite")


def bar(percent: rx.Var[Any] | int, label: str, tone: str = "") -> rx.Component:
    """Draw a progress bar, 0 to 100."""
    width = rx.Var.create(percent).to_string() + "%"
    return rx.el.div(
        rx.el.i(style={"width": width}),
        class_name=f"bar {tone}".strip(),
        role="progressbar",
        aria_valuenow=percent,
        aria_valuemin=0,
        aria_valuemax=100,
        aria_label=label,
    )


def request_progress(
    request: rx.Var[Any], *, waits: rx.Component, fix: rx.Component, again: rx.Component
) -> rx.Component:
    """Draw a request: head, whose approval it waits for (`waits`), bar, timeline, and after a failure its reason, the
    next step (`fix`) and the retry button (`again`)."""
    of = rx.cond(request.steps.length() == 1, " step", " steps")
    words = rx.el.span(request.done_steps, " of ", request.steps.length(), of, class_name="muted small num")
    live = rx.el.span(icon("radio", 13), "Live", class_name="row tight small ok-text end", style={"marginLeft": "auto"})
    moving = (request.status == "running") | (request.status == "accepted")
    head = rx.el.div(
        rx.el.h2("Progress"),
        words,
        rx.cond(moving, live, rx.el.span(status(of_request(request.status)), class_name="end")),
        class_name="card-head",
    )
    why = note(rx.el.span(request.problem, title=request.problem_full), tone="bad", role="alert")
    next_step = rx.el.div(fix, rx.cond(request.can_retry, again, rx.fragment()), class_name="row wrap")
    problem = rx.cond(
        request.problem != "",
        rx.el.div(why, next_step, class_name="col", style={"padding": "0 16px 16px"}),
        rx.fragment(),
    )
    return rx.el.section(
        head,
        waits,
        awaits_finality(request),
        on_disabled_chain(request),
        rx.el.div(bar(request.percent, "Progress"), style={"padding": "14px 16px 2px"}),
        timeline(request.steps),
        problem,
        class_name="card",
        aria_label="Progress",
    )


def past_progress(request: rx.Var[Any]) -> rx.Component:
    """Fold the steps of a request that succeeded: they are history."""
    ended = rx.el.span(request.done_steps, " steps, done ", when(request.updated_at, "exact"), class_name="muted small")
    steps = rx.el.details(
        rx.el.summary(
            icon("chevron-right", 14), rx.el.h2("Progress"), ended, rx.el.span(status(request.status), class_name="end")
        ),
        timeline(request.steps),
        class_name="folded",
    )
    return rx.el.section(steps, class_name="card", aria_label="Progress")


def awaits_finality(request: rx.Var[Any]) -> rx.Component:
    """Say that a request's steps are done but its transactions are not final yet; otherwise draw nothing."""
    words = "All steps are done. The request succeeds when its transactions are final and cannot be undone."
    return rx.cond(
        request.awaits_finality,
        rx.el.div(note(words), style={"padding": "12px 16px 0"}),
        rx.fragment(),
    )


def on_disabled_chain(request: rx.Var[Any]) -> rx.Component:
    """Say what a chain that was disabled in the meantime means for a request; otherwise draw nothing."""
    words = note(request.notice, tone="warn", sign="link")
    return rx.cond(request.notice != "", rx.el.div(words, style={"padding": "12px 16px 0"}), rx.fragment())


def checklist_item(item: rx.Var[Any], action: rx.Component) -> rx.Component:
    """Draw one prerequisite (a dict of name, title, detail, call, state): ticked, open, or locked."""
    sign = rx.match(
        item.state,
        ("done", mark("check", "ok")),
        ("open", mark("circle-dot", "info")),
        mark("lock"),
    )
    right = rx.match(item.state, ("done", status("succeeded")), ("open", action), status("blocked"))
    return rx.el.li(
        sign,
        rx.el.div(
            rx.el.div(
                rx.el.span(item.title, class_name="strong"),
                rx.el.span(item.name, class_name="mono muted"),
                class_name="row wrap",
            ),
            rx.el.div(item.detail, class_name="muted"),
            api_call(item.call),
        ),
        rx.el.div(right),
        class_name=item.state,
        key=item.name,
    )


def checklist(items: rx.Var[list[Any]], action: Any) -> rx.Component:
    """Draw prerequisites in order; `action(item)` draws the button of an open one."""
    return rx.el.ol(rx.foreach(items, lambda item: checklist_item(item, action(item))), class_name="checklist")


def conflict(form: Any) -> rx.Component:
    """Show what another person changed while a form was open: `others` of `Edits`. Other states have nothing."""
    if not hasattr(form, "others"):
        return rx.fragment()
    changed = rx.el.div(
        rx.el.b("Changed by another person"), diff(form.others), class_name="card plan-diff", role="region",
        aria_label="Changed by another person",
    )  # fmt: skip
    return rx.cond(form.others.length() > 0, changed, rx.fragment())


def diff(changes: rx.Var[list[dict[str, str]]]) -> rx.Component:
    """Draw what changes: dicts with `name`, `old` and `new`, as words; `old_full` and `new_full` appear on hover."""

    def one(change: Any) -> rx.Component:
        before = rx.cond(
            change["old"] != "",
            rx.el.del_(change["old"], class_name="old", title=change["old_full"]),
            rx.el.span("none", class_name="muted"),
        )
        after = rx.cond(
            change["new"] != "",
            rx.el.ins(change["new"], class_name="new", title=change["new_full"]),
            rx.el.span("none", class_name="muted"),
        )
        return rx.el.div(rx.el.dt(change["name"]), rx.el.dd(before, icon("arrow-right", 13), after), key=change["name"])

    return rx.el.dl(rx.foreach(changes, one), class_name="diff")
