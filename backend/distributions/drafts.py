"""Deletion of drafts, with their recipients and tree."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.principal import Context
from backend.chains import service as chains
from backend.distributions import rules, service, states
from backend.distributions.models import DistributionRow
from backend.requests.models import RequestRow

HAS_REQUESTS = sa.exists().where(
    col(RequestRow.subject_type) == "distribution", col(RequestRow.subject_id) == col(DistributionRow.id)
)
"""Whether a request refers to the distribution: it can be retried, and may have made transactions."""


async def deletable(context: Context, asset_id: UUID, distribution_id: UUID) -> DistributionRow:
    """Return the distribution, locked, after every check of a deletion."""
    row = await service.distribution(context, asset_id, distribution_id, lock=True)
    await chains.check_network(context, row.chain_eid)
    query = sa.select(HAS_REQUESTS).where(col(DistributionRow.id) == row.id)
    rules.check_deletable(row.status, bool(await context.session.scalar(query)))
    return row


async def delete(context: Context, asset_id: UUID, distribution_id: UUID) -> None:
    """Delete a draft."""
    await states.delete(context.session, await deletable(context, asset_id, distribution_id))
