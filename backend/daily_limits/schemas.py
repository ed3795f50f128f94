"""Daily limits of an asset: how much may be moved in 24 hours without a second person."""

from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field, field_validator

from backend.core.fields import Acceptance, Body, TokenAmount, never_null
from backend.daily_use.schemas import LimitedAction

NO_LIMIT = "0"


Limit = Annotated[TokenAmount | None, Field(json_schema_extra=never_null)]


class DailyLimitsUpdate(Body):
    """JSON merge patch of an asset's daily limits, in base units. "0" removes a limit; omitted fields stay
    unchanged."""

    mint: Limit = None
    transfer: Limit = None
    burn: Limit = None
    forced_transfer: Limit = None

    @field_validator("mint", "transfer", "burn", "forced_transfer")
    @classmethod
    def _is_given(cls, value: object) -> object:
        if value is None:
            raise ValueError('is an amount in base units. Send "0" to remove the limit')
        return value


class DailyLimit(BaseModel):
    """One action's limit. `limit` is null without a limit; `used` is what was accepted in the last 24 hours without a
    second person; `available` is the rest of the limit. All in base units."""

    action: LimitedAction
    limit: str | None
    used: str
    available: str | None


class DailyLimits(BaseModel):
    """The daily limits of an asset, one entry for each action."""

    limits: list[DailyLimit]


class LimitChange(BaseModel):
    """One limit before and after, in base units; null means no limit."""

    action: LimitedAction
    before: str | None
    after: str | None


class DailyLimitsImpact(BaseModel):
    """What would change, and whether a second person must approve it."""

    changes: list[LimitChange]
    needs_second_person: bool


class DailyLimitsPlan(BaseModel):
    """Response to `?dry_run=true`: all checks ran, nothing was changed."""

    steps: list[str]
    impact: DailyLimitsImpact


class DailyLimitsAccepted(Acceptance):
    """Response to a change of daily limits."""

    assetId: UUID
