"""Wallets whose keys are ours to use."""

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from backend.errors import Conflict
from backend.wallets.models import WalletRow
from backend.wallets.schemas import WalletKind


async def of_owner(session: AsyncSession, organization_id: UUID, owner: str) -> WalletRow:
    """Return the wallet that owns a token; 409 where it is not a server wallet of the organization."""
    wallet: WalletRow | None = await session.scalar(
        sa.select(WalletRow).where(
            col(WalletRow.organization_id) == organization_id,
            col(WalletRow.address) == owner,
            col(WalletRow.kind) == WalletKind.SERVER,
        )
    )
    if wallet is None:
        raise Conflict(f"The token is owned by {owner}, which is not a server wallet of this organization.")
    return wallet
