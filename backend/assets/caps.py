"""Caps over several chains: each chain enforces its share in its own rules, and the shares follow the holdings."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from backend.assets import deployment, holders, records
from backend.assets.models import DeploymentRow
from backend.assets.rules import Held, Terms
from backend.assets.terms import token_rules
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.indexer import indexer
from backend.chain.rpc.json_rpc import connect
from backend.core.errors import Conflict
from backend.requests.workflows import Run, StepNotes

ROUNDS = 5
"""How often holders may change during the process before it fails."""


def are_set(terms: Terms) -> bool:
    """Return whether there is any cap to share."""
    return bool(terms.max_holders or int(terms.compliance_rules.max_tokens_per_holder))


async def held(run: Run, asset_id: UUID) -> Held:
    """Return current holdings on the chains, each read up to its newest block."""
    async with run.transaction() as session:
        rows = records.active(await records.deployments(session, asset_id))
    for row in rows:
        await indexer.catch_up(row.chain_eid, await (await connect(row.chain_eid)).height())
    async with run.transaction() as session:
        return await holders.by_chain(session, run.organization_id, asset_id)


async def share_out(run: Run, step: StepNotes, asset_id: UUID, terms: Terms, key: str) -> Held:
    """Set every chain's share, until the holdings afterwards match those the shares were made for; return the holdings.

    New holders may appear while the shares are being set. Once they are set, no chain exceeds its own, so a check
    without changes proves that the sum is kept.
    """
    for _ in range(ROUNDS):
        there = await held(run, asset_id)
        async with run.transaction() as session:
            rows = await records.deployments(session, asset_id)
        chains = records.sharing(rows)
        wanted = {row.chain_eid: token_rules(terms, chains, row.chain_eid, there) for row in records.active(rows)}
        written = False
        for row in lower_first(records.active(rows), wanted):
            rules = wanted[row.chain_eid]
            part = f"{key}:{rules.max_holders}:{rules.max_tokens_per_holder}"
            written |= await deployment.set_rules(run, step, row, rules, part)
        if not written:
            return there
    raise Conflict("Holders keep changing while the maximum is shared among the chains. Retry later.")


def lower_first(rows: Sequence[DeploymentRow], wanted: Mapping[int, TokenRules]) -> list[DeploymentRow]:
    """Order chains whose share decreases before those whose share increases, so that the sum is not exceeded in
    between."""

    def growth(row: DeploymentRow) -> int:
        before = int((row.applied_rules or {}).get("max_holders", 0))
        return wanted[row.chain_eid].max_holders - before

    return sorted(rows, key=growth)
