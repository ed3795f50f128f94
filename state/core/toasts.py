"""Toasts: a list that the browser shows and clears."""

from dataclasses import dataclass, replace
from typing import Literal
from uuid import uuid4

import reflex as rx

Tone = Literal["ok", "bad", "warn", "info", "busy"]


@dataclass
class Notice:
    """One toast; `href` is a path of the console. A toast about a running request has its ids until its result."""

    id: str
    title: str
    detail: str = ""
    tone: str = "ok"
    href: str = ""
    link: str = ""
    request_id: str = ""
    org_id: str = ""
    undo: str = ""
    """The label of its button that undoes the change; empty for none."""


class Notices(rx.State):
    """At most four toasts, newest last."""

    items: list[Notice] = []

    def _add(self, title: str, detail: str = "", tone: Tone = "ok", href: str = "", link: str = "", **of: str) -> None:
        """Show a toast; `of`: the `request_id` and `org_id` of a running request."""
        self.items = [*self.items[-3:], Notice(uuid4().hex, title, detail, tone, href, link, **of)]

    def _running(self) -> dict[str, str]:
        """Return the organizations of the requests whose result a toast awaits, by request."""
        return {item.request_id: item.org_id for item in self.items if item.request_id}

    def _end(self, request_id: str, title: str, detail: str, tone: Tone, href: str = "", link: str = "") -> None:
        """Show the result of a request in its toast; `href` and `link` are those of its next step, if it has one."""
        ended = {"title": title, "detail": detail, "tone": tone, "request_id": ""}
        ended |= {"href": href, "link": link} if href else {}
        self.items = [replace(item, **ended) if item.request_id == request_id else item for item in self.items]

    def _remove(self, notice_id: str) -> None:
        self.items = [item for item in self.items if item.id != notice_id]

    def _add_undoable(self, title: str, detail: str) -> str:
        """Show a toast with "Undo"; return its id."""
        notice = Notice(uuid4().hex, title, detail, undo="Undo")
        self.items = [*self.items[-3:], notice]
        return notice.id

    @rx.event
    def close(self, notice_id: str) -> None:
        """Remove a toast."""
        self._remove(notice_id)

    @rx.event
    def apologize(self) -> None:
        """Report an error on our side; its cause goes to the log, not to the browser."""
        self._add("Something went wrong on our side", "Try again. If it keeps failing, check the server's log.", "bad")
