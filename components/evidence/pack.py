"""What a pack says: its facts, its files with their hashes, and its sections as tables."""

from typing import Any

import reflex as rx

from components.evidence.actions import create
from components.ui.box import col
from components.ui.button import button
from components.ui.card import card, items, kv
from components.ui.icon import icon
from components.ui.note import empty, failure, forbidden, note, problem_note, skeleton
from components.ui.status import status
from components.ui.table import td, tr
from components.ui.value import amount, no_value, short_hash, when
from state.evidence.pack import EvidenceState
from state.evidence.views import Cell, CheckView, FileView, Row, SectionView


def body() -> rx.Component:
    """Draw the pack, or why it is absent."""
    state = EvidenceState
    again = button("Try again", "rotate-cw", on_click=state.load)
    broken = rx.cond(
        state.is_forbidden,
        forbidden(state.problem),
        rx.cond(
            state.is_missing,
            empty("compass", "This asset does not exist", "The address may be mistyped, or it was deleted."),
            failure("The asset did not load", state.problem, again),
        ),
    )
    whole = rx.fragment(
        problem_note(state.refusal),
        rx.cond(
            state.pack.sha256 != "",
            rx.fragment(
                rx.cond(state.received != "", _received(), _age()),
                _verification(),
                _facts(),
                rx.foreach(state.pack.sections, _section),
                _files(),
            ),
            _none(),
        ),
    )
    waiting = rx.el.div(skeleton(6), class_name="card")
    return col(rx.cond(state.loading, waiting, rx.cond(state.problem != "", broken, whole)), cls="wide evidence")


def _none() -> rx.Component:
    """Draw a page without a pack: when the last one was made, and the button that makes one."""
    state = EvidenceState
    by = rx.cond(state.last_by != "", " by " + state.last_by, "")
    last = rx.fragment("The last pack was made ", when(state.last_at), by, ". Signum does not store packs.")
    about = rx.fragment(
        "A pack contains the asset's rules, holders, attestations and changes, with the hash of each file. The audit "
        "log records each pack. ",
        rx.cond(state.last_at != "", last, rx.fragment()),
    )
    return rx.el.div(empty("file-archive", "Create an evidence pack", about, create()), class_name="card")


def _age() -> rx.Component:
    """Say how old the pack is."""
    made = rx.fragment("Made ", when(EvidenceState.pack.made_at), ". Later changes of the asset are in a new pack.")
    return rx.el.p(made, class_name="muted small", role="note", aria_label="Age of the pack")


def _received() -> rx.Component:
    words = rx.fragment(
        rx.el.b("You opened a received pack: "), EvidenceState.received, ". Verify it before you rely on its figures."
    )
    return note(words, tone="info")


def _verification() -> rx.Component:
    """Draw how the verification ended, and its checks."""
    found = EvidenceState.verification
    tone = {"ok": "The pack is unchanged and agrees with the chains. ", "differs": "Parts of the pack differ. "}
    lines = [
        (result, note(rx.el.b(words), found.summary, ".", tone="ok" if result == "ok" else "bad", role="status"))
        for result, words in tone.items()
    ]
    rest = note(
        rx.el.b("Nothing differs, but some checks could not be made. "), found.summary, ".", tone="warn", role="status"
    )
    done = card(
        "Verification",
        rx.el.div(rx.match(found.result, *lines, rest), class_name="card-body"),
        rx.cond(
            found.compares,
            _table("Checks", COMPARED, rx.foreach(found.checks, _compared)),
            _table("Checks", HEADS, rx.foreach(found.checks, _check)),
        ),
        right=rx.el.span("made ", when(found.at), class_name="muted small"),
    )
    return rx.cond(found.result != "", done, rx.fragment())


HEADS = [("Check", False), ("Where", False), ("Result", False)]
COMPARED = [*HEADS, ("In the pack", True), ("Found", True)]


def _compared(check: rx.Var[CheckView]) -> rx.Component:
    return _row_of(
        check,
        td(_cell(check.expected, none=""), right=True, label="In the pack", class_name="if-any"),
        td(_cell(check.found, none=""), right=True, label="Found", class_name="if-any"),
    )


def _check(check: rx.Var[CheckView]) -> rx.Component:
    return _row_of(check)


def _row_of(check: rx.Var[CheckView], *values: rx.Component) -> rx.Component:
    why = rx.cond(check.reason != "", rx.el.div(check.reason, class_name="muted small"), rx.fragment())
    return tr(
        td(rx.el.span(check.subject, class_name="strong"), why, full=True),
        td(check.where, label="Where"),
        td(status(check.result), label="Result"),
        *values,
        class_name="facts",
        key=check.key,
    )


