"""The question before something of a list is taken away."""

from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.api import Form
from state.paging import Pages


class Removes(Form, mixin=True):
    """Mixin of a dialog that asks about one row of a list, and takes it away.

    Declare `about` with the row's type, and implement `_list`, `_path` and `_words`. The handlers `ask`, `show` and
    `confirm` come with it.
    """

    is_open: bool = False

    def _list(self) -> type[Pages]:
        """The state whose `rows` are asked about, each with an `id`."""
        raise NotImplementedError

    def _path(self) -> str:
        """What is deleted, below the organization: `/api-keys/{id}`."""
        raise NotImplementedError

    def _words(self) -> tuple[str, str]:
        """What is said once it is done: title and detail."""
        raise NotImplementedError

    @rx.event
    async def ask(self, id: str) -> Any:
        """Ask about one of the listed rows."""
        rows = (await self.get_state(self._list())).rows
        row = next((row for row in rows if row.id == str(id)), None)
        if row is not None:
            self._done()
            self.about, self.is_open = row, True

    @rx.event
    def show(self, is_open: bool) -> Any:
        """Close it."""
        self.is_open = self.is_open and bool(is_open)

    @rx.event
    async def confirm(self) -> Any:
        """Take it away."""
        self._begin()
        yield
        try:
            await self._api("DELETE", f"/orgs/{{org}}{self._path()}")
        except ApiProblem as problem:
            self._refused(problem)
            self.form_problem = problem.detail or problem.title
            return
        self._done()
        self.is_open = False
        await self._notify(*self._words())
        yield self._list().reload
