"""The user's sessions."""

from dataclasses import dataclass
from typing import ClassVar

import reflex as rx

from backend.client import ApiProblem
from backend.sign_in.schemas import Session
from state.core.arguments import id_of
from state.core.dates import stamp
from state.core.paging import Pages

KINDS = {"browser": "Browser", "token": "Program", "application": "Application"}


@dataclass
class SessionView:
    """One session of the user."""

    id: str
    kind: str
    name: str
    address: str
    is_current: bool
    last_used_at: str
    signed_in_at: str


class SessionsState(Pages, rx.State):
    """The list of sessions, in keyset pages."""

    rows: list[SessionView] = []
    _sorts: ClassVar[tuple[str, ...]] = ("created_at",)

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api.list_sessions(cursor=cursor or None, **self._order())
        self.rows = [session_view(session) for session in page.sessions]
        return page.nextCursor

    @rx.event
    async def end(self, session_id: str) -> None:
        """End a session."""
        if id := id_of(session_id):
            try:
                await self._api.end_session(id)
                await self._notify("Session signed out")
            except ApiProblem as problem:
                await self._notify("The session had already ended", problem.detail, "warn")
        await self._restart()


class SignOutEverywhere(rx.State):
    """The confirmation before all sessions end. A native form post ends them, because only that clears the cookie."""

    is_open: bool = False

    @rx.event
    def show(self, is_open: bool) -> None:
        """Open or close the dialog."""
        self.is_open = bool(is_open)

    def _leave(self) -> None:
        self.is_open = False


def session_view(session: Session) -> SessionView:
    """Convert the API's session."""
    return SessionView(
        id=str(session.id),
        kind=KINDS.get(session.kind, session.kind),
        name=session.client_name or agent(session.user_agent or ""),
        address=session.address or "",
        is_current=session.current,
        last_used_at=stamp(session.last_used_at),
        signed_in_at=stamp(session.signed_in_at),
    )


def agent(text: str) -> str:
    """Return a browser's name from its user agent; for other programs, the first word."""
    for mark, name in (("Edg/", "Edge"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari")):
        if mark in text:
            return name
    return text.split("/")[0][:40] or "Unknown"
