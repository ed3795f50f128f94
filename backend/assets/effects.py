"""The impact engine: which holders, open orders, claims and markets a change of rules affects, by name.

Every dry run uses it, so that the same question has the same answer in the compliance editor, the market wizard and the
API.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from backend.assets import affected_facts, records
from backend.auth.principal import Context
from backend.chain.abi.rule_sets import TokenRules
from backend.compliance import effect_names, market_effects, standings
from backend.compliance.affected import reasons
from backend.compliance.effect_entries import Entries
from backend.compliance.impact_case import Case, Change, Facts, Owner, wanted
from backend.compliance.impact_schemas import MOST, AsOf, Effects, StandingSource
from backend.compliance.standings import Wanted

Refused = tuple[Owner, list[str], bool]
"""A holder, with the rules that it does not satisfy, and whether it can send."""


async def effects(context: Context, asset_id: UUID, change: Change) -> Effects:
    """Return whom the change affects. Chains are queried: the session's transaction is paused."""
    case = await _case(context, asset_id, change)
    known, (lost, ineligible, unable) = case.known, (list[Refused](), list[Refused](), list[Refused]())
    paying = await affected_facts.distributors(context.session, asset_id)
    for holder in known.holders:
        if holder.address in paying:
            if why := case.payer(holder.chain_eid, holder.address):
                unable.append((holder, why, False))
            continue
        verdict, sends = case.holder(holder.chain_eid, holder.address), case.sends(holder.chain_eid, holder.address)
        if verdict.lost:
            lost.append((holder, reasons(verdict.lost), sends))
        elif verdict.before and verdict.after:
            ineligible.append((holder, reasons(verdict.after), sends))
    orders = case.blocked()
    claims = [
        (claim, reasons(refused))
        for claim in known.claims
        if (refused := case.holder(claim.chain_eid, claim.address, int(claim.amount)).lost)
    ]
    shown = Entries(
        names=await effect_names.names(
            context,
            *(h.address for h, _, _ in [*lost[:MOST], *ineligible[:MOST], *unable[:MOST]]),
            *(o.maker_address for o, _, _ in orders[:MOST]),
            *(c.address for c, _ in claims[:MOST]),
        ),
        chains=await records.chain_names(context.session),
        escrowed=_escrowed(known.orders),
    )
    losing = {holder.address for holder, _, _ in lost}
    others = {holder.address for holder, _, _ in ineligible} - losing
    return Effects(
        as_of=[_as_of(eid, block, shown.chains) for eid, block in case.found.blocks.items()],
        holders_total=len({holder.address for holder in known.holders} - paying),
        holders_excluded_total=len(losing),
        holders_unable_to_send_total=len({holder.address for holder, _, sends in lost if not sends}),
        holders_excluded=[shown.holder(*one) for one in lost[:MOST]],
        holders_ineligible_total=len(others),
        holders_ineligible=[shown.holder(*one) for one in ineligible[:MOST]],
        distributions_unable=[shown.holder(*one) for one in unable[:MOST]],
        orders_total=len(orders),
        orders=[shown.order(*one) for one in orders[:MOST]],
        claims_total=len(claims),
        claims=[shown.claim(*one) for one in claims[:MOST]],
        markets=[] if change.market else await market_effects.halts(context, known, change, shown.chains),
    )


async def ineligible_orders(known: Facts, organization_id: UUID, eid: int, rules: TokenRules) -> list[Any]:
    """Return the open orders on a chain, as rows, whose makers are ineligible under these rules. For a workflow,
    without a transaction: raises if the chain does not answer."""
    makers = dict.fromkeys(order.maker_address for order in known.orders if order.chain_eid == eid)
    found = await standings.on_chain(organization_id, eid, Wanted(makers, [rules]))
    return [order for order, _, _ in Case(known, Change({eid: rules}, {eid: rules}), found).blocked()]


async def _case(context: Context, asset_id: UUID, change: Change) -> Case:
    known = await affected_facts.facts(context.session, context.organization_id, asset_id)
    return Case(known, change, await standings.read(context, wanted(known, change)))


def _as_of(eid: int, block: int | None, chains: Mapping[int, str]) -> AsOf:
    source = StandingSource.TABLES if block is None else StandingSource.CHAIN
    return AsOf(chain_eid=eid, chain_name=chains[eid], block=block, source=source)


def _escrowed(orders: Iterable[Any]) -> dict[tuple[int, str], int]:
    total: dict[tuple[int, str], int] = defaultdict(int)
    for order in orders:
        if order.side == "sell":
            total[order.chain_eid, order.maker_address] += int(order.rest)
    return total
