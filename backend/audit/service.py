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
from backend.core.pagination import Page, decode_parts, encode_parts
from backend.users.models import UserRow

LOG = sa.inspect(AuditRow).local_table
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
"""The scope with which a credential may read the log's details of a kind of record; orgs:read for any other."""
ACTION = r"^[a-z_]+(\.[a-z_]+)?$"


@dataclass
class Filter:
    """Filters of entries (`?action=&actor=&subject=&since=&until=`)."""

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
    """Return a page of the organization's log, newest first."""
    before = _before(page.cursor)
    rows = (await context.session.execute(query(context.organization_id, wanted, before, page.limit + 1))).all()
    shown = rows[: page.limit]
    following = encode_parts(str(shown[-1].seq)) if len(rows) > page.limit else None
    names = await subjects.names(context.session, shown)
    return AuditList(audit=[entry(r, context.scopes, names) for r in shown], nextCursor=following)


def _before(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    (seq,) = decode_parts(cursor, 1)
    if not seq.isascii() or not seq.isdigit() or len(seq) > 18:
        raise BadRequest("The cursor is not valid for this list. Start again without one.")
    return int(seq)


def query(organization_id: UUID, wanted: Filter, before: int | None, limit: int) -> sa.Select[Any]:
    """Return the query of entries below a sequence number, newest first, with their actors' names."""
    name = sa.func.coalesce(col(UserRow.display_name), col(UserRow.email)).label("actor_name")
    found = (
        sa.select(LOG, name)
        .outerjoin(UserRow, col(UserRow.id) == LOG.c.actor)
        .where(LOG.c.organization_id == organization_id)
        .order_by(LOG.c.seq.desc())
        .limit(limit)
    )
    found = wanted.apply(found)
    return found if before is None else found.where(LOG.c.seq < before)


def entry(row: Any, scopes: frozenset[Scope], names: subjects.Names) -> AuditEntry:
    """Return an entry as a credential with these scopes may see it; `names` come from `subjects.names`."""
    withheld = READ_WITH.get(row.subject_type, Scope.ORGS_READ) not in scopes
    values = dict(row._mapping) | {"subject_name": names.get((row.subject_type, row.subject_id))}
    if withheld:
        values |= {"subject_name": None, "before": None, "after": None}
    return AuditEntry(**values, subject=AuditSubject(type=row.subject_type, id=row.subject_id), withheld=withheld)
