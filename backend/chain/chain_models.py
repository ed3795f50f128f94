"""The chains of the installation, and the contracts deployed on each."""

from datetime import datetime

import sqlalchemy as sa
from sqlmodel import Field

from backend.core.columns import Row, status_field, time_field
from backend.core.fields import ChainStatus, Environment, VmType


class ChainRow(Row, table=True):
    """A chain of the chain list. The operator's RPC URL is a setting and is never stored."""

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
    """The newest safe block, and the newest final one, by the chain's terms."""
    final_height: int | None = Field(default=None, sa_type=sa.BigInteger)
    lag: int | None = Field(default=None, sa_type=sa.BigInteger)
    """Number of blocks that the tables are behind the height, including blocks that wait for confirmations."""
    checked_at: datetime | None = time_field(nullable=True)
    last_error: str | None = None
    missing: str | None = None
    """What the operator must do before our contracts serve the chain fully; None if nothing."""


class ChainContractRow(Row, table=True):
    """One of our contracts on a chain, deployed once: registry, endpoint, market_factory, quote_token."""

    __tablename__ = "chain_contracts"
    __table_args__ = (sa.UniqueConstraint("chain_eid", "name"),)

    chain_eid: int = Field(sa_type=sa.BigInteger)
    name: str
    address: str
    tx_hash: str | None = None
    block_number: int | None = Field(default=None, sa_type=sa.BigInteger)
