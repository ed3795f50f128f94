"""The dialog that moves an organization, with a preview of what changes."""

import reflex as rx

from components.ui.box import row
from components.ui.button import button
from components.ui.dialog import dialog
from components.ui.icon import icon
from components.ui.note import note, problem_note
from components.ui.overlay import picker
from state.organizations.move import MovedNodeView, MoveState

Move = MoveState


def move_dialog() -> rx.Component:
    """Draw the dialog."""
    chosen = rx.cond(Move.parent_id != "", rx.el.span(Move.parent_name, class_name="muted"), rx.fragment())
    return dialog(
        "Move " + Move.subject.name,
        "Its sub-organizations move with it. Assets, wallets and members stay with their organization."
        " The preview shows whose access changes.",
        row(rx.el.span("New parent", class_name="label"), chosen, cls="move-label"),
        picker(
            Move.parents,
            "Find the new parent",
            on_pick=Move.pick,
            on_search=Move.search,
            found_for=Move.found_for,
            value=Move.parent_id,
            placeholder="Find by name or ID",
            none="No organizations match",
            framed=True,
            focused=True,
        ),
        rx.el.div(problem_note(Move.form_problem), class_name="move-problem"),
        rx.el.div(rx.cond(Move.previewing, _waiting(), _preview()), aria_live="polite"),
        is_open=Move.is_open,
        on_open_change=Move.show,
        foot=(
            rx.el.span("You can move it back", class_name="muted small"),
            rx.el.span(class_name="end"),
            rx.dialog.close(button("Cancel")),
            button(
                rx.cond(Move.descendants > 0, _count("Move ", " organizations"), "Move organization"),
                kind="primary",
                busy=Move.saving,
                disabled=Move.changes.length() == 0,
                on_click=Move.submit,
            ),
        ),
        width="720px",
    )


def _count(before: str, after: str) -> rx.Component:
    return rx.el.span(before, Move.descendants + 1, after)


def _waiting() -> rx.Component:
    return rx.el.div(icon("loader-circle", 15, spin=True), "Calculating the changes", class_name="row muted move-wait")


def _preview() -> rx.Component:
    head = row(
        rx.el.h2("Preview", class_name="label"),
        rx.el.span(
            rx.cond(
                Move.descendants > 0, _count("", " organizations get new paths"), "One organization gets a new path"
            ),
            class_name="muted small",
        ),
        cls="move-head",
    )
    table = rx.el.div(
        rx.el.table(
            rx.el.caption("Paths and depths before and after", class_name="sr"),
            rx.el.thead(
                rx.el.tr(
                    *[rx.el.th(words, scope="col") for words in ("Organization", "Path now", "Path after")],
                    rx.el.th("Depth", scope="col", class_name="r"),
                )
            ),
            rx.el.tbody(rx.foreach(Move.changes, _change)),
            class_name="table slim stack move-table",
        ),
        class_name="card move-list",
        tab_index=0,
        role="region",
        aria_label="Paths and depths, table",
    )
    rest = rx.cond(
        Move.descendants + 1 > Move.changes.length(),
        rx.el.div(
            "and ", Move.descendants + 1 - Move.changes.length(), " more below", class_name="muted small move-rest"
        ),
        rx.fragment(),
    )
    unchanged = note("No one gains or loses access.", sign="users")
    access = rx.el.div(
        rx.cond(Move.gained.length() > 0, _people("Gain access: ", Move.gained, "", "user-plus"), rx.fragment()),
        rx.cond(Move.lost.length() > 0, _people("Lose access: ", Move.lost, "warn", "user-minus"), rx.fragment()),
        rx.cond((Move.gained.length() == 0) & (Move.lost.length() == 0), unchanged, rx.fragment()),
        rx.cond(
            Move.afterwards.length() == 0,
            note("This organization is not registered on any chain. No transaction is sent.", sign="link"),
            rx.fragment(),
        ),
        rx.foreach(Move.afterwards, lambda step: note(rx.el.b("Afterwards: "), step, sign="link", key=step)),
        class_name="col move-access",
    )
    return rx.cond(Move.changes.length() > 0, rx.fragment(head, table, rest, access), rx.fragment())


def _people(words: str, names: rx.Var[list[str]], tone: str, sign: str) -> rx.Component:
    return note(rx.el.b(words), names.join(", "), tone=tone, sign=sign)


def _change(change: rx.Var[MovedNodeView]) -> rx.Component:
    return rx.el.tr(
        rx.el.td(change.name, class_name=rx.cond(change.id == Move.subject.id, "strong wrap", "wrap inner")),
        rx.el.td(rx.el.del_(change.path_before, class_name="old"), class_name="full wrap"),
        rx.el.td(rx.el.ins(change.path_after, class_name="new"), class_name="full wrap"),
        rx.el.td(
            rx.el.span(change.depth_before, " → ", class_name="muted"),
            rx.el.span(change.depth_after, class_name="strong"),
            class_name="r depth",
        ),
        key=change.id,
    )
