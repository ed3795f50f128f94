"""State of the shell's own dialogs."""

import reflex as rx

from state.core.events import Next, call
from state.core.session import Session


class Shell(rx.State):
    """The organization switcher, and the list of keyboard shortcuts."""

    keys_shown: bool = False
    switching: bool = False

    @rx.event
    def show_keys(self, shown: bool) -> None:
        """Open or close the list of keyboard shortcuts."""
        self.keys_shown = bool(shown)

    @rx.event
    def open_switcher(self, shown: bool) -> Next:
        """Read the first organizations when the switcher opens."""
        self.switching = bool(shown)
        return call(Session.find, "") if self.switching else None

    def _leave(self) -> None:
        self.keys_shown = self.switching = False

    @rx.event
    def switched(self, org_id: str) -> None:
        """Close the switcher while the browser goes to another organization."""
        self.switching = False
