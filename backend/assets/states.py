"""Changes of an asset's row, each told."""

from typing import Any

from backend.assets.models import AssetRow
from backend.assets.schemas import Asset
from backend.changes import shown, tell_change
from backend.db import Write


async def change(session: Write, asset: AssetRow, action: str = "asset.updated", **values: Any) -> None:
    """Set something of an asset that is locked, and tell of it where it was something else."""
    before = shown(Asset, asset)
    for name, value in values.items():
        setattr(asset, name, value)
    await session.flush()
    await tell_change(session, asset.organization_id, action, ("asset", asset.id), before, shown(Asset, asset))
