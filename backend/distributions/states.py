"""State changes of a distribution, each recorded when it happens."""

from typing import Any

from backend.core.changes import publish, publish_change, shown
from backend.core.db import Write
from backend.distributions.models import DistributionRow
from backend.distributions.schemas import Distribution, DistributionStatus

_ACTIONS = {DistributionStatus.ACTIVE: "distribution.activated", DistributionStatus.DRAFT: "distribution.failed"}
"""Other actions have the name of the state. A failed activation leaves a draft."""


async def created(session: Write, row: DistributionRow) -> None:
    """Record a new distribution."""
    subject = ("distribution", row.id)
    await publish(session, row.organization_id, "distribution.created", subject, None, shown(Distribution, row))


async def delete(session: Write, row: DistributionRow) -> None:
    """Delete a locked draft with its recipients and their tree, and record that."""
    await publish(
        session, row.organization_id, "distribution.deleted", ("distribution", row.id), shown(Distribution, row)
    )
    await session.delete(row)
    await session.flush()


async def change(session: Write, row: DistributionRow, **values: Any) -> None:
    """Change a locked distribution, and record a new state."""
    before = shown(Distribution, row)
    for name, value in values.items():
        setattr(row, name, value)
    await session.flush()
    await record_change(session, row, before)


async def record_change(session: Write, row: DistributionRow, before: dict[str, Any]) -> None:
    """Record a change that was already made, if it led to another state."""
    if before["status"] == row.status:
        return
    action = _ACTIONS.get(row.status, f"distribution.{row.status}")
    subject, after = ("distribution", row.id), shown(Distribution, row)
    await publish_change(session, row.organization_id, action, subject, before, after)
