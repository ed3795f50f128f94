"""Request and response bodies of the embedded devnet."""

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, Field

from backend.core.fields import Body, Eid, Timestamp, Whole

YEAR = 31_536_000


class FaultKind(StrEnum):
    """`slow`: a block every `size` seconds.

    `down`: the node is stopped. `refuse_packets`: the chain refuses the relayer's packets. `drop_transactions`: the
    next `size` transactions vanish from the mempool. `reorg`: the newest `size` blocks are immediately replaced by
    empty ones. `none`: the fault ends.
    """

    NONE = "none"
    SLOW = "slow"
    DOWN = "down"
    REFUSE_PACKETS = "refuse_packets"
    DROP_TRANSACTIONS = "drop_transactions"
    REORG = "reorg"


class ClockMove(Body):
    """Seconds by which all embedded chains move forward. They cannot go back."""

    seconds: Annotated[Whole, Field(ge=1, le=10 * YEAR)]


class FaultBegin(Body):
    """A fault of one chain. It replaces an earlier fault and ends by itself after `seconds`."""

    chain_eid: Eid
    kind: FaultKind
    seconds: Annotated[Whole, Field(ge=1, le=3_600)] = 60
    size: Annotated[Whole, Field(ge=1, le=30)] = 1


class Fault(BaseModel):
    """A current fault."""

    kind: FaultKind
    since: Timestamp
    until: Timestamp
    size: int


class DevnetChain(BaseModel):
    """An embedded chain; block and time are null while it does not respond."""

    chain_eid: int
    name: str
    block_number: int | None
    time: Timestamp | None
    fault: Fault | None


class Devnet(BaseModel):
    """The embedded chains, and how far they are ahead of the machine's clock."""

    clock_offset_seconds: int
    can_reset: bool = Field(description="Whether this process can be reset.")
    chains: list[DevnetChain]


class ResetBegun(BaseModel):
    """The server stops and starts again; `GET /v1/ready` reports when it is ready."""

    message: str
