"""Chains as they cross the door (specification 2.2)."""

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel

from backend.fields import Record


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
    """What the last look at a chain found."""

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
    """A chain as an organization uses it, with the contracts that serve it there."""

    enabled: bool = False
    market_factory_address: str | None = None
    attestation_registry_address: str | None = None
    endpoint_address: str | None = None
    quote_token_address: str | None = None
    quote_symbol: str | None = None
    quote_decimals: int | None = None
    height: int | None = None


class OrganizationChainList(BaseModel):
    """Every chain an organization can see, enabled or not."""

    chains: list[OrganizationChain]


DeployedFilter = Literal["true", "false"]
