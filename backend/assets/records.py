"""The rows of assets and deployments, fetched within one organization."""

from collections.abc import Sequence
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from backend import db
from backend.assets.gas import SMALL_SIZE
from backend.assets.models import AssetRow, DeploymentRow
from backend.assets.schemas import AssetStatus, DeploymentStatus
from backend.chain import l1_fee, means
from backend.chain.rpc import connect
from backend.chains.models import ChainRow
from backend.errors import Conflict, NotFound
from backend.wallets.models import WalletRow
from backend.wallets.schemas import WalletKind


async def asset(session: AsyncSession, organization_id: UUID, asset_id: UUID, *, lock: bool = False) -> AssetRow:
    """An asset of the organization; 404 where it is not."""
    query = sa.select(AssetRow).where(col(AssetRow.id) == asset_id, col(AssetRow.organization_id) == organization_id)
    row: AssetRow | None = await session.scalar(query.with_for_update() if lock else query)
    if row is None:
        raise NotFound("There is no such asset in this organization.")
    return row


class SymbolTaken(Conflict):
    """Conflict"""

    def __init__(self, symbol: str) -> None:
        super().__init__(f"The organization has an asset with the symbol {symbol} already.")


async def check_symbol(session: AsyncSession, organization_id: UUID, symbol: str) -> None:
    """409 where another asset of the organization has this symbol."""
    query = sa.select(col(AssetRow.id)).where(
        col(AssetRow.organization_id) == organization_id,
        col(AssetRow.symbol) == symbol,
        col(AssetRow.status) != AssetStatus.ARCHIVED,
    )
    if await session.scalar(query) is not None:
        raise SymbolTaken(symbol)


async def deployments(session: AsyncSession, asset_id: UUID) -> list[DeploymentRow]:
    """Where an asset is or is being brought to, oldest first."""
    query = sa.select(DeploymentRow).where(col(DeploymentRow.asset_id) == asset_id)
    return list(await session.scalars(query.order_by(col(DeploymentRow.created_at), col(DeploymentRow.id))))


def active(rows: Sequence[DeploymentRow]) -> list[DeploymentRow]:
    """Those whose token is in force."""
    return [r for r in rows if r.status is DeploymentStatus.ACTIVE and r.token_address]


def sharing(rows: Sequence[DeploymentRow]) -> list[int]:
    """The chains among which the caps are shared: those with a token, and those that get one now; oldest first."""
    return [r.chain_eid for r in rows if r.token_address or r.status is not DeploymentStatus.FAILED]


async def treasury(session: AsyncSession, organization_id: UUID) -> WalletRow:
    """The organization's default server wallet; 409 where it has none."""
    query = sa.select(WalletRow).where(
        col(WalletRow.organization_id) == organization_id,
        col(WalletRow.kind) == WalletKind.SERVER,
        col(WalletRow.is_default),
    )
    row: WalletRow | None = await session.scalar(query)
    if row is None:
        raise Conflict(
            "The organization has no default server wallet, which would own the token and pay for its transactions. "
            f"POST /v1/orgs/{organization_id}/wallets makes one."
        )
    return row


async def chain_names(session: AsyncSession) -> dict[int, str]:
    """Names of the registry's chains by endpoint id."""
    query = sa.select(col(ChainRow.xchain_eid), col(ChainRow.display_name))
    return {row.xchain_eid: row.display_name for row in await session.execute(query)}


async def check_funded(
    session: AsyncSession, wallet: WalletRow, eid: int, gas: int, value: int = 0, *, size: int = SMALL_SIZE
) -> None:
    """409 where a wallet cannot pay for `gas` on a chain and `value` wei beside it; says which wallet, where, and how
    much it takes. Where the chain is a rollup, writing `size` bytes of call data to Ethereum is part of that.

    The transaction is paused while the chain is asked: what was locked before is not any more.
    """
    async with db.paused(session):
        rpc = await connect(eid)
        price, balance = await rpc.batch([("eth_gasPrice", []), ("eth_getBalance", [wallet.address, "latest"])])
        written = await l1_fee.planned_fee(rpc, size, int(price, 16))
    needed = gas * 2 * int(price, 16) + written + value
    if int(balance, 16) > 0 and int(balance, 16) >= needed:
        return
    query = sa.select(col(ChainRow.display_name), col(ChainRow.native_currency_symbol))
    name, symbol = (await session.execute(query.where(col(ChainRow.xchain_eid) == eid))).one()
    beside = f" ({means.amount(value)} of it for the delivery of a packet)" if value else ""
    raise Conflict(
        f'The wallet "{wallet.label}" ({wallet.address}) has too little {symbol} on {name} to pay for this, which may '
        f"take {means.amount(needed)} {symbol}{beside}: it has {means.held(int(balance, 16))}. Fund it first."
    )
