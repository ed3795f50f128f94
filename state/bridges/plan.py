"""The plan of a bridge as its dialog shows it, and what sending it confirms."""

from dataclasses import dataclass, field

from backend.bridges.schemas import SHARED, BridgePlan
from state.compliance.cap_words import cap_changes, confirmation


@dataclass
class BridgePlanView:
    """What leaves which chain, what arrives where, and how. `fee` is the most that the delivery costs, in wei."""

    source: str = ""
    sender: str = ""
    sender_name: str = ""
    destination: str = ""
    receiver: str = ""
    receiver_name: str = ""
    amount: str = "0"
    fee: str = "0"
    currency: str = ""
    verification: str = ""
    steps: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    caps: list[dict[str, str]] = field(default_factory=list)
    """The limits of every chain that the bridge changes."""
    confirmation: str = ""
    """What has to be confirmed before; empty if no chain's limit changes."""


def plan_view(plan: BridgePlan, symbol: str, decimals: int) -> BridgePlanView:
    """Convert the dry run's response."""
    impact = plan.impact
    return BridgePlanView(
        source=impact.source_chain_name,
        sender=impact.sender_address,
        sender_name=impact.sender_name or "",
        destination=impact.destination_chain_name,
        receiver=impact.receiver_address or "",
        receiver_name=impact.receiver_name or "",
        amount=impact.amount,
        fee=impact.fee,
        currency=impact.fee_currency,
        verification=impact.verification,
        steps=plan.steps,
        warnings=[words for words in impact.warnings if words not in (SHARED, impact.verification)],
        caps=cap_changes(impact.caps, symbol, decimals),
        confirmation=confirmation(impact.caps, symbol, decimals),
    )
