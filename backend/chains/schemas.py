"""Chains as they cross the door (specification 2.2)."""

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel

from backend.fields import Record, Timestamp


class VmType(StrEnum):
    """Which virtual machine a chain runs."""

    EVM = "evm"
    SOLANA = "solana"


class Environment(StrEnum):
    """What is at stake on a chain. `devnet` are the embedded ones: nothing on them has value."""

    MAINNET = "mainnet"
    TESTNET = "testnet"
    DEVNET = "devnet"


class ChainStatus(StrEnum):
    """What the last look at a chain found: `degraded` is where a node does not do its part and the work goes on,
    `down` where it does not go on, or nobody has looked for a while."""

    ACTIVE = "active"
    DEGRADED = "degraded"
    DOWN = "down"


class Chain(Record):
    """An entry of the registry."""

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
    """The registry."""

    chains: list[Chain]


class Terms(BaseModel):
    """The terms of a chain: when one of its blocks counts, and what its nodes are asked. `summary` says in a sentence
    when a request succeeds. `safe` and `final` are a block tag, or a number of blocks below the newest; `block_time` is
    in seconds; `history` is how many blocks back state is read, null for all."""

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
    """Something on a chain that the operator must look at, open until its cause is gone. `detail` says what happened
    and what to do."""

    kind: str
    detail: str
    since: Timestamp


class PathEnd(BaseModel):
    """One direction of a token's path to another chain, as its endpoint holds it. LayerZero may change a
    default library."""

    library: str
    is_default_library: bool
    confirmations: int
    required_dvns: list[str]
    optional_dvns: list[str]
    optional_threshold: int


class SendingPathEnd(PathEnd):
    """The direction that sends, with who delivers and the options of every packet that carries an amount."""

    executor: str
    enforced_options: str


class PathToken(BaseModel):
    """What was read back of a token after its path was configured; `agrees` with the settings of now or not. The next
    bridge writes what differs."""

    asset_id: str
    symbol: str
    token_address: str
    sends: SendingPathEnd
    receives: PathEnd
    agrees: bool
    read_at: Timestamp


class BridgePath(BaseModel):
    """The path from a chain to another one, by the settings; addresses are on the chain that sends. Bridges are refused
    where it is not `is_allowed`; `summary` says why, or who verifies packets."""

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
    """A chain as an organization uses it, with the contracts that serve it there, and how it is: its newest, safe and
    final block, how many blocks our tables are behind, what went wrong at the last look, and when that was. `missing`
    is what the operator of this installation has still to do for it, `alarms` what the operator must look at, `paths`
    the bridge paths to other chains."""

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


class OrganizationChainList(BaseModel):
    """Every chain an organization can see, enabled or not: one page."""

    chains: list[OrganizationChain]
    nextCursor: None = None


class NodeCheckLevel(StrEnum):
    """How well a node supports something. `limits`: Signum works around what is missing; `missing`: it cannot."""

    OK = "ok"
    LIMITS = "limits"
    MISSING = "missing"


class NodeCheckLine(BaseModel):
    """One thing that was checked: what was found, and what Signum does about it."""

    name: str
    level: NodeCheckLevel
    found: str
    effect: str


class CheckedNode(BaseModel):
    """The verdict on a node. `name` is its place in the operator's settings; URLs are never shown."""

    name: str
    answers: bool
    good_enough: bool
    summary: str
    lines: list[NodeCheckLine]
    advice: list[str]


class NodeCheck(BaseModel):
    """What the nodes of a chain support. `setting` is the value of SIGNUM_CHAIN_TERMS for this chain that fits them;
    null where nothing has to change."""

    chain_eid: int
    checked_at: Timestamp
    good_enough: bool
    nodes: list[CheckedNode]
    setting: str | None


DeployedFilter = Literal["true", "false"]
