"""Caps over several chains: each chain enforces its share in its own rules, and the shares follow the holdings."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from backend.assets import deployment, holders, records
from backend.assets.models import DeploymentRow
from backend.assets.rules import Held, Terms
from backend.assets.terms import token_rules
from backend.caps import rules as cap_rules
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import token
from backend.chain.indexer import indexer
from backend.chain.rpc.json_rpc import connect
from backend.core.errors import Conflict
from backend.requests.runs import Run, StepNotes

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


async def move(run: Run, asset_id: UUID, terms: Terms) -> None:
    """Set the shares that a person chose, a step for each chain. No share increases before the others have decreased
    and no chain holds more than its new share, so the sum of the shares never exceeds the cap.

    Raises Conflict if holders were added in the meantime; the lower shares stay, which is safe.
    """
    async with run.transaction() as session:
        rows = await records.deployments(session, asset_id)
    chains, there = records.sharing(rows), await held(run, asset_id)
    _check_fits(terms, chains, there)
    wanted = {row.chain_eid: token_rules(terms, chains, row.chain_eid, there) for row in records.active(rows)}
    lower = {row.chain_eid: await _lower(row, wanted[row.chain_eid]) for row in records.active(rows)}
    for row in records.active(rows):
        if lower[row.chain_eid] == wanted[row.chain_eid]:
            await _set(run, row, wanted[row.chain_eid], "rules")
        elif lower[row.chain_eid] != await _rules(row):
            await _set(run, row, lower[row.chain_eid], "lower")
    _check_fits(terms, chains, await held(run, asset_id))
    for row in records.active(rows):
        if lower[row.chain_eid] != wanted[row.chain_eid]:
            await _set(run, row, wanted[row.chain_eid], "rules")


def _check_fits(terms: Terms, chains: Sequence[int], there: Held) -> None:
    if not cap_rules.set_by_hand(terms.caps, terms.cap_shares, chains, there.used):
        raise Conflict("The holders, the caps or the chains have changed. Read the caps, then set the shares again.")


async def _rules(row: DeploymentRow) -> TokenRules:
    assert row.token_address is not None
    return await token.rules(row.chain_eid, row.token_address)


async def _lower(row: DeploymentRow, wanted: TokenRules) -> TokenRules:
    """Return the wanted rules with the stricter of the current and the wanted caps."""
    now = await _rules(row)
    return replace(
        wanted,
        max_holders=_lesser(now.max_holders, wanted.max_holders),
        max_tokens_per_holder=_lesser(now.max_tokens_per_holder, wanted.max_tokens_per_holder),
    )


async def _set(run: Run, row: DeploymentRow, rules: TokenRules, key: str) -> None:
    async with run.step(f"rules_{row.chain_eid}") as step:
        written = await deployment.set_rules(run, step, row, rules, key)
        step.detail = "Read back from the chain." if written else "These limits are set."


def _lesser(one: int, other: int) -> int:
    """Return the stricter of two limits; 0 is no limit."""
    return min(one, other) if one and other else one or other
