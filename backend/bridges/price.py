"""What the delivery of a packet costs beside the gas: nothing on embedded chains unless the endpoint is told to, and on
public ones what LayerZero's verifiers and executor take."""

from backend.chain import means, token
from backend.chain.rule_sets import TokenRules

MARGIN = 10
"""A tenth more is paid than the packet was quoted, for its price may rise until it is mined; the rest comes back."""


def paid(quoted: int) -> int:
    """What is sent along with a packet, wei."""
    return quoted + quoted // MARGIN


async def asked(eid: int, at: str, destination_eid: int, rules: TokenRules) -> int:
    """What a packet of a token would take along now, wei. Raises Reverted where there is no way to the destination."""
    return paid(await token.packet_price(eid, at, destination_eid=destination_eid, rules=rules))


def words(fee: int) -> str:
    """The price as a plan says it."""
    return f"; its delivery costs up to {means.amount(fee)} of the chain's own currency" if fee else ""
