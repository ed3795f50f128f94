"""Gas that the steps of a deployment cost, as measured on the embedded chains with a margin of a tenth.

For plans and for the question whether a wallet can pay; what is sent is always estimated anew by the node.
"""

from typing import Final

TOKEN: Final = 5_000_000
RULES: Final = 250_000
MINT: Final = 130_000
PEER: Final = 60_000
PACKET: Final = 260_000
DELIVERY: Final = 350_000
MARKET: Final = 4_000_000
VENUE: Final = 60_000
ORDER: Final = 450_000
