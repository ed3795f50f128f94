"""The chain registry, the contracts deployed on each chain, and which chains an organization enabled."""

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from backend.chains.schemas import ChainStatus, Environment, VmType
from backend.db import Row, organization_field, status_field, time_field


class ChainRow(Row, table=True):
    """A registry entry. The operator's RPC URL is a setting and never stored."""

    __tablename__ = "chains"

    chain_type: str = "layerzero"
    chain_key: str = Field(unique=True)
    chain_name: str
    display_name: str
    xchain_eid: int = Field(unique=True, sa_type=sa.BigInteger)
    vm_type: VmType = status_field(VmType, VmType.EVM)
    native_chain_id: int | None = Field(default=None, sa_type=sa.BigInteger)
    native_currency_symbol: str
    chain_layer: str
    environment: Environment = status_field(Environment, Environment.TESTNET)
    status: ChainStatus = status_field(ChainStatus, ChainStatus.ACTIVE)
    priority: int = 100
    is_signum_deployed: bool = False
    rpc_url: str | None = None
    explorer_url: str | None = None
    height: int | None = Field(default=None, sa_type=sa.BigInteger)
    safe_height: int | None = Field(default=None, sa_type=sa.BigInteger)
    """The newest block that is safe, and the newest that is final, by the chain's terms."""
    final_height: int | None = Field(default=None, sa_type=sa.BigInteger)
    lag: int | None = Field(default=None, sa_type=sa.BigInteger)
    """Blocks that the tables are behind the height; those that wait for their confirmations are among them."""
    checked_at: datetime | None = time_field(nullable=True)
    last_error: str | None = None
    missing: str | None = None
    """What the operator has to do before our contracts serve the chain, or serve it whole; None where nothing is."""


class ChainContractRow(Row, table=True):
    """A contract of ours on a chain, deployed once: registry, endpoint, market_factory, quote_token."""

    __tablename__ = "chain_contracts"
    __table_args__ = (sa.UniqueConstraint("chain_eid", "name"),)

    chain_eid: int = Field(sa_type=sa.BigInteger)
    name: str
    address: str
    tx_hash: str | None = None
    block_number: int | None = Field(default=None, sa_type=sa.BigInteger)


class OrganizationChainRow(Row, table=True):
    """A chain an organization has enabled."""

    __tablename__ = "organization_chains"
    __table_args__ = (sa.UniqueConstraint("organization_id", "chain_id"),)

    organization_id: UUID = organization_field()
    chain_id: UUID = Field(foreign_key="chains.id", index=True)
