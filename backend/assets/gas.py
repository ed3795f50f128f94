"""Gas that the steps of a deployment cost, as measured on the embedded chains with a margin of a tenth.

For plans and for the question whether a wallet can pay; what is sent is always estimated anew by the node.
"""

from typing import Final

from backend.chain import endpoints

TOKEN: Final = 6_000_000
RULES: Final = 150_000
MINT: Final = 95_000
PEER: Final = 53_000
PATH: Final = 500_000
"""Libraries, verifiers and enforced options of a token's end of a path, both directions; not measured."""
PACKET: Final = 121_000
PUBLIC_PACKET: Final = 450_000
"""On a public chain, where the endpoint hands it to verifiers and an executor, and reckons what each of them takes. Not
measured: LayerZero's contracts are not on embedded chains."""
MARKET: Final = 2_800_000
VENUE: Final = 60_000
TRANSFER: Final = 120_000
CONTROL: Final = 140_000
RECOVERED_ORDER: Final = 60_000
"""Each open order that a recovery ends."""
ORDER: Final = 650_000
"""An approval and an order that fills one other."""


TOKEN_SIZE: Final = 28_000
"""Bytes of call data that deploy a token and set its rules."""
PACKET_SIZE: Final = 12_000
"""Bytes of call data of a peer and a packet with 250 countries and 32 issuers."""
SMALL_SIZE: Final = 2_000
"""Bytes of call data of a few small transactions."""


def packet(eid: int) -> int:
    """Of a packet that leaves a chain."""
    return PACKET if endpoints.is_embedded(eid) else PUBLIC_PACKET
