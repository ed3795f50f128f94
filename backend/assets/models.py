"""Assets and their tokens per chain."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field

from backend.assets.schemas import AssetStatus, DeploymentStatus
from backend.core.columns import Row, amount_field, json_field, organization_field, sort_indexes, status_field
from backend.core.fields import RegulationType


class AssetRow(Row, table=True):
    """An asset. The rules here are those of the latest change that has started; a deployment has those its chain
    confirmed."""

    __tablename__ = "assets"
    __table_args__ = (
        *sort_indexes("assets", "created_at", "updated_at", "lower(name)"),
        sa.Index(
            "uq_assets_symbol",
            "organization_id",
            "symbol",
            unique=True,
            postgresql_where=sa.text("status <> 'archived'"),
        ),
    )

    organization_id: UUID = organization_field()
    name: str
    symbol: str
    description: str | None = None
    decimals: int = 18
    nominal_value: str | None = None
    initial_supply: int | None = amount_field(0)
    status: AssetStatus = status_field(AssetStatus, AssetStatus.DRAFT)
    regulation_type: RegulationType = status_field(RegulationType, RegulationType.NONE)
    compliance_rules: dict[str, Any] = json_field(dict)
    max_holders: int = Field(default=0, sa_type=sa.BigInteger)
    required_kyc_level: int = 0
    org_only: bool = False
    cap_shares: list[dict[str, Any]] = json_field(list)
    """The shares of the caps that a person set for each chain; empty where they are calculated."""
    request_id: UUID | None = None
    failure: str | None = None


class DeploymentRow(Row, table=True):
    """An asset's token on one chain."""

    __tablename__ = "asset_deployments"
    __table_args__ = (sa.UniqueConstraint("asset_id", "chain_eid"),)

    organization_id: UUID = organization_field()
    asset_id: UUID = Field(foreign_key="assets.id", index=True)
    chain_eid: int = Field(sa_type=sa.BigInteger)
    token_address: str | None = Field(default=None, index=True)
    status: DeploymentStatus = status_field(DeploymentStatus, DeploymentStatus.DEPLOYING)
    tx_hash: str | None = None
    block_number: int | None = Field(default=None, sa_type=sa.BigInteger)
    supply: int | None = amount_field(0)
    applied_rules: dict[str, Any] = json_field(dict)
    paused: bool = False
    """From the token's events, as is `venues`."""
    venues: list[str] = Field(default_factory=list, sa_type=ARRAY(sa.Text))
    """The markets that the token allows to settle."""
    paths: dict[str, Any] = json_field(dict)
    """By endpoint ID of another chain, the path's configuration as read back: see `backend.bridges.paths.shown`."""


class RuleSetRow(Row, table=True):
    """Rules of a token, from its `RulesSet` event on chain."""

    __tablename__ = "asset_rule_sets"
    __table_args__ = (
        *sort_indexes("asset_rule_sets", "created_at", by="asset_id"),
        sa.UniqueConstraint("chain_eid", "tx_hash", "log_index"),
    )

    organization_id: UUID = organization_field()
    asset_id: UUID = Field(foreign_key="assets.id", index=True)
    chain_eid: int = Field(sa_type=sa.BigInteger)
    version: int = Field(sa_type=sa.BigInteger)
    rules: dict[str, Any] = json_field(dict)
    tx_hash: str
    log_index: int
    block_number: int = Field(sa_type=sa.BigInteger)
