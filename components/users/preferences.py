"""The card of what the user sets for themselves: the console's time zone, and hidden cards."""

import reflex as rx

from components.ui.button import button
from components.ui.card import card
from components.ui.form import form, text_field
from components.ui.value import BrowserZone, ZoneNames
from state.users.preferences import MyPreferences

NAMES = "time-zones"


def preferences_card() -> rx.Component:
    """Draw the time zone, a button that takes the browser's, and the hidden cards."""
    zone = form(
        text_field(
            "Time zone", "time_zone", errors=MyPreferences.errors, default_value=MyPreferences.time_zone, list=NAMES,
            hint="Times and dates are in this zone, with UTC on hover. The end of a lock-up is in UTC.",
            max_length=64, optional=True, spell_check=False,
        ),
        ZoneNames.create(id=NAMES),
        on_submit=MyPreferences.submit,
        problem=MyPreferences.form_problem,
        submit="Save",
        busy=MyPreferences.saving,
        key=MyPreferences.time_zone,
    )  # fmt: skip
    count = MyPreferences.hidden.length()
    hidden = rx.el.div(
        rx.el.span(rx.cond(count == 1, "1 card is hidden. ", count.to_string() + " cards are hidden. ")),
        button("Show hidden cards", small=True, on_click=MyPreferences.show_all),
        class_name="row",
    )
    return card(
        "Preferences",
        zone,
        rx.cond(count > 0, hidden, rx.fragment()),
        right=BrowserZone.create(current=MyPreferences.time_zone, on_use=MyPreferences.use),
        pad=True,
        class_name="preferences",
    )
