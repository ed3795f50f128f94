"""Embedded chains that the chain list calls mainnets, for rules that apply to mainnets only."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import sqlalchemy as sa
from sqlmodel import col

from backend.core import db
from backend.core.fields import Environment, Network
from backend.models import ChainRow, OrganizationRow
from tests.support.firm import BASE, SEPOLIA
from tests.support.issuance import Issuance


@asynccontextmanager
async def on_mainnets(firm: Issuance) -> AsyncIterator[None]:
    """Inside, Sepolia and Base are mainnets, and the firm works on mainnets."""
    await _set(firm, Environment.MAINNET, Network.MAINNET)
    try:
        yield
    finally:
        await _set(firm, Environment.DEVNET, Network.TESTNET)


async def _set(firm: Issuance, environment: Environment, network: Network) -> None:
    async with db.worker() as session:
        chains = sa.update(ChainRow).where(col(ChainRow.xchain_eid).in_([SEPOLIA, BASE]))
        await session.execute(chains.values(environment=environment))
        organization = sa.update(OrganizationRow).where(col(OrganizationRow.id) == firm.id)
        await session.execute(organization.values(network=network))
