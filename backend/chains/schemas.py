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


class OrganizationChain(Chain):
    """A chain as an organization uses it, with the contracts that serve it there, and how it is: its newest block, how
    many blocks our tables are behind it, what went wrong at the last look, and when that was. `missing` is what the
    operator of this installation has still to do for it."""

    enabled: bool = False
    market_factory_address: str | None = None
    attestation_registry_address: str | None = None
    endpoint_address: str | None = None
    quote_token_address: str | None = None
    quote_symbol: str | None = None
    quote_decimals: int | None = None
    height: int | None = None
    lag: int | None = None
    last_error: str | None = None
    missing: str | None = None
    checked_at: Timestamp | None = None


class OrganizationChainList(BaseModel):
    """Every chain an organization can see, enabled or not: one page."""

    chains: list[OrganizationChain]
    nextCursor: None = None


DeployedFilter = Literal["true", "false"]
