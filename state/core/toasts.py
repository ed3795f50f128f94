"""Toasts: a list that the browser shows and clears."""

from dataclasses import dataclass
from typing import Literal
from uuid import uuid4

import reflex as rx

Tone = Literal["ok", "bad", "warn", "info", "busy"]


@dataclass
class Notice:
    """One toast; `href` is a path of the console."""

    id: str
    title: str
    detail: str = ""
    tone: str = "ok"
    href: str = ""
    link: str = ""


class Notices(rx.State):
    """At most four toasts, newest last."""

    items: list[Notice] = []

    def _add(self, title: str, detail: str = "", tone: Tone = "ok", href: str = "", link: str = "") -> None:
        self.items = [*self.items[-3:], Notice(uuid4().hex, title, detail, tone, href, link)]

    @rx.event
    def close(self, notice_id: str) -> None:
        """Remove a toast."""
        self.items = [item for item in self.items if item.id != notice_id]

    @rx.event
    def apologize(self) -> None:
        """Report an error on our side; its cause goes to the log, not to the browser."""
        self._add("Something went wrong on our side", "Try again. If it keeps failing, check the server's log.", "bad")
