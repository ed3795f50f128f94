"""Reading the log: by page, filtered, and only as far as the credential may read what an entry is about."""

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
from backend.errors import BadRequest
from backend.fields import Moment
from backend.keyset import Page, decode_parts, encode_parts
from backend.members.models import UserRow

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
    "distribution": Scope.ASSETS_READ,
}
"""What a credential needs to read records of a kind, and so what the log tells of them; orgs:read for any other."""
ACTION = r"^[a-z_]+(\.[a-z_]+)?$"


@dataclass
class Filter:
    """Which entries (`?action=&actor=&subject=&since=&until=`)."""

    action: Annotated[
        str | None, Query(pattern=ACTION, max_length=60, description="`asset.updated`, or `asset` for all of its kind.")
    ] = None
    actor: Annotated[UUID | None, Query(description="Id of the person who answers for it.")] = None
    subject: Annotated[str | None, Query(max_length=100, description="Id of what was changed.")] = None
    since: Annotated[Moment | None, Query(description="From this time on.")] = None
    until: Annotated[Moment | None, Query(description="Before this time.")] = None

    def apply(self, query: sa.Select[Any]) -> sa.Select[Any]:
        """The query for these entries only."""
        if self.action is not None:
            exact = LOG.c.action == self.action
            query = query.where(
                exact if "." in self.action else LOG.c.action.startswith(f"{self.action}.", autoescape=True)
            )
        if self.actor is not None:
            query = query.where(LOG.c.actor == self.actor)
        if self.subject is not None:
            if "\0" in self.subject:
                raise BadRequest("subject has a NUL character.")
            query = query.where(LOG.c.subject_id == self.subject)
        if self.since is not None:
            query = query.where(LOG.c.at >= self.since)
        return query if self.until is None else query.where(LOG.c.at < self.until)


async def page(context: Context, page: Page, wanted: Filter) -> AuditList:
    """A page of the organization's log, newest first."""
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
        raise BadRequest("The cursor is not one of this list.")
    return int(seq)


def query(organization_id: UUID, wanted: Filter, before: int | None, limit: int) -> sa.Select[Any]:
    """Entries below a place, newest first, with the names of whoever made them."""
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
    """An entry as a credential with these scopes may see it; `names` are those of `subjects.names`."""
    withheld = READ_WITH.get(row.subject_type, Scope.ORGS_READ) not in scopes
    values = dict(row._mapping) | {"subject_name": names.get((row.subject_type, row.subject_id))}
    if withheld:
        values |= {"subject_name": None, "before": None, "after": None}
    return AuditEntry(**values, subject=AuditSubject(type=row.subject_type, id=row.subject_id), withheld=withheld)
