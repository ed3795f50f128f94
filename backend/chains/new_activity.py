"""New activity: only on chains that the organization has enabled. Work in progress on other chains finishes."""

from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.principal import Context
from backend.chain.chain_models import ChainRow
from backend.chains import rules
from backend.chains.models import OrganizationChainRow
from backend.core.errors import PrerequisitesNotMet


async def check(context: Context, *eids: int, also: Sequence[dict[str, Any]] = ()) -> None:
    """Raise 409 with every prerequisite if one is not satisfied: `chain_enabled` of each chain, and the others of the
    same operation (`also`).

    Disabling one of them waits until the transaction ends, so nothing starts after it.
    """
    enabled = await _locked(context, eids)
    open_ones = [entry["detail"] for entry in also if not entry["satisfied"]]
    if not open_ones and enabled.issuperset(eids):
        return
    rows = await _chains(context, eids)
    missing = [row.display_name for row in rows if row.xchain_eid not in enabled]
    if missing or open_ones:
        entries = [
            rules.enabled_entry(context.organization_id, row.id, row.display_name, is_enabled=row.xchain_eid in enabled)
            for row in rows
        ]
        raise PrerequisitesNotMet([*entries, *also], " ".join([*rules.not_enabled(missing), *open_ones]))


async def disabled_names(context: Context, eids: Collection[int]) -> dict[int, str]:
    """Return endpoint ID to the name of those chains that the organization has not enabled."""
    used = sa.select(col(OrganizationChainRow.chain_id)).where(
        col(OrganizationChainRow.organization_id) == context.organization_id
    )
    return {row.xchain_eid: row.display_name for row in await _chains(context, eids, col(ChainRow.id).not_in(used))}


_IN_PROGRESS = sa.text(
    "select s.chain_eid, count(distinct r.id) as requests from requests r join request_steps s on s.request_id = r.id"
    " where r.organization_id = :organization and r.status in ('accepted', 'running') and s.chain_eid is not null"
    " group by s.chain_eid"
)
"""From the requests' tables, which are above this package."""


async def in_progress(context: Context) -> dict[int, int]:
    """Return endpoint ID to the number of requests that have begun on the chain and finish in any case."""
    found = await context.session.execute(_IN_PROGRESS, {"organization": context.organization_id})
    return {row.chain_eid: row.requests for row in found}


async def _chains(context: Context, eids: Collection[int], *where: sa.ColumnElement[bool]) -> Sequence[Any]:
    query = sa.select(col(ChainRow.id), col(ChainRow.xchain_eid), col(ChainRow.display_name))
    query = query.where(col(ChainRow.xchain_eid).in_(eids), *where).order_by(col(ChainRow.priority))
    return (await context.session.execute(query)).all()


async def _locked(context: Context, eids: Collection[int]) -> set[int]:
    """Return the enabled ones of some chains, and keep them so until the transaction ends."""
    query = sa.select(col(ChainRow.xchain_eid)).where(
        col(ChainRow.id) == col(OrganizationChainRow.chain_id),
        col(OrganizationChainRow.organization_id) == context.organization_id,
        col(ChainRow.xchain_eid).in_(eids),
    )
    locked = query.with_for_update(read=True, key_share=True, of=OrganizationChainRow)
    return set(await context.session.scalars(locked))
