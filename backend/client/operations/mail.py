"""Mail. Made by `make client` from backend/openapi.json."""

from backend.client.connection import Connection, Id, path
from backend.client.content import Download
from backend.client.pages import Pages
from backend.mail.schemas import Mail, Outbox


class MailOperations(Connection):
    """Mail."""

    def list_outbox(self, org_id: Id, *, limit: int | None = None, cursor: str | None = None) -> Pages[Outbox, Mail]:
        """Mails of this organization, newest first, and whether they were sent. Where no mail server is set, an
        embedded installation shows their text here instead, but for what only its recipient may read; any other
        answers 404.

        Scope: `members:write`.
        """
        return self._pages(Outbox, "mails", path("/orgs/{}/outbox", org_id), {"limit": limit, "cursor": cursor})

    def list_outbox_csv(self, org_id: Id) -> Download:
        """`/orgs/{orgId}/outbox` as CSV: every record that its filters leave, in one stream.

        Scope: `members:write`.
        """
        return self._download(path("/orgs/{}/outbox.csv", org_id))
