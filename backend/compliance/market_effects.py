"""Which markets a change of rules halts."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from backend.auth.principal import Context
from backend.chain.devnet import clock
from backend.compliance import affected, standings
from backend.compliance.impact_case import Change, Facts, market_rules
from backend.compliance.impact_schemas import MarketImpact
from backend.compliance.rules import Account


async def halts(context: Context, known: Facts, change: Change, chains: Mapping[int, str]) -> list[MarketImpact]:
    """Return the impact on each market of the asset."""
    counts: dict[UUID, int] = defaultdict(int)
    for order in known.orders:
        counts[order.market_id] += 1
    wallets = {eid: await standings.attested(context, eid) for eid in {m.chain_eid for m in known.markets.values()}}
    return [_market(m, change, wallets[m.chain_eid], counts[m.id], chains[m.chain_eid]) for m in known.markets.values()]


def _market(market: Any, change: Change, wallets: Mapping[str, Any], open_orders: int, chain: str) -> MarketImpact:
    """Return the impact on a market. It halts if only the treasury could sell, or no attested wallet could buy."""
    eid = market.chain_eid
    old, new = change.old[eid], change.new[eid]
    people = [Account(address, standing, standing) for address, standing in wallets.items()]
    able = affected.able_buyers(new, market_rules(market), people)
    held = f"{open_orders} open order{'' if open_orders == 1 else 's'}."
    reason, halts = f"{len(able)} of {len(people)} attested wallets on this chain can buy. {held}", False
    if people and not able and not new.trusted_issuers:
        reason, halts = f"None of the {len(people)} attested wallets on this chain could buy. {held}", True
    if new.lockup_end_time > max(old.lockup_end_time, clock.moment()):
        end = f"Unix time {new.lockup_end_time}"
        reason, halts = f"Only the treasury can sell until the lock-up ends ({end}). {held}", True
    kept = [name for name in affected.stricter(market_rules(market), new) if getattr(old, name) != getattr(new, name)]
    return MarketImpact(market_id=market.id, chain_eid=eid, chain_name=chain, halts=halts, reason=reason, stricter=kept)
