"""The entries of a list of effects."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.compliance.effect_names import Named
from backend.compliance.impact_case import Owner
from backend.compliance.impact_schemas import ClaimEffect, HolderEffect, OrderEffect


@dataclass(frozen=True)
class Entries:
    """What the lists say about accounts: names, chains, and amounts in open sell orders."""

    names: Mapping[str, Named]
    chains: Mapping[int, str]
    escrowed: Mapping[tuple[int, str], int]

    def holder(self, holder: Owner, why: list[str], can_send: bool) -> HolderEffect:
        """Return a holder's entry."""
        named, eid = self.names[holder.address], holder.chain_eid
        return HolderEffect(
            wallet_address=holder.address,
            name=named.name,
            kind=named.kind,
            party_id=named.party_id,
            chain_eid=eid,
            chain_name=self.chains[eid],
            balance=holder.balance,
            escrowed=str(self.escrowed.get((eid, holder.address), 0)),
            can_send=can_send,
            reasons=why,
        )

    def order(self, order: Any, why: list[str], is_new: bool) -> OrderEffect:
        """Return an order's entry."""
        return OrderEffect(
            order_id=order.id,
            market_id=order.market_id,
            chain_eid=order.chain_eid,
            chain_name=self.chains[order.chain_eid],
            side=order.side,
            maker_address=order.maker_address,
            maker_name=self.names[order.maker_address].name,
            rest=str(int(order.rest)),
            price=str(int(order.price)),
            is_new=is_new,
            reason=" ".join(why),
        )

    def claim(self, claim: Any, why: list[str]) -> ClaimEffect:
        """Return a claim's entry."""
        return ClaimEffect(
            distribution_id=claim.id,
            distribution_name=claim.name,
            chain_eid=claim.chain_eid,
            chain_name=self.chains[claim.chain_eid],
            recipient_address=claim.address,
            recipient_name=self.names[claim.address].name,
            amount=str(int(claim.amount)),
            reason=" ".join(why),
        )
