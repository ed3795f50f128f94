"""Emails: with their text if they were not sent, otherwise with their delivery status."""

import re
from dataclasses import dataclass

import reflex as rx

from backend.mail.schemas import Mail, MailStatus
from state.core.dates import stamp
from state.core.paging import Pages

LINK = re.compile(r"https?://[^\s/]+(/o/[\w/-]+)")


@dataclass
class MailView:
    """An email: the text before its link, the link as written and as a path of this console, the text after it. For a
    private email that was not sent, `command` prints its text to the operator."""

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
    """The organization's emails, newest first."""

    rows: list[MailView] = []

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api.list_outbox(self._org_id(), cursor=cursor or None)
        self.rows = [mail_view(mail) for mail in page.mails]
        return page.nextCursor


def mail_view(mail: Mail) -> MailView:
    """Convert the API's email."""
    before, link, path, after = parts_of(mail.body or "")
    is_printable = mail.is_private and mail.status is MailStatus.KEPT
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
        after=after,
        is_private=mail.is_private,
        command=f"signum outbox --to {mail.recipient}" if is_printable else "",
    )


def parts_of(body: str) -> tuple[str, str, str, str]:
    """Split an email's text at its link: text before, link, path, text after."""
    found = LINK.search(body)
    if found is None:
        return body.strip(), "", "", ""
    return body[: found.start()].strip(), found.group(), found.group(1), body[found.end() :].strip()
