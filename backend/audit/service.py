"""Queries of the log: paged, filtered, and limited to what the credential may read."""

from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

import sqlalchemy as sa
from fastapi import Query
from sqlmodel import col

from backend.audit import subjects
from backend.audit.models import AuditRow
from backend.audit.schemas import AuditEntry, AuditList, AuditSubject
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.core.errors import BadRequest
from backend.core.fields import Moment
from backend.lists.pages import Listing, Page
from backend.requests import titles
from backend.users.models import UserRow

LOG = sa.inspect(AuditRow).local_table
LIST = Listing(
    {"seq": LOG.c.seq},
    tie=LOG.c.seq,
    created=LOG.c.at,
    names=(LOG.c.action, col(UserRow.display_name), col(UserRow.email)),
    codes=(LOG.c.subject_id, LOG.c.request_id, LOG.c.hash),
)
"""`q` does not search what an entry may withhold."""
READ_WITH = {
    "party": Scope.ATTESTATIONS_READ,
    "document": Scope.ATTESTATIONS_READ,
    "issuer": Scope.ATTESTATIONS_READ,
    "attestation": Scope.ATTESTATIONS_READ,
    "member": Scope.MEMBERS_READ,
    "invitation": Scope.MEMBERS_READ,
    "user": Scope.MEMBERS_READ,
    "session": Scope.MEMBERS_READ,
    "api_key": Scope.API_KEYS_READ,
    "oauth_client": Scope.API_KEYS_READ,
    "wallet": Scope.WALLETS_READ,
    "chain": Scope.CHAINS_READ,
    "transfer": Scope.TRANSFERS_READ,
    "asset": Scope.ASSETS_READ,
    "bridge": Scope.ASSETS_READ,
    "market": Scope.ASSETS_READ,
    "order": Scope.ASSETS_READ,
    "trade": Scope.ASSETS_READ,
    "distribution": Scope.ASSETS_READ,
}
"""The scope with which a credential may read the log's details of a kind of record; orgs:read for any other. Those of
a request and its approval are read like its title."""
MAX_SEQ = 2**53 - 1
"""Numbers that JSON carries exactly everywhere."""
ACTION = r"^[a-z_]+(\.[a-z_]+)?$"


@dataclass
class Filter:
    """Filters of entries (`?seq=&action=&actor=&subject=&since=&until=`)."""

    seq: Annotated[
        int | None, Query(ge=1, le=MAX_SEQ, description="Number of one entry, as in a link to it.", examples=[1204])
    ] = None

    action: Annotated[
        str | None,
        Query(pattern=ACTION, max_length=60, description="`asset.updated`, or `asset` for all actions on assets."),
    ] = None
    actor: Annotated[UUID | None, Query(description="ID of the responsible person.")] = None
    subject: Annotated[str | None, Query(max_length=100, description="ID of the changed object.")] = None
    since: Annotated[Moment | None, Query(description="At or after this time.")] = None
    until: Annotated[Moment | None, Query(description="Before this time.")] = None

    def apply(self, query: sa.Select[Any]) -> sa.Select[Any]:
        """Return the query restricted to these entries."""
        if self.seq is not None:
            query = query.where(LOG.c.seq == self.seq)
        if self.action is not None:
            exact = LOG.c.action == self.action
            query = query.where(
                exact if "." in self.action else LOG.c.action.startswith(f"{self.action}.", autoescape=True)
            )
        if self.actor is not None:
            query = query.where(LOG.c.actor == self.actor)
        if self.subject is not None:
            if "\0" in self.subject:
                raise BadRequest("subject contains a NUL character.")
            query = query.where(LOG.c.subject_id == self.subject)
        if self.since is not None:
            query = query.where(LOG.c.at >= self.since)
        return query if self.until is None else query.where(LOG.c.at < self.until)


async def page(context: Context, page: Page, wanted: Filter) -> AuditList:
    """Return a page of the organization's log."""
    name = sa.func.coalesce(col(UserRow.display_name), col(UserRow.email)).label("actor_name")
    mine = LOG.c.organization_id == context.organization_id
    query = sa.select(LOG, name).outerjoin(UserRow, col(UserRow.id) == LOG.c.actor).where(mine)
    shown, paging = await page.read(context.session, wanted.apply(query))
    # The names of deleted subjects are in their newest entries.
    names = await subjects.names(context.session, sorted(shown, key=lambda row: -row.seq))
    kinds = await subjects.request_kinds(context.session, shown)
    return AuditList(audit=[_entry(r, _withholds(r, context.scopes, kinds), names) for r in shown], **paging)


def _withholds(row: Any, scopes: frozenset[Scope], kinds: dict[str, str]) -> bool:
    """Return whether an entry's values and name are hidden from a credential with these scopes.

    A request without a kind was deleted: its entries are shown to those who may read every request.
    """
    if row.subject_type not in subjects.OF_REQUESTS:
        return READ_WITH.get(row.subject_type, Scope.ORGS_READ) not in scopes
    kind = kinds.get(row.subject_id)
    return bool(titles.hidden(scopes)) if kind is None else not titles.is_readable(scopes, kind)


def _entry(row: Any, withheld: bool, names: subjects.Names) -> AuditEntry:
    """Return an entry; `names` come from `subjects.names`."""
    values = dict(row._mapping) | {"subject_name": names.get((row.subject_type, row.subject_id))}
    if withheld:
        values |= {"subject_name": None, "before": None, "after": None}
    return AuditEntry(**values, subject=AuditSubject(type=row.subject_type, id=row.subject_id), withheld=withheld)
