"""Caps over several chains: each has its part in its own rules, and the parts follow what is held where."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from backend.assets import deploying, holders, records
from backend.assets.models import DeploymentRow
from backend.assets.rules import Held, Terms
from backend.assets.terms import token_rules
from backend.chain import indexer
from backend.chain.rpc import connect
from backend.chain.rule_sets import TokenRules
from backend.errors import Conflict
from backend.workflows import Run, StepNotes

ROUNDS = 5
"""How often holders may come and go under our hands before we give up."""


def are_set(terms: Terms) -> bool:
    """Whether there is anything to share."""
    return bool(terms.max_holders or int(terms.compliance_rules.max_tokens_per_holder))


async def held(run: Run, asset_id: UUID) -> Held:
    """What is held on the chains now, every one read up to its newest block."""
    async with run.transaction() as session:
        rows = records.active(await records.deployments(session, asset_id))
    for row in rows:
        await indexer.catch_up(row.chain_eid, await (await connect(row.chain_eid)).height())
    async with run.transaction() as session:
        return await holders.by_chain(session, run.organization_id, asset_id)


async def share_out(run: Run, step: StepNotes, asset_id: UUID, terms: Terms, key: str) -> Held:
    """Put every chain's part in force, until what is held then is what the parts were made for; what is held.

    Somebody may have come to hold while the parts were on their way. Once they are in force, no chain grows beyond its
    own, so a look that changes nothing shows that the sum is kept.
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
            written |= await deploying.set_rules(run, step, row, rules, part)
        if not written:
            return there
    raise Conflict("Holders keep coming and going while the maximum is shared among the chains; try again.")


def lower_first(rows: Sequence[DeploymentRow], wanted: Mapping[int, TokenRules]) -> list[DeploymentRow]:
    """Chains that get less before those that get more, so that the sum is not exceeded in between."""

    def growth(row: DeploymentRow) -> int:
        before = int((row.applied_rules or {}).get("max_holders", 0))
        return wanted[row.chain_eid].max_holders - before

    return sorted(rows, key=growth)
