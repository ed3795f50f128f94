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
    def close(self, notice_id: str):
        """Take a toast away."""
        self.items = [item for item in self.items if item.id != notice_id]

    @rx.event
    def apologize(self):
        """Say that something failed on our side; the reason is in the log, not in the browser."""
        self._add("Something went wrong on our side", "Try again. If it stays, the server's log says why.", "bad")
