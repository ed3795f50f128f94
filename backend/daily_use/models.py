"""Tables of daily limits, and of amounts accepted under them without a second person."""

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from backend.core.columns import SecurityRow, amount_field, organization_field, status_field, time_field
from backend.daily_use.schemas import LimitedAction


class DailyLimitRow(SecurityRow, table=True):
    """A limit. Its row is locked while an amount is counted towards it."""

    __tablename__ = "daily_limits"
    __table_args__ = (sa.UniqueConstraint("asset_id", "action"),)

    organization_id: UUID = organization_field()
    asset_id: UUID = Field(foreign_key="assets.id")
    action: LimitedAction = status_field(LimitedAction, LimitedAction.MINT)
    amount: int = amount_field(0)
    """Base units; never 0: without a limit there is no row."""


class DailyUseRow(SecurityRow, table=True):
    """The amount of one request, accepted within a limit."""

    __tablename__ = "daily_uses"
    __table_args__ = (sa.Index("ix_daily_uses_window", "asset_id", "action", "used_at"),)

    organization_id: UUID = organization_field()
    asset_id: UUID = Field(foreign_key="assets.id")
    action: LimitedAction = status_field(LimitedAction, LimitedAction.MINT)
    request_id: UUID = Field(foreign_key="requests.id", unique=True)
    amount: int = amount_field(0)
    used_at: datetime = time_field()
    """When the request was accepted or retried."""
