"""Drafts of forms: what a person has entered survives a reload, another device and the next day."""

import json
from typing import Any, ClassVar

import reflex as rx

from backend.client import ApiProblem, body
from backend.drafts.schemas import DraftKind, DraftWrite
from state.core.address import Addressed, Param, choice
from state.core.dates import stamp
from state.core.events import Next


class Drafts(Addressed, mixin=True):
    """Mixin of a form with a draft. Declare `_draft_kind`, and implement `_restore` and `_content`.

    Call `_find_draft()` when the form opens, `_keep_draft()` after a step, and `_drop_draft()` once it is sent.
    """

    draft_at: str = ""
    """When the draft that is offered was saved; empty if none is offered."""
    draft_problem: str = ""
    """Why the last step was not saved."""
    drafting: str = ""
    """`1` once the form has a draft: a reload of that URL continues it without asking."""
    restored: int = 0
    """Incremented when values are put into the form, for fields that keep their own text."""
    _in_url: ClassVar[dict[str, Param]] = {"draft": choice("drafting", ("1",))}
    _draft_kind: ClassVar[DraftKind]
    _found: str = ""
    """The content of the offered draft, as JSON."""

    def _content(self) -> dict[str, Any]:
        """Return what the person has entered."""
        raise NotImplementedError

    async def _restore(self, content: dict[str, Any]) -> Next:
        """Put a draft into the form; return the event to run next. Raises ValueError if the draft no longer fits."""
        raise NotImplementedError

    async def _find_draft(self) -> Next:
        """Offer the person's draft, if any, or continue it if the URL says so; return the event to run next."""
        self._read_url()
        is_continued, self.drafting = bool(self.drafting), ""
        self.restored += 1
        self.draft_at, self.draft_problem, self._found = "", "", ""
        try:
            draft = await self._api.get_draft(self._org_id(), self._draft_kind)
        except ApiProblem:
            return None  # a form works without its draft
        self.draft_at, self._found = stamp(draft.updated_at), draft.content
        return await self._continue() if is_continued else None

    async def _continue(self) -> Next:
        """Put the offered draft into the form, or say that it no longer fits."""
        found, self.draft_at, self._found = self._found, "", ""
        try:
            following = await self._restore(json.loads(found))
            self.drafting, self.restored = "1", self.restored + 1
        except (ApiProblem, ValueError):
            following = None
            await self._notify("The draft no longer fits", "What it was made for has changed. Start over.", "warn")
        return following

    async def _keep_draft(self) -> None:
        """Save what the person has entered, in place of the previous draft."""
        self.draft_at, self._found = "", ""
        try:
            draft = body(DraftWrite, {"content": json.dumps(self._content())})
            await self._api.save_draft(self._org_id(), self._draft_kind, draft)
            self.draft_problem, self.drafting = "", "1"
        except ApiProblem as problem:
            said = next((str(error["detail"]) for error in problem.errors or []), "") or problem.detail or problem.title
            self.draft_problem = f"This draft is not saved: {said}"

    async def _drop_draft(self) -> None:
        """Delete the draft: it was sent, or the person starts over."""
        self.draft_at, self.draft_problem, self.drafting, self._found = "", "", "", ""
        try:
            await self._api.delete_draft(self._org_id(), self._draft_kind)
        except ApiProblem:
            return  # it is deleted after 30 days

    @rx.event
    async def continue_draft(self) -> Next:
        """Continue with the offered draft."""
        return await self._continue() if self.draft_at else None

    @rx.event
    async def start_over(self) -> None:
        """Delete the offered draft and keep the empty form."""
        await self._drop_draft()
