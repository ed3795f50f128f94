"""Gas costs of the steps of a deployment, measured on the embedded chains plus a tenth.

For plans and for checks of a wallet's funds; the node always estimates transactions when they are sent.
"""

from typing import Final

from backend.chain.rpc import node_urls

TOKEN: Final = 6_000_000
RULES: Final = 150_000
MINT: Final = 95_000
PEER: Final = 53_000
PATH: Final = 500_000
"""Libraries, verifiers and enforced options of a token's end of a path, both directions; not measured."""
PACKET: Final = 121_000
PUBLIC_PACKET: Final = 450_000
"""On a public chain, the endpoint passes the packet to verifiers and an executor, and calculates their fees. Not
measured: LayerZero's contracts are not on embedded chains."""
MARKET: Final = 2_800_000
VENUE: Final = 60_000
TRANSFER: Final = 120_000
CONTROL: Final = 140_000
RECOVERED_ORDER: Final = 60_000
"""Each open order that a recovery cancels."""
REVOCATION: Final = 75_000
"""The revocation of an attestation, with a reason."""
ORDER: Final = 650_000
"""An approval and an order that fills one other order."""


TOKEN_SIZE: Final = 28_000
"""Bytes of call data that deploy a token and set its rules."""
PACKET_SIZE: Final = 12_000
"""Bytes of call data of a peer and a packet with 250 countries and 32 issuers."""
SMALL_SIZE: Final = 2_000
"""Bytes of call data of a few small transactions."""


def packet(eid: int) -> int:
    """Return the gas of sending a packet."""
    return PACKET if node_urls.is_embedded(eid) else PUBLIC_PACKET
