"""The price of a packet's delivery, in addition to gas: nothing on embedded chains unless the endpoint is configured to
charge, and on public ones the fees of LayerZero's verifiers and executor."""

from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import token
from backend.chain.transactions import funding

MARGIN = 10
"""Pay a tenth more than the quote, because the price may rise before the packet is mined; the rest is refunded."""


def paid(quoted: int) -> int:
    """Return the value sent with a packet, in wei."""
    return quoted + quoted // MARGIN


async def asked(eid: int, at: str, destination_eid: int, rules: TokenRules) -> int:
    """Return the current quote for a packet of a token, in wei. Raises Reverted if there is no path to the
    destination."""
    return paid(await token.packet_price(eid, at, destination_eid=destination_eid, rules=rules))


def words(fee: int, currency: str = "of the chain's own currency") -> str:
    """Return the price as text for a plan."""
    return f"; its delivery costs up to {funding.amount(fee)} {currency}" if fee else ""
