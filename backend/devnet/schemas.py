"""The embedded devnet as it crosses the door."""

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, Field

from backend.fields import Body, Eid, Timestamp, Whole

YEAR = 31_536_000


class FaultKind(StrEnum):
    """`slow`: blocks come every `size` seconds. `down`: the node is stopped. `refuse_packets`: the relayer is refused
    there. `drop_transactions`: the next `size` ones vanish from the mempool. `reorg`: the newest `size` blocks are
    replaced by empty ones, at once. `none`: it is well again."""

    NONE = "none"
    SLOW = "slow"
    DOWN = "down"
    REFUSE_PACKETS = "refuse_packets"
    DROP_TRANSACTIONS = "drop_transactions"
    REORG = "reorg"


class ClockMove(Body):
    """How far all embedded chains go forward. Back they cannot."""

    seconds: Annotated[Whole, Field(ge=1, le=10 * YEAR)]


class FaultBegin(Body):
    """A fault of one chain. It takes the place of the one before and ends by itself after `seconds`."""

    chain_eid: Eid
    kind: FaultKind
    seconds: Annotated[Whole, Field(ge=1, le=3_600)] = 60
    size: Annotated[Whole, Field(ge=1, le=30)] = 1


class Fault(BaseModel):
    """A fault as it is now."""

    kind: FaultKind
    since: Timestamp
    until: Timestamp
    size: int


class DevnetChain(BaseModel):
    """An embedded chain; block and time are null while it does not answer."""

    chain_eid: int
    name: str
    block_number: int | None
    time: Timestamp | None
    fault: Fault | None


class Devnet(BaseModel):
    """The embedded chains, and how far they are ahead of the machine's clock."""

    clock_offset_seconds: int
    can_reset: bool = Field(description="Whether this process can begin again from nothing.")
    chains: list[DevnetChain]


class ResetBegun(BaseModel):
    """The server ends and starts again; `GET /v1/ready` says when it is there."""

    message: str
