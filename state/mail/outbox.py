"""Emails: with their text if they were not sent, otherwise with their delivery status."""

import re
from dataclasses import dataclass
from typing import ClassVar

import reflex as rx

from backend.mail.schemas import Mail, MailStatus
from state.core.address import Param, written
from state.core.dates import stamp
from state.core.paging import Pages

LINK = re.compile(r"https?://[^\s/]+(/o/[\w/-]+)")
ONE_TIME_LINK = re.compile(r"https?://\S+\?token=\S+")


@dataclass
class MailView:
    """An email: the text before its link, the link as written and as a path of this console, the text after it.

    `secret` is the one-time link of a private email instead. `is_hidden`: the text is only for its recipient.
    `is_over`: it is not shown, because its link no longer works.
    """

    id: str
    subject: str
    recipient: str
    created_at: str
    status: str
    failure: str
    before: str
    link: str
    path: str
    secret: str
    after: str
    is_hidden: bool
    is_over: bool


class OutboxState(Pages, rx.State):
    """The organization's emails, newest first."""

    rows: list[MailView] = []
    words: str = ""
    _in_url: ClassVar[dict[str, Param]] = {"q": written("words")}
    keeps: bool = False
    """Whether an email on this page was kept instead of sent."""

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api.list_outbox(self._org_id(), q=self.words or None, cursor=cursor or None)
        self.rows = [mail_view(mail) for mail in page.mails]
        self.keeps = any(mail.status is MailStatus.KEPT for mail in page.mails)
        return page.nextCursor

    @rx.event(supersedes=True)
    async def search(self, words: str) -> None:
        """Search by receiver or subject."""
        self.words = str(words).strip()[:100]
        await self._restart()


def mail_view(mail: Mail) -> MailView:
    """Convert the API's email."""
    before, link, path, secret, after = parts_of(mail.body or "")
    return MailView(
        id=str(mail.id),
        subject=mail.subject,
        recipient=mail.recipient,
        created_at=stamp(mail.created_at),
        status=mail.status,
        failure=mail.failure or "",
        before=before,
        link=link,
        path=path,
        secret=secret,
        after=after,
        is_hidden=mail.is_private and mail.body is None,
        is_over=mail.is_private and mail.body == "",
    )


def parts_of(body: str) -> tuple[str, str, str, str, str]:
    """Split an email's text at its link: text before, link, path, one-time link, text after."""
    found = LINK.search(body) or ONE_TIME_LINK.search(body)
    if found is None:
        return body.strip(), "", "", "", ""
    before, after = body[: found.start()].strip(), body[found.end() :].strip()
    if found.re is LINK:
        return before, found.group(), found.group(1), "", after
    return before, "", "", found.group(), after
