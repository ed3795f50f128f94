"""Keys of new server wallets: counted before they are made, and deleted when their request fails."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.principal import Context
from backend.chain.devnet import anvil
from backend.chain.rpc import node_urls
from backend.chain.signing.keys import NewKey
from backend.chain.signing.wallet_provider import provider
from backend.core import db, threads
from backend.core.fair_places import called_by
from backend.core.roots import root_of
from backend.core.settings import settings
from backend.core.threads import Work
from backend.limits import rate_limits
from backend.organizations import quotas
from backend.wallets.models import WalletRow
from backend.wallets.schemas import WalletKind


@asynccontextmanager
async def new_key(context: Context) -> AsyncIterator[NewKey]:
    """Make a key, with gas on embedded chains, while the request's transaction is paused.

    Raises Conflict if the organization has reached its quota, and TooManyRequests if its hierarchy has for today. The
    key is deleted if the code inside raises an error, which rolls its wallet back.
    """
    await check_quota(context)
    root = str(await root_of(context.session, context.organization_id))
    await _ask(rate_limits.check, root)
    key = None
    try:
        async with db.paused(context.session):
            key = await _make(root)
            await fund(key.address)
        yield key
    except BaseException:
        if key is not None:
            await provider().discard(key)
        raise


async def check_quota(context: Context) -> None:
    """Raise Conflict if the organization has as many server wallets as it may."""
    own = (col(WalletRow.organization_id) == context.organization_id, col(WalletRow.kind) == WalletKind.SERVER)
    count = sa.select(sa.func.count()).select_from(WalletRow).where(*own)
    await quotas.check(
        context.session, context.organization_id, count, quotas.SERVER_WALLETS, "server wallets; delete one"
    )


async def _ask(check: Callable[..., Awaitable[None]], root: str) -> None:
    """Check, or check and count, the hierarchy's keys of the day."""
    limit = rate_limits.SERVER_WALLETS_BELOW
    detail = f"At most {limit.amount} server wallets are created below one root organization a day."
    await check(limit, "server wallets below", root, rule=detail)


async def _make(root: str) -> NewKey:
    """Make a key when it is the hierarchy's turn. Requests that get no turn are not counted."""
    with called_by(f"hierarchy {root}"):
        async with threads.turn(Work.WALLET_KEYS):
            await _ask(rate_limits.hit, root)
            return await provider().create()


async def fund(address: str) -> None:
    """Fund a new wallet with gas from the faucet of every embedded chain; do nothing on real chains."""
    if settings().embedded_chains:
        await asyncio.gather(*(anvil.fund(eid, address) for eid in node_urls.EMBEDDED))
