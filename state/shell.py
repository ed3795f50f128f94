"""What the shell remembers: open dialogs of its own."""

import reflex as rx

from state.session import Session


class Shell(rx.State):
    """The switcher, and the list of keys."""

    keys_shown: bool = False
    switching: bool = False

    @rx.event
    def show_keys(self, shown: bool):
        """Open or close the list of keys."""
        self.keys_shown = bool(shown)

    @rx.event
    def open_switcher(self, shown: bool):
        """Read the first organizations as the switcher opens."""
        self.switching = bool(shown)
        return Session.find("") if self.switching else None

    @rx.event
    def switched(self, org_id: str):
        """Close the switcher: the browser is on its way to another organization."""
        self.switching = False
