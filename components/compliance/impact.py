"""Whom an operation affects: a line with a number for each kind, and the list behind it. The same on every page."""

from typing import Any

import reflex as rx

from components.ui.button import button, text_button
from components.ui.card import item, items
from components.ui.dialog import dialog
from components.ui.icon import mark
from components.ui.value import short_hash
from state.compliance.effect_rows import AffectedView
from state.compliance.effects import EffectGroup


def effects(state: Any, *more: rx.Component) -> rx.Component:
    """Draw the effects of a state that has them (`ShowsEffects`), then further items."""
    source = rx.el.p(state.effects_source, class_name="muted small effects-source")
    return rx.fragment(
        items(rx.foreach(state.effects, lambda group: _line(state, group)), *more),
        rx.cond(state.effects_source != "", source, rx.fragment()),
        _list(state),
    )


def _line(state: Any, group: rx.Var[EffectGroup]) -> rx.Component:
    sign = rx.match(
        group.kind,
        ("holders", mark("user-x", "bad")),
        ("orders", mark("list-x", "warn")),
        ("claims", mark("hand-coins", "warn")),
        ("markets", mark("circle-pause", "warn")),
        mark("user-minus"),
    )
    title = text_button(group.title, aria_haspopup="dialog", on_click=state.list_effect(group.kind))
    return item(title, group.below, sign=sign, key=group.kind)


def _list(state: Any) -> rx.Component:
    group = state.listed
    more = rx.cond(
        group.more > 0, rx.el.p("and ", group.more, " more", class_name="muted small card-body"), rx.fragment()
    )
    return dialog(
        group.title,
        group.about,
        items(rx.foreach(group.rows, _affected), label="Affected"),
        more,
        is_open=state.listing,
        on_open_change=state.show_listed,
        flush=True,
        foot=(rx.el.span(class_name="end"), rx.dialog.close(button("Close"))),
    )


def _affected(row: rx.Var[AffectedView]) -> rx.Component:
    name = rx.cond(row.name != "", rx.el.div(row.name, class_name="trunc"), rx.fragment())
    address = rx.cond(row.address != "", short_hash(row.address), rx.fragment())
    amount = rx.cond(row.about != "", rx.el.div(row.about, title=row.exact), rx.fragment())
    return item(rx.el.div(name, address), rx.el.div(amount, row.why), key=row.id)
