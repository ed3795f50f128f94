"""Recorded changes of an asset's row."""

from typing import Any

from backend.assets.models import AssetRow
from backend.assets.schemas import Asset
from backend.core.changes import publish_change, shown
from backend.core.db import Write


async def change(session: Write, asset: AssetRow, action: str = "asset.updated", **values: Any) -> None:
    """Change a locked asset, and record the change if its value differs."""
    before = shown(Asset, asset)
    for name, value in values.items():
        setattr(asset, name, value)
    await session.flush()
    await publish_change(session, asset.organization_id, action, ("asset", asset.id), before, shown(Asset, asset))
