"""Signing in as a person of the demo with one click, and the progress of the demo's creation."""

from typing import Any

import reflex as rx

from components.ui.card import avatar
from components.ui.form import NativeForm
from components.ui.icon import icon
from components.ui.value import Local
from state.core.session import Session
from state.demo_people.people import DemoPeople, DemoPersonView


class Colleague(Local):
    """Outlines the person whom a guided tour, begun in this browser, asks to decide."""

    library = "$/public/react/tour.jsx"
    tag = "Colleague"


def demo_people() -> rx.Component:
    """Draw the people, or the progress; nothing where the demo is not offered. Each is a native post, as the form."""
    return rx.fragment(
        rx.cond(DemoPeople.is_creating, _progress(), rx.fragment()),
        rx.cond(DemoPeople.people.length() > 0, _people(), rx.fragment()),
    )


def _people() -> rx.Component:
    rows = rx.el.ul(rx.foreach(DemoPeople.people, lambda one: rx.el.li(_person(one), key=one.role)))
    return rx.el.section(
        rx.el.h2("Or try the demo as", id="demo-people"),
        rows,
        rx.cond(DemoPeople.start_over_path != "", _start_over(), rx.fragment()),
        Colleague.create(),
        class_name="demo-people",
        aria_labelledby="demo-people",
    )


def _person(one: rx.Var[DemoPersonView]) -> rx.Component:
    words = rx.el.span(
        rx.el.span(rx.el.b(one.name), rx.el.span(one.title, class_name="muted"), class_name="who"),
        rx.el.span(one.task, class_name="task"),
        class_name="grow",
    )
    card = rx.el.button(avatar(one.mark), words, icon("arrow-right", 15), type="submit", class_name="demo-person")
    return _post(card, one.role, Session.next_path)


def _start_over() -> rx.Component:
    """Draw the button that opens the reset's confirmation, as the admin who may reset."""
    words = rx.el.button("Reset devnet", type="submit", class_name="link small")
    return _post(words, "admin", DemoPeople.start_over_path)


def _post(control: rx.Component, person: Any, next: Any) -> rx.Component:
    return NativeForm.create(
        rx.el.input(type="hidden", name="person", value=person, read_only=True),
        rx.el.input(type="hidden", name="next", value=next, read_only=True),
        control,
        action="/session/demo",
        method="post",
    )


def _progress() -> rx.Component:
    said = rx.el.span("Creating the demo: ", DemoPeople.doing, ", ", DemoPeople.percent.to_string(), "%")
    width = rx.el.i(style={"width": DemoPeople.percent.to_string() + "%"})
    return rx.el.section(
        rx.el.p(said, role="status"),
        rx.el.div(width, class_name="bar", aria_hidden="true"),
        class_name="demo-progress",
    )
