"""The card of what the user sets for themselves: the console's time zone, and hidden cards."""

import reflex as rx

from components.ui.button import button
from components.ui.card import card
from components.ui.form import check_field, form, text_field
from components.ui.value import BrowserZone, ZoneNames
from state.core.session import Session
from state.users.preferences import MyPreferences

NAMES = "time-zones"


def preferences_card() -> rx.Component:
    """Draw the time zone, a button that takes the browser's, the daily email, and the hidden cards."""
    zone = form(
        text_field(
            "Time zone", "time_zone", errors=MyPreferences.errors, default_value=MyPreferences.time_zone, list=NAMES,
            hint="Times and dates are in this zone. The end of a lock-up is in UTC.",
            max_length=64, optional=True, spell_check=False,
        ),
        ZoneNames.create(id=NAMES),
        rx.cond(Session.org.id != "", _digest(), rx.fragment()),
        on_submit=MyPreferences.submit,
        problem=MyPreferences.form_problem,
        submit="Save",
        busy=MyPreferences.saving,
        key=MyPreferences.time_zone + MyPreferences.digest.to_string(),
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


def _digest() -> rx.Component:
    """Draw the choice of a daily email; investors have none, because nothing waits for them."""
    box = check_field(
        "Daily summary by email",
        "digest",
        default_checked=MyPreferences.digest,
        hint="Lists your open notifications. Without any, no email is sent.",
    )
    return rx.fragment(rx.el.input(type="hidden", name="has_digest", value="1"), box)
