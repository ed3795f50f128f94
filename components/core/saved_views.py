"""The menu of saved views, at the head of a list."""

import reflex as rx

from components.ui.button import button, icon_button
from components.ui.form import form, text_field
from components.ui.icon import icon
from components.ui.note import unread
from state.saved_views.views import SavedViews, ViewLink


@rx.memo
def saved_views() -> rx.Component:
    """Draw the button that opens the views of the page's list."""
    state = SavedViews
    listed = rx.el.ul(rx.foreach(state.views, _view), class_name="views", aria_label="Saved views")
    none = rx.el.p("Filter, search or sort the list, then save the view here.", class_name="muted small")
    failed = unread("Your views did not load. " + state.problem, state.show(True))
    save = form(
        text_field(
            "Save this view as", "name", errors=state.errors, id="view-name", max_length=120, key=state.views.length()
        ),
        on_submit=state.submit,
        problem=state.form_problem,
        submit="Save view",
        busy=state.saving,
    )
    body = rx.el.div(
        rx.el.h2("Your views", class_name="title-3"),
        rx.cond(state.problem != "", failed, rx.cond(state.views.length() > 0, listed, rx.fragment())),
        rx.cond(state.can_save, save, rx.cond(state.views.length() > 0, rx.fragment(), none)),
        class_name="pop views-menu",
    )
    return rx.popover.root(
        rx.popover.trigger(button("Views", "bookmark")),
        rx.popover.content(body, align="end", aria_label="Your views", on_open_auto_focus=rx.prevent_default),
        open=state.is_open,
        on_open_change=state.show,
    )


def _view(view: rx.Var[ViewLink]) -> rx.Component:
    mark = rx.cond(view.is_shown, icon("check", 14), rx.fragment())
    return rx.el.li(
        rx.el.a(
            view.name,
            mark,
            href=view.href,
            class_name="link plain trunc grow row tight",
            aria_current=rx.cond(view.is_shown, "true", "false"),
            on_click=SavedViews.show(False),
        ),
        icon_button("x", "Delete the view " + view.name, small=True, on_click=SavedViews.forget(view.id)),
        class_name="row",
        key=view.id,
    )
