"""Response bodies of attempts."""

from enum import StrEnum
from uuid import UUID

from pydantic import BaseModel, Field

from backend.core.fields import Timestamp


class AttemptKind(StrEnum):
    """What is attempted: five times against the rules, four times against the machinery."""

    BLOCKED_COUNTRY = "blocked_country"
    LOCKED_UP = "locked_up"
    SECOND_WALLET = "second_wallet"
    EXPIRED_ATTESTATION = "expired_attestation"
    BUYERS_CASH = "buyers_cash"
    STOPPED_CHAIN = "stopped_chain"
    REFUSED_PACKET = "refused_packet"
    REORGANIZATION = "reorganization"
    KILLED_SERVER = "killed_server"


class AttemptStatus(StrEnum):
    """`held`: everything was refused or repaired as the rules say. `broken`: the two verdicts differ, or the chain
    holds something else than it must. `failed`: the attempt itself could not be made; `problem` says why."""

    UNTRIED = "untried"
    RUNNING = "running"
    HELD = "held"
    BROKEN = "broken"
    FAILED = "failed"


class AttemptCall(BaseModel):
    """A call that was sent to the chain without asking Signum."""

    tried: str = Field(description="The call, with the names and amounts that people use.")
    chain: str
    symbol: str
    decimals: int = Field(description="Of the amounts in the reasons, which are in base units.")
    rules: list[str] = Field(description="Why Signum's rules in Python refuse it; empty if they allow it.")
    contract: str | None = Field(description="Why the contract refused it, decoded; null if it was allowed.")
    contract_error: str | None = Field(description="The contract's own error, such as TransferRestricted(9).")
    agrees: bool = Field(description="Whether the rules and the contract decide the same, for the same reasons.")
    tx_hash: str
    block_number: int


class AttemptStep(BaseModel):
    """Something that was done or happened, and how many seconds after the start."""

    seconds: float
    words: str


class AttemptFact(BaseModel):
    """What the chain holds, before and after."""

    name: str
    before: str
    after: str
    holds: bool = Field(description="Whether it is as it must be.")


class Attempt(BaseModel):
    """The newest attempt of a kind."""

    kind: AttemptKind
    status: AttemptStatus = AttemptStatus.UNTRIED
    began_at: Timestamp | None = None
    seconds: float | None = Field(None, description="From the start until everything was right again.")
    calls: list[AttemptCall] = []
    steps: list[AttemptStep] = []
    facts: list[AttemptFact] = []
    request_id: UUID | None = Field(None, description="The request that was disturbed.")
    held_before: str | None = Field(None, description="Base units that its receiver had before.")
    problem: str | None = None


class AttemptList(BaseModel):
    """The newest attempt of each kind."""

    attempts: list[Attempt]
    can_kill: bool = Field(description="Whether this server can be killed: it starts again by itself.")
