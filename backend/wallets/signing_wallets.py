"""Wallets that Signum can sign with."""

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from backend.core.errors import Conflict
from backend.wallets.models import WalletRow
from backend.wallets.schemas import WalletKind


async def find_treasury(session: AsyncSession, organization_id: UUID) -> WalletRow | None:
    """Return the default server wallet, which signs for the organization and owns its tokens; None without one."""
    return await session.scalar(
        sa.select(WalletRow).where(col(WalletRow.organization_id) == organization_id, col(WalletRow.is_default))
    )


async def treasury(session: AsyncSession, organization_id: UUID) -> WalletRow:
    """Return the default server wallet; 409 without one."""
    wallet = await find_treasury(session, organization_id)
    if wallet is None:
        raise Conflict(
            "The organization has no default server wallet to own the token and pay for its transactions. Create "
            f"one by POST /v1/orgs/{organization_id}/wallets."
        )
    return wallet


async def of_owner(session: AsyncSession, organization_id: UUID, owner: str) -> WalletRow:
    """Return the wallet that owns a token; 409 if it is not a server wallet of the organization."""
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