def _facts() -> rx.Component:
    pack = EvidenceState.pack
    unnamed = rx.el.span("not named in the pack", class_name="muted")
    blocks = rx.foreach(pack.blocks, lambda line: rx.el.div(line))
    more = rx.foreach(pack.omitted, lambda line: rx.el.div(line))
    missing = note(rx.el.b("The pack omits files. "), more, tone="warn")
    return card(
        "Pack",
        kv(
            ("Organization", rx.cond(pack.organization != "", pack.organization, unnamed)),
            ("Asset", rx.fragment(pack.name, " ", rx.el.span(pack.symbol, class_name="muted"))),
            ("Made", when(pack.made_at, "exact")),
            ("Made by", rx.cond(pack.made_by != "", pack.made_by, unnamed)),
            ("Read from", blocks),
            ("SHA-256 of the archive", short_hash(pack.sha256, "SHA-256 of the archive")),
            (
                "In the audit log",
                rx.fragment("SHA-256 of manifest.json, ", short_hash(pack.manifest, "SHA-256 of manifest.json")),
            ),
        ),
        rx.cond(pack.omitted.length() > 0, rx.el.div(missing, class_name="card-body"), rx.fragment()),
    )


def _files() -> rx.Component:
    pack = EvidenceState.pack
    return card("Files", items(rx.foreach(pack.files, _file), label="Files of the pack"), count=pack.files.length())


def _file(file: rx.Var[FileView]) -> rx.Component:
    good = rx.el.span(icon("circle-check", 15, class_name="ok-icon"), "equals its hash in the pack")
    bad = rx.el.span(icon("circle-x", 15, class_name="bad-icon"), "differs from its hash in the pack")
    return rx.el.li(
        rx.el.div(
            rx.el.div(file.path, class_name="title"),
            rx.el.div(file.size, ", ", rx.el.span("SHA-256 "), short_hash(file.sha256, "SHA-256"), class_name="below"),
            rx.el.div(rx.cond(file.agrees == "yes", good, bad), class_name="below agreement"),
            class_name="grow",
        ),
        class_name="item",
        key=file.path,
    )


def _section(section: rx.Var[SectionView]) -> rx.Component:
    heads = rx.foreach(
        section.heads,
        lambda head: rx.el.th(head.text, scope="col", class_name=rx.cond(head.is_number, "r", "")),
    )
    full = rx.el.div(
        rx.el.table(
            rx.el.caption(section.title, class_name="sr"),
            rx.el.thead(rx.el.tr(heads)),
            rx.el.tbody(rx.cond(section.is_pairs, rx.foreach(section.rows, _pair), rx.foreach(section.rows, _row))),
            class_name="table stack",
        ),
        class_name="table-wrap",
        tab_index=0,
        role="region",
        aria_label=section.title + ", table",
    )
    none = empty("file-text", "The pack has no such records")
    foot = rx.cond(section.foot != "", rx.el.div(section.foot, class_name="card-foot"), rx.fragment())
    problem = rx.el.div(
        note(rx.el.b("This section cannot be read. "), section.problem, tone="bad"), class_name="card-body"
    )
    return card(
        section.title,
        rx.el.p(section.about, class_name="muted small about"),
        rx.cond(section.problem != "", problem, rx.cond(section.rows.length() > 0, full, none)),
        foot,
        count=section.count,
        key=section.name,
    )


def _row(line: rx.Var[Row]) -> rx.Component:
    return tr(rx.foreach(line.cells, _td), class_name="facts", key=line.key)


def _pair(line: rx.Var[Row]) -> rx.Component:
    return tr(rx.foreach(line.cells, _td), class_name="pair", key=line.key)


def _td(cell: rx.Var[Cell]) -> rx.Component:
    return rx.el.td(_cell(cell), class_name=rx.cond(cell.is_number, "r", ""), custom_attrs={"data-label": cell.label})


def _cell(cell: rx.Var[Cell], none: str = "none") -> rx.Component:
    drawn = rx.match(
        cell.kind,
        ("amount", amount(cell.text, decimals=EvidenceState.pack.decimals)),
        ("time", when(cell.text, "exact")),
        ("hash", short_hash(cell.text, cell.label.lower())),
        rx.el.span(cell.text),
    )
    return rx.cond(cell.text != "", drawn, no_value(none))


def _table(caption: str, heads: list[tuple[str, bool]], rows: Any) -> rx.Component:
    return rx.el.div(
        rx.el.table(
            rx.el.caption(caption, class_name="sr"),
            rx.el.thead(
                rx.el.tr(*[rx.el.th(title, scope="col", class_name="r" if right else "") for title, right in heads])
            ),
            rx.el.tbody(rows),
            class_name="table stack",
        ),
        class_name="table-wrap",
        tab_index=0,
        role="region",
        aria_label=f"{caption}, table",
    )
