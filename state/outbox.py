"""Mails of an embedded installation, which sends none: the console shows them instead."""

import re
from dataclasses import dataclass

import reflex as rx

from state.paging import Pages

LINK = re.compile(r"https?://[^\s/]+(/(?:invitation|reset-password)\?token=[\w-]+)")


@dataclass
class Mail:
    """A mail: the text before its link, the link as written and as a path of this console, the text after it."""

    id: str
    subject: str
    recipient: str
    created_at: str
    before: str
    link: str
    path: str
    after: str


class OutboxState(Pages, rx.State):
    """The organization's mails, newest first."""

    rows: list[Mail] = []

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api("GET", "/orgs/{org}/outbox", params={"cursor": cursor})
        self.rows = [
            Mail(m["id"], m["subject"], m["recipient"], m["created_at"], *parts_of(m["body"])) for m in page["mails"]
        ]
        next_cursor: str | None = page["nextCursor"]
        return next_cursor

    @rx.event
    async def load(self):
        """Read the first page."""
        await self._restart()


def parts_of(body: str) -> tuple[str, str, str, str]:
    """A mail's text around its link: before, the link, its path, after."""
    found = LINK.search(body)
    if found is None:
        return body.strip(), "", "", ""
    return body[: found.start()].strip(), found.group(), found.group(1), body[found.end() :].strip()
