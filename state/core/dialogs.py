"""Dialogs: with a form, about one thing, and the confirmation before a row of a list is removed."""

import reflex as rx

from backend.client import ApiProblem
from state.core.api import Form
from state.core.events import Events, Next
from state.core.paging import Listed


class Dialog(Form, mixin=True):
    """Mixin of a dialog with a form. It provides the handler `show`, which buttons and the dialog itself call."""

    is_open: bool = False

    @rx.event
    def show(self, is_open: bool) -> None:
        """Open or close the dialog."""
        self._done()
        self.is_open = bool(is_open)

    def _close(self) -> None:
        """Finish sending, and close the dialog."""
        self._done()
        self.is_open = False

    def _leave(self) -> None:
        """Close the dialog when the visit ends (`state.core.visits`)."""
        if self.is_open:
            self._close()


class DialogAbout(Dialog, mixin=True):
    """Mixin of a dialog about one thing, which another handler opens; `show` only closes it."""

    @rx.event
    def show(self, is_open: bool) -> None:
        """Close the dialog."""
        self.is_open = self.is_open and bool(is_open)


class Removes(DialogAbout, mixin=True):
    """Mixin of a dialog that removes one row of a list after a confirmation.

    Declare `about` with the row's type, and implement `_list`, `_remove` and `_words`. It provides the handlers
    `ask`, `show` and `confirm`.
    """

    def _list(self) -> type[Listed]:
        """Return the state with the rows."""
        raise NotImplementedError

    async def _remove(self) -> Next:
        """Remove the row in `about`; return the events that read the list again."""
        raise NotImplementedError

    def _words(self) -> tuple[str, str]:
        """Return the toast after the removal: title and detail."""
        raise NotImplementedError

    @rx.event
    async def ask(self, id: str) -> None:
        """Open the confirmation for one of the listed rows."""
        rows = (await self.get_state(self._list())).rows
        row = next((row for row in rows if row.id == str(id)), None)
        if row is not None:
            self._done()
            self.about, self.is_open = row, True

    @rx.event
    async def confirm(self) -> Events:
        """Remove the row."""
        self._begin()
        yield
        try:
            following = await self._remove()
        except ApiProblem as problem:
            self._refused(problem)
            self.form_problem = problem.detail or problem.title
            return
        self._close()
        await self._notify(*self._words())
        yield following
