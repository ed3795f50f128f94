"""Audit. Made by `make client` from backend/openapi.json."""

from backend.audit.schemas import AuditEntry, AuditList, AuditVerification
from backend.client.connection import Connection, Id, path
from backend.client.content import Download
from backend.client.pages import Pages


class AuditOperations(Connection):
    """Audit."""

    def list_audit(
        self,
        org_id: Id,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        action: str | None = None,
        actor: Id | None = None,
        subject: str | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> Pages[AuditList, AuditEntry]:
        """Who changed what, and how: every change of the organization, newest first.

        Each entry carries the hash of the one before it, so that none can be altered or taken out unseen. What
        was changed is shown to a credential that may read such records; `withheld` says where it may not.

        Scope: `orgs:read`.
        """
        return self._pages(
            AuditList,
            "audit",
            path("/orgs/{}/audit", org_id),
            {
                "limit": limit,
                "cursor": cursor,
                "action": action,
                "actor": actor,
                "subject": subject,
                "since": since,
                "until": until,
            },
        )

    async def verify_audit(self, org_id: Id) -> AuditVerification:
        """Compute every hash of the log again, and say whether the chain is whole, or where it is first broken and
        why.

        Scope: `orgs:read`.
        """
        return await self._send(AuditVerification, "GET", path("/orgs/{}/audit/verify", org_id))

    def export_audit(
        self,
        org_id: Id,
        *,
        action: str | None = None,
        actor: Id | None = None,
        subject: str | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> Download:
        """The log as CSV, streamed, newest first, with the same filters and as much of each entry as the list
        shows.

        `before` and `after` are JSON. A cell that a spreadsheet would take for a formula begins with an
        apostrophe.

        Scope: `orgs:read`.
        """
        return self._download(
            path("/orgs/{}/audit.csv", org_id),
            query={"action": action, "actor": actor, "subject": subject, "since": since, "until": until},
        )
