"""Wallets that Signum can sign with."""

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from backend.core.errors import Conflict, PrerequisitesNotMet
from backend.wallets import rules
from backend.wallets.models import WalletRow
from backend.wallets.schemas import WalletKind


async def find_treasury(session: AsyncSession, organization_id: UUID) -> WalletRow | None:
    """Return the default server wallet, which signs for the organization and owns its tokens; None without one."""
    return await session.scalar(
        sa.select(WalletRow).where(col(WalletRow.organization_id) == organization_id, col(WalletRow.is_default))
    )


async def treasury(session: AsyncSession, organization_id: UUID) -> WalletRow:
    """Return the default server wallet; 409 with the prerequisite `server_wallet_exists` without one."""
    wallet = await find_treasury(session, organization_id)
    if wallet is None:
        entry = rules.server_wallet_entry(organization_id)
        raise PrerequisitesNotMet([entry], entry["detail"])
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
