"""Saved views of the page's list: filters, search and sort under a name."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode

import reflex as rx

from backend.client import ApiProblem, body
from backend.saved_views.schemas import SavedView, SavedViewCreate
from state.core.api import Form
from state.core.arguments import id_of, texts
from state.core.events import Events, Next

NOT_SAVED = ("id", "entry")
"""Parameters of the open drawer, which are no part of a list's view."""


@dataclass
class ViewLink:
    """A view, with the path and query that show it."""

    id: str
    name: str
    href: str
    is_shown: bool


class SavedViews(Form, rx.State):
    """The person's views of the page's list."""

    is_open: bool = False
    views: list[ViewLink] = []
    can_save: bool = False
    """Whether the list shows something else than its usual view or one of the person's."""
    problem: str = ""

    @rx.event
    async def show(self, is_open: bool) -> Events:
        """Open the menu and read the views, or close it."""
        self._done()
        self.is_open, self.problem, self.can_save = bool(is_open), "", False
        if self.is_open:
            yield
            await self._read()

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Save what the list shows under a name."""
        self._begin()
        yield
        given = {"page": self._page(), "name": texts(data).get("name", ""), "query": self._shown()}
        try:
            await self._api.save_view(self._org_id(), body(SavedViewCreate, given))
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("name")
            return
        self._done()
        await self._read()

    @rx.event
    async def forget(self, view_id: str) -> None:
        """Delete a view."""
        view = next((one for one in self.views if one.id == str(view_id)), None)
        try:
            await self._api.delete_view(self._org_id(), id_of(view_id))
        except ApiProblem as problem:
            if problem.status != 404:
                self.form_problem = problem.detail or problem.title
        else:
            if view is not None:
                query = view.href.partition("?")[2]
                facts = {"org": self._org_id(), "page": self._page(), "name": view.name, "query": query}
                await self._notify_undoable(f'View "{view.name}" deleted', facts)
        await self._read()

    async def _undo(self, facts: dict[str, str]) -> Next:
        wanted = {name: facts[name] for name in ("page", "name", "query")}
        await self._api.save_view(facts["org"], body(SavedViewCreate, wanted))
        await self._notify(f'View "{facts["name"]}" is back')
        if self.is_open:
            await self._read()

    async def _read(self) -> None:
        try:
            found = await self._api.list_saved_views(self._org_id(), page=self._page(), limit=50)
        except ApiProblem as problem:
            self.problem = problem.detail or problem.title
            return
        self.problem, shown = "", self._shown()
        self.views = [self._link(view, shown) for view in found.saved_views]
        self.can_save = bool(shown) and not any(view.is_shown for view in self.views)

    def _link(self, view: SavedView, shown: str) -> ViewLink:
        path = f"/o/{self._org_id()}/{self._page()}"
        return ViewLink(str(view.id), view.name, f"{path}?{view.query}", view.query == shown)

    def _page(self) -> str:
        return str(self.router.url.path.rstrip("/").rpartition("/")[2])

    def _shown(self) -> str:
        """Return the view in the page's URL, its parameters in a fixed order."""
        given = parse_qsl(self.router.url.query)
        return urlencode(sorted((name, value) for name, value in given if name not in NOT_SAVED))
