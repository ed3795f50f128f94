"""Quotas of one organization: without them, one tenant could fill the disk or multiply its rate limits."""

from uuid import UUID

import sqlalchemy as sa

from backend.core import locks
from backend.core.db import Write
from backend.core.errors import Conflict
from backend.core.locks import Purpose
from backend.core.roots import origin_of, root_of
from backend.core.settings import settings
from backend.limits import rate_limits

API_KEYS = 200
"""Active keys of an organization: neither revoked nor expired. Each has its own rate limit."""
OAUTH_CLIENTS = 100
"""OAuth clients of an organization."""
SERVER_WALLETS = 100
"""Wallets of an organization whose keys Signum holds. With AWS KMS, the operator pays for each key."""
DOCUMENT_SHARES = 5
"""How many organizations' quotas of documents a hierarchy has."""
ENDPOINTS_ABOVE = 20
"""Webhook endpoints with `include_descendants` that receive the events of one organization: each event is a row and a
request for each of them. A delivery takes a processor for 14 ms."""


async def check(session: Write, organization_id: UUID, count: sa.Select[int], most: int, what: str) -> None:
    """Raise Conflict (409) if the organization has reached its quota. Concurrent additions wait for each other."""
    await queue(session, organization_id)
    if (await session.scalar(count) or 0) >= most:
        raise Conflict(f"An organization has at most {most} {what} first.")


async def check_receivers(session: Write, organization_id: UUID) -> None:
    """Raise Conflict (409) if events of an organization, or of one below it, reach too many webhook endpoints with
    `include_descendants`.

    Call it after the change, with the lock on the hierarchy.
    """
    text = sa.text("select signum_most_receivers(:id)")
    if (await session.scalar(text, {"id": organization_id}) or 0) > ENDPOINTS_ABOVE:
        raise Conflict(
            f"Events of one organization would reach more than {ENDPOINTS_ABOVE} webhook endpoints with "
            "include_descendants. Turn it off for some endpoints of the organizations above, or delete them."
        )


async def check_recipients(session: Write, organization_id: UUID, more: int = 0) -> None:
    """Raise Conflict (409) if the recipients of distributions, with `more`, exceed the quota of the organization's
    hierarchy."""
    found = sa.text("select signum_stored_recipients(:id)")
    most = settings().distribution_recipients
    if (await session.scalar(found, {"id": organization_id}) or 0) + more > most:
        raise Conflict(
            f"A root organization and those below it store at most {most:,} recipients of distributions on this "
            "server. Delete drafts, or ask its operator to raise the limit (SIGNUM_DISTRIBUTION_RECIPIENTS)."
        )


async def check_documents(session: Write, organization_id: UUID, more: int) -> None:
    """Raise Conflict (409) if the bytes of documents, with `more`, exceed the quota of the organization's hierarchy.

    Concurrent uploads to several organizations may exceed it by their own bytes.
    """
    most = DOCUMENT_SHARES * settings().document_bytes
    stored = await session.scalar(sa.text("select signum_stored_documents(:id)"), {"id": organization_id})
    if (stored or 0) + more > most:
        raise Conflict(
            f"A root organization and those below it store at most {most:,} bytes of documents on this server. Its "
            "operator can raise the limit (SIGNUM_DOCUMENT_BYTES)."
        )


async def queue_recipients(session: Write, organization_id: UUID) -> None:
    """Serialize what counts for the same quota on recipients, until the transaction ends."""
    await locks.wait(session, Purpose.RECIPIENTS, await root_of(session, organization_id))


async def count_recipients(session: Write, organization_id: UUID, count: int) -> None:
    """Count recipients before they are written. Raises TooManyRequests if the hierarchy, or the new hierarchies of its
    origin, have reached the daily limit."""
    limit = rate_limits.RECIPIENTS_BELOW
    names = [("recipients below", str(await root_of(session, organization_id)))]
    if origin := await origin_of(session, organization_id):
        names.append(("recipients of origin", str(origin)))
    rule = (
        f"A root organization and those below it write at most {limit.amount:,} recipients a day together, and so do "
        "all new organizations whose founders' accounts come from one organization."
    )
    for ask in (rate_limits.check, rate_limits.hit):
        for name in names:
            await ask(limit, *name, cost=count, rule=rule)


async def queue(session: Write, organization_id: UUID) -> None:
    """Serialize additions to an organization until the transaction ends."""
    await session.execute(sa.text("select signum_queue(:id)"), {"id": organization_id})


async def count_root(origin: UUID) -> None:
    """Count a new root organization. Raises TooManyRequests if the people of its founder's origin have reached their
    daily limit."""
    limit = rate_limits.ORGANIZATIONS_OF_ORIGIN
    rule = (
        f"People whose accounts come from one organization found at most {limit.amount} organizations a day together."
    )
    await rate_limits.hit(limit, "organizations", str(origin), rule=rule)


async def count_organization(session: Write, parent_id: UUID) -> None:
    """Count a new organization below another one. Raises TooManyRequests if the hierarchy has reached its daily
    limit."""
    root = await root_of(session, parent_id)
    await rate_limits.hit(rate_limits.ORGANIZATIONS_BELOW, "organizations below", str(root))
