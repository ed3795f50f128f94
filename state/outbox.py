"""Mails: with their text where they are kept instead of sent, otherwise how far they are."""

import re
from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.mail.schemas import MailStatus
from state.paging import Pages

LINK = re.compile(r"https?://[^\s/]+(/o/[\w/-]+)")


@dataclass
class Mail:
    """A mail: the text before its link, the link as written and as a path of this console, the text after it. Of a
    private one that was kept, `command` is what gives its text to the operator."""

    id: str
    subject: str
    recipient: str
    created_at: str
    status: str
    failure: str
    before: str
    link: str
    path: str
    after: str
    is_private: bool
    command: str


class OutboxState(Pages, rx.State):
    """The organization's mails, newest first."""

    rows: list[Mail] = []

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api("GET", "/orgs/{org}/outbox", params={"cursor": cursor})
        self.rows = [_mail(record) for record in page["mails"]]
        next_cursor: str | None = page["nextCursor"]
        return next_cursor

    @rx.event
    async def load(self):
        """Read the first page."""
        await self._restart()


def _mail(record: dict[str, Any]) -> Mail:
    told = (record[name] or "" for name in ("id", "subject", "recipient", "created_at", "status", "failure"))
    is_private = record["is_private"]
    command = f"signum outbox --to {record['recipient']}" if is_private and record["status"] == MailStatus.KEPT else ""
    return Mail(*told, *parts_of(record["body"] or ""), is_private, command)


def parts_of(body: str) -> tuple[str, str, str, str]:
    """A mail's text around its link: before, the link, its path, after."""
    found = LINK.search(body)
    if found is None:
        return body.strip(), "", "", ""
    return body[: found.start()].strip(), found.group(), found.group(1), body[found.end() :].strip()
