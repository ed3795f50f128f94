"""Edits of records that another person may change at the same time."""

from collections.abc import Iterator

from backend.client import ApiProblem
from state.core.api import Form

CONFLICT = (
    "Another person changed this after you opened it, so nothing was saved. Save again to apply your change to it."
)

RELOADED = "Another person changed this after you opened it, so nothing was saved. The page shows the current values."


def differences(old: dict[str, str], new: dict[str, str]) -> Iterator[dict[str, str]]:
    """Yield the differences of texts by name, as `components.ui.progress.diff` draws them."""
    for name, value in new.items():
        if value != old[name]:
            yield {"name": name, "old": old[name], "new": value}


class Edits(Form, mixin=True):
    """Mixin of a form that changes a record. Implement `_current`.

    A change names the version of the record that the form began with. If another person has changed the record since,
    nothing is saved and `others` shows what changed; the next attempt applies to the current record. So a form sends
    only the fields that its user changed.
    """

    others: list[dict[str, str]] = []
    _version: str = ""
    _known: dict[str, str] = {}

    async def _current(self) -> dict[str, str]:
        """Read the record; return what its version consists of as texts, by their names on the page."""
        raise NotImplementedError

    async def _latest(self) -> tuple[dict[str, str], str]:
        """Return the texts and the version of the record."""
        with self._api.response_headers() as headers:
            texts = await self._current()
        return texts, headers["etag"]

    async def _start(self) -> None:
        """Begin with the record as it is now. Raises ApiProblem."""
        self._known, self._version = await self._latest()

    def _begin(self) -> None:
        self.others = []
        super()._begin()

    def _done(self) -> None:
        self.others = []
        super()._done()

    async def _reject(self, problem: ApiProblem, *fields: str) -> None:
        """Show a refusal, with findings about `fields` at these; if the record has changed, show what changed."""
        self._refused(problem)
        self._keep_at(*fields)
        if problem.status != 412:
            return
        try:
            texts, version = await self._latest()
        except ApiProblem as gone:
            self.form_problem = gone.detail or gone.title
            return
        self.others = list(differences(self._known, texts))
        self._known, self._version, self.form_problem = texts, version, CONFLICT
