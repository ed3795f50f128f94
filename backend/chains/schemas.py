"""API schemas of chains (specification 2.2)."""

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, Field

from backend.core.fields import ChainStatus, Environment, Record, Timestamp, VmType


class Chain(Record):
    """A chain of the chain list."""

    id: str
    chain_type: str | None = None
    chain_key: str | None = None
    chain_name: str | None = None
    display_name: str | None = None
    xchain_eid: int | None = None
    vm_type: VmType | None = None
    native_chain_id: int | None = None
    native_currency_symbol: str | None = None
    chain_layer: str | None = None
    environment: Environment | None = None
    status: ChainStatus | None = None
    priority: int | None = None
    is_signum_deployed: bool | None = None
    rpc_url: str | None = None
    explorer_url: str | None = None


class ChainList(BaseModel):
    """A list of supported chains."""

    chains: list[Chain]


class Terms(BaseModel):
    """The terms of a chain: its finality, and how its nodes are queried. `summary` says in a sentence when a request
    succeeds. `safe` and `final` are a block tag, or a number of blocks below the newest; `block_time` is in seconds;
    `history` is how many blocks back state is read, null for all."""

    summary: str
    block_time: float
    confirmations: int
    safe: str | int
    final: str | int
    succeeds_at: Literal["included", "safe", "final"]
    log_range: int
    history: int | None
    batch: int


class ChainAlarm(BaseModel):
    """An alarm about a chain for the operator, open until its cause is gone. `detail` says what happened and what to
    do."""

    kind: str
    detail: str
    since: Timestamp


class PathEnd(BaseModel):
    """One direction of a token's path to another chain, as stored by its endpoint. LayerZero may change a default
    library."""

    library: str
    is_default_library: bool
    confirmations: int
    required_dvns: list[str]
    optional_dvns: list[str]
    optional_threshold: int


class SendingPathEnd(PathEnd):
    """The sending direction, with its executor and the options of every packet that carries an amount."""

    executor: str
    enforced_options: str


class PathToken(BaseModel):
    """The token's configuration read back after its path was configured, and whether it `agrees` with the current
    settings. The next bridge writes the differences."""

    asset_id: str
    symbol: str
    token_address: str
    sends: SendingPathEnd
    receives: PathEnd
    agrees: bool
    read_at: Timestamp


class BridgePath(BaseModel):
    """The path from a chain to another one, from the settings; addresses are on the sending chain. Bridges are refused
    unless it `is_allowed`; `summary` says why, or who verifies packets."""

    destination_chain_eid: int
    destination_name: str
    is_allowed: bool
    summary: str
    confirmations: int | None
    required_dvns: list[str]
    optional_dvns: list[str]
    optional_threshold: int
    send_library: str | None
    receive_library: str | None
    enforced_gas: int | None
    tokens: list[PathToken]


class OrganizationChain(Chain):
    """A chain as an organization uses it, with the contracts that serve it there, and its state: its newest, safe and
    final block, how many blocks the tables are behind, the last error, and the time of the last check. `missing` is
    what the operator of this installation still has to do for it, `alarms` are for the operator, `paths` are the bridge
    paths to other chains. `requests_in_progress` have begun on the chain; they finish if it is disabled."""

    enabled: bool = False
    market_factory_address: str | None = None
    attestation_registry_address: str | None = None
    endpoint_address: str | None = None
    quote_token_address: str | None = None
    quote_symbol: str | None = None
    quote_decimals: int | None = None
    height: int | None = None
    safe_height: int | None = None
    final_height: int | None = None
    lag: int | None = None
    last_error: str | None = None
    missing: str | None = None
    checked_at: Timestamp | None = None
    terms: Terms | None = None
    alarms: list[ChainAlarm] = []
    paths: list[BridgePath] = []
    requests_in_progress: int = Field(default=0, ge=0)


class OrganizationChainList(BaseModel):
    """Every chain that an organization can see, enabled or not, in one page."""

    chains: list[OrganizationChain]
    nextCursor: None = None


class NodeCheckLevel(StrEnum):
    """How well a node supports a feature. `limits`: Signum works around the limitation; `missing`: it cannot."""

    OK = "ok"
    LIMITS = "limits"
    MISSING = "missing"


class NodeCheckLine(BaseModel):
    """One checked feature: the finding, and what Signum does about it."""

    name: str
    level: NodeCheckLevel
    found: str
    effect: str


class CheckedNode(BaseModel):
    """The verdict on a node. `name` is its position in the operator's settings; URLs are never shown."""

    name: str
    answers: bool
    good_enough: bool
    summary: str
    lines: list[NodeCheckLine]
    advice: list[str]


class NodeCheck(BaseModel):
    """What the nodes of a chain support. `setting` is the value of SIGNUM_CHAIN_TERMS for this chain that fits them;
    null if no change is needed."""

    chain_eid: int
    checked_at: Timestamp
    good_enough: bool
    nodes: list[CheckedNode]
    setting: str | None


DeployedFilter = Literal["true", "false"]
