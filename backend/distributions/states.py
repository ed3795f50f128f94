"""The states of a distribution, each told when it begins."""

from typing import Any

from backend.changes import shown, tell, tell_change
from backend.db import Write
from backend.distributions.models import DistributionRow
from backend.distributions.schemas import Distribution, DistributionStatus

_ACTIONS = {DistributionStatus.ACTIVE: "distribution.activated", DistributionStatus.DRAFT: "distribution.failed"}
"""Others are named like the state. An activation that fails leaves a draft."""


async def created(session: Write, row: DistributionRow) -> None:
    """Tell of a new one."""
    subject = ("distribution", row.id)
    await tell(session, row.organization_id, "distribution.created", subject, None, shown(Distribution, row))


async def change(session: Write, row: DistributionRow, **values: Any) -> None:
    """Set something of a distribution that is locked, and tell where it comes into another state."""
    before = shown(Distribution, row)
    for name, value in values.items():
        setattr(row, name, value)
    await session.flush()
    await tell_of(session, row, before)


async def tell_of(session: Write, row: DistributionRow, before: dict[str, Any]) -> None:
    """Tell of a change that was made already, where it led into another state."""
    if before["status"] == row.status:
        return
    action = _ACTIONS.get(row.status, f"distribution.{row.status}")
    subject, after = ("distribution", row.id), shown(Distribution, row)
    await tell_change(session, row.organization_id, action, subject, before, after)
