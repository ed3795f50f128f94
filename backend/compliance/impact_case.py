"""How the rules judge everyone whom a change of an asset's rules may affect."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from backend.chain.abi.rule_sets import MarketRules, TokenRules
from backend.chain.devnet import clock
from backend.compliance import affected
from backend.compliance.affected import Judged, Rules, reasons
from backend.compliance.rules import Account, failures, payer
from backend.compliance.schemas import RuleVerdict
from backend.compliance.standings import Standings, Wanted
from backend.core.fields import RegulationType


class Owner(Protocol):
    """A holder on one chain; the balance, in base units, includes open sell orders."""

    chain_eid: int
    address: str
    balance: str


@dataclass(frozen=True)
class Facts:
    """What the tables say about an asset: its holders without the treasury, and what hangs on them."""

    holders: Sequence[Owner]
    orders: list[Any]
    claims: list[Any]
    markets: dict[UUID, Any]
    treasuries: frozenset[str]
    holding: dict[tuple[int, str], int]


@dataclass(frozen=True)
class Change:
    """The rules of an asset's tokens by chain, before and after; `market` are those of a market that opens."""

    old: Mapping[int, TokenRules]
    new: Mapping[int, TokenRules]
    market: MarketRules | None = None


@dataclass(frozen=True)
class Case:
    """A change, and everything that decides whom it affects."""

    known: Facts
    change: Change
    found: Standings

    def holder(self, eid: int, address: str, more: int = 0) -> Judged:
        """Return how the rules judge an account that holds `more` than now."""
        if eid not in self.change.new:
            return Judged((), ())
        old, new = self.change.old[eid], self.change.new[eid]
        before, after = (self._account(eid, address, rules, more) for rules in (old, new))
        return affected.judged(Rules(old), Rules(new, self.change.market), before, after)

    def payer(self, eid: int, address: str) -> list[str]:
        """Return why the new rules refuse anything that a distribution's contract sends; empty if they do not, or if
        the chain was not read: the tables do not have its attestation."""
        if eid not in self.change.new or self.found.blocks.get(eid) is None:
            return []
        return reasons(self._sending(eid, address))

    def sends(self, eid: int, address: str) -> bool:
        """Return whether the new rules let a holder send the token."""
        return not self._sending(eid, address)

    def _sending(self, eid: int, address: str) -> list[RuleVerdict]:
        rules = self.change.new[eid]
        return failures(payer(rules, self._account(eid, address, rules), clock.moment()))

    def order(self, order: Any) -> tuple[list[str], bool]:
        """Return why the new rules keep an open order from being filled because of its maker, and whether the old ones
        already do."""
        market, eid = self.known.markets.get(order.market_id), order.chain_eid
        if market is None or eid not in self.change.new:
            return [], False
        had, has = (self._order(order, market, rules) for rules in (self.change.old[eid], self.change.new[eid]))
        return reasons(has), bool(had)

    def _order(self, order: Any, market: Any, rules: TokenRules) -> list[RuleVerdict]:
        maker = self._account(order.chain_eid, order.maker_address, rules)
        return affected.order_failures(rules, market_rules(market), maker, order.side == "buy", clock.moment())

    def _account(self, eid: int, address: str, rules: TokenRules, more: int = 0) -> Account:
        held = self.known.holding.get((eid, address), 0) + more
        is_treasury = address in self.known.treasuries
        return self.found.account(eid, address, rules, balance=held, holding=held, is_treasury=is_treasury)

    def blocked(self) -> list[tuple[Any, list[str], bool]]:
        """Return the open orders that the new rules block, with the reasons, and whether only they do. If a market
        opens, these alone."""
        found = [(order, *self.order(order)) for order in self.known.orders]
        is_opening = self.change.market is not None
        return [(order, why, not had) for order, why, had in found if why and not (is_opening and had)]


def wanted(known: Facts, change: Change) -> dict[int, Wanted]:
    """Return whose standings are needed on each chain."""
    who: dict[int, dict[str, None]] = defaultdict(dict)
    for eid, address in (
        *((h.chain_eid, h.address) for h in known.holders),
        *((o.chain_eid, o.maker_address) for o in known.orders),
        *((c.chain_eid, c.address) for c in known.claims),
    ):
        who[eid][address] = None
    return {eid: Wanted(who[eid], (change.old[eid], change.new[eid])) for eid in sorted(who) if eid in change.new}


def market_rules(row: Any) -> MarketRules:
    """Return the rules of a market's row."""
    return MarketRules(
        regulation_type=RegulationType(row.regulation_type),
        min_kyc_level=row.min_kyc_level,
        requires_accreditation=row.requires_accreditation,
        blocked_countries=tuple(row.blocked_countries),
        lockup_end_time=row.lockup_end_time,
        max_holders=row.max_holders,
        max_tokens_per_holder=int(row.max_tokens_per_holder or 0),
    )
