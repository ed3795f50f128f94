"""The entries of the lists behind the numbers of an operation's effects."""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.compliance.impact_schemas import ClaimEffect, HolderEffect, OrderEffect
from state.compliance.effect_words import LOSES
from state.core.units import grouped, shortened, with_short_amounts

NAMED = 3
"""Names in a line; its list has all."""
KINDS = {
    "distributor": "Distribution",
    "market": "Market",
    "own_wallet": "Own wallet",
    "linked_wallet": "Linked wallet",
}
"""Kinds that are said before the name; a party is just named."""


@dataclass
class AffectedView:
    """An entry of a list: who, how much and where (`exact` with all decimals), and the reason."""

    id: str
    name: str
    address: str
    about: str
    why: str
    exact: str = ""


@dataclass(frozen=True)
class Written:
    """How amounts of the asset are written, and what an excluded holder loses, such as "become ineligible"."""

    symbol: str
    decimals: int
    loses: tuple[str, str] = LOSES


def holder_row(holder: HolderEffect, written: Written) -> AffectedView:
    """Convert a holder."""
    kind, name = KINDS.get(holder.kind, ""), holder.name or ""
    escrowed = ""
    if int(holder.escrowed):
        escrowed = f", {grouped(holder.escrowed, written.decimals)} of it in open orders"
    amount = f"{grouped(holder.balance, written.decimals)} {written.symbol} on {holder.chain_name}{escrowed}"
    return AffectedView(
        id=f"{holder.chain_eid}:{holder.wallet_address}",
        name=f"{kind} “{name}”" if kind and name else name,
        address=holder.wallet_address,
        about=with_short_amounts(amount),
        why=" ".join(f"{reason.rstrip('.')}." for reason in holder.reasons),
        exact=amount,
    )


def order_row(order: OrderEffect, written: Written) -> AffectedView:
    """Convert an order."""
    amount = f"{order.side.title()} {grouped(order.rest, written.decimals)} {written.symbol} on {order.chain_name}"
    about = amount if order.is_new else f"{amount}, already blocked"
    return AffectedView(
        id=str(order.order_id),
        name=order.maker_name or "",
        address=order.maker_address,
        about=with_short_amounts(about),
        why=order.reason,
        exact=about,
    )


def claim_row(claim: ClaimEffect, written: Written) -> AffectedView:
    """Convert a claim."""
    amount = f"{grouped(claim.amount, written.decimals)} {written.symbol} on {claim.chain_name}"
    return AffectedView(
        id=f"{claim.distribution_id}:{claim.recipient_address}",
        name=claim.recipient_name or "",
        address=claim.recipient_address,
        about=with_short_amounts(f"{amount}, {claim.distribution_name}"),
        why=claim.reason,
        exact=f"{amount}, {claim.distribution_name}",
    )


def names_of(rows: Sequence[AffectedView]) -> str:
    """Return the first names as text."""
    names = list(dict.fromkeys(row.name or shortened(row.address) for row in rows))
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more:,} more" if more > 0 else "")
