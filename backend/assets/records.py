"""Queries of assets and deployments, within one organization."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from backend.assets.gas import SMALL_SIZE
from backend.assets.models import AssetRow, DeploymentRow
from backend.assets.schemas import AssetStatus, DeploymentStatus
from backend.chain.chain_models import ChainRow
from backend.chain.rpc.json_rpc import connect
from backend.chain.transactions import funding, l1_fee
from backend.core import db
from backend.core.errors import Conflict, NotFound
from backend.wallets.models import WalletRow


async def asset(session: AsyncSession, organization_id: UUID, asset_id: UUID, *, lock: bool = False) -> AssetRow:
    """Return an asset of the organization; 404 if it does not exist."""
    query = sa.select(AssetRow).where(col(AssetRow.id) == asset_id, col(AssetRow.organization_id) == organization_id)
    row: AssetRow | None = await session.scalar(query.with_for_update() if lock else query)
    if row is None:
        raise NotFound("There is no asset with this ID in this organization.")
    return row


class SymbolTaken(Conflict):
    """Conflict"""

    def __init__(self, symbol: str) -> None:
        super().__init__(f"The organization already has an asset with the symbol {symbol}. Choose another symbol.")


async def check_symbol(session: AsyncSession, organization_id: UUID, symbol: str) -> None:
    """Raise 409 if another asset of the organization has this symbol."""
    query = sa.select(col(AssetRow.id)).where(
        col(AssetRow.organization_id) == organization_id,
        col(AssetRow.symbol) == symbol,
        col(AssetRow.status) != AssetStatus.ARCHIVED,
    )
    if await session.scalar(query) is not None:
        raise SymbolTaken(symbol)


async def deployments(session: AsyncSession, asset_id: UUID) -> list[DeploymentRow]:
    """Return the asset's deployments, including those in progress, oldest first."""
    query = sa.select(DeploymentRow).where(col(DeploymentRow.asset_id) == asset_id)
    return list(await session.scalars(query.order_by(col(DeploymentRow.created_at), col(DeploymentRow.id))))


async def token_on(session: AsyncSession, asset_id: UUID, eid: int) -> str | None:
    """Return the address of the asset's active token on a chain, if there is one."""
    query = sa.select(col(DeploymentRow.token_address)).where(
        col(DeploymentRow.asset_id) == asset_id,
        col(DeploymentRow.chain_eid) == eid,
        col(DeploymentRow.status) == DeploymentStatus.ACTIVE,
    )
    address: str | None = await session.scalar(query)
    return address


def active(rows: Sequence[DeploymentRow]) -> list[DeploymentRow]:
    """Return the deployments whose token is active."""
    return [r for r in rows if r.status is DeploymentStatus.ACTIVE and r.token_address]


def sharing(rows: Sequence[DeploymentRow]) -> list[int]:
    """Return the chains that share the caps: those with a token, and those that get one now; oldest first."""
    return [r.chain_eid for r in rows if r.token_address or r.status is not DeploymentStatus.FAILED]


async def chain_names(session: AsyncSession) -> dict[int, str]:
    """Return the names of supported chains by endpoint ID."""
    query = sa.select(col(ChainRow.xchain_eid), col(ChainRow.display_name))
    return {row.xchain_eid: row.display_name for row in await session.execute(query)}


@dataclass(frozen=True, slots=True)
class Cost:
    """What transactions may cost, and what their sender holds, in wei."""

    needed: int
    held: int

    @property
    def is_covered(self) -> bool:
        """Return whether the sender can pay."""
        return self.held > 0 and self.held >= self.needed


async def check_funded(
    session: AsyncSession, wallet: WalletRow, eid: int, gas: int, value: int = 0, *, size: int = SMALL_SIZE
) -> None:
    """Raise 409 if a wallet cannot pay for `gas` on a chain plus `value` wei; the error names the wallet, the chain and
    the required amount. On a rollup, the cost includes writing `size` bytes of call data to Ethereum.

    The transaction is paused while the chain is queried: earlier locks are released.
    """
    async with db.paused(session):
        cost = await cost_on_chain(wallet.address, eid, gas, value, size=size)
    await check_covered(session, wallet, eid, cost, value)


async def check_covered(session: AsyncSession, wallet: WalletRow, eid: int, cost: Cost, value: int = 0) -> None:
    """Raise 409 if a wallet does not hold a cost, of which `value` is for the delivery of a packet, as `check_funded`
    does."""
    if cost.is_covered:
        return
    query = sa.select(col(ChainRow.display_name), col(ChainRow.native_currency_symbol))
    name, symbol = (await session.execute(query.where(col(ChainRow.xchain_eid) == eid))).one()
    beside = f" ({funding.amount(value)} of it for the delivery of a packet)" if value else ""
    raise Conflict(
        f'The wallet "{wallet.label}" ({wallet.address}) has too little {symbol} on {name}: this may cost '
        f"{funding.amount(cost.needed)} {symbol}{beside}, and it has {funding.held(cost.held)}. Fund it first."
    )


async def gas_cost(
    session: AsyncSession, address: str, eid: int, gas: int, *, size: int = SMALL_SIZE
) -> tuple[int, int]:
    """Return what `gas` may cost on a chain, and what an address holds there for it; both in wei.

    The transaction is paused while the chain is queried: earlier locks are released.
    """
    async with db.paused(session):
        cost = await cost_on_chain(address, eid, gas, size=size)
    return cost.needed, cost.held


async def cost_on_chain(address: str, eid: int, gas: int, value: int = 0, *, size: int = SMALL_SIZE) -> Cost:
    """Return what `gas` plus `value` wei may cost on a chain, and what an address holds there for it. Call it
    without an open transaction."""
    rpc = await connect(eid)
    price, balance = await rpc.batch([("eth_gasPrice", []), ("eth_getBalance", [address, "latest"])])
    written = await l1_fee.planned_fee(rpc, size, int(price, 16))
    return Cost(gas * 2 * int(price, 16) + written + value, int(balance, 16))
