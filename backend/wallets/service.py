"""Wallets of an organization: server wallets, and linked ones."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from backend.auth.principal import Context
from backend.chains import service as chains
from backend.core import locks
from backend.core.changes import publish, publish_change, shown
from backend.core.errors import Conflict, Invalid, NotFound, Unavailable
from backend.core.fields import Network
from backend.core.locks import Purpose
from backend.lists.pages import Listing, Page
from backend.wallets import balances, holdings, known_names, rules, server_keys, signing_wallets
from backend.wallets.models import WalletRow
from backend.wallets.schemas import (
    ListedWallet,
    Wallet,
    WalletCreate,
    WalletCreated,
    WalletDetail,
    WalletKind,
    WalletList,
    WalletUpdate,
)

WALLETS = sa.inspect(WalletRow).local_table
LIST = Listing.of(
    WALLETS.c,
    "created_at",
    "updated_at",
    label=sa.func.lower(WALLETS.c.label),
    names=(WALLETS.c.label,),
    codes=(WALLETS.c.address,),
)


async def page(context: Context, page: Page) -> WalletList:
    """Return a page of the organization's wallets, with their parties and what they hold."""
    query = sa.select(WALLETS).where(WALLETS.c.organization_id == context.organization_id)
    shown, paging = await page.read(context.session, query)
    wallets = [Wallet.model_validate(row) for row in shown]
    org_id, addresses = context.organization_id, [wallet.address for wallet in wallets]
    held = await holdings.of_addresses(context.session, org_id, addresses)
    known = await known_names.known(context.session, org_id, addresses)
    listed = [
        ListedWallet(
            **wallet.model_dump(),
            party_id=known[wallet.address].party_id,
            party_name=known[wallet.address].party,
            holdings=held[wallet.address],
        )
        for wallet in wallets
    ]
    return WalletList(wallets=listed, **paging)


async def detail(context: Context, wallet_id: UUID) -> WalletDetail:
    """Return a wallet with its current balances."""
    row = await _one(context, wallet_id)
    held = await balances.read(context.session, context.organization_id, context.network, row.address)
    wallet = Wallet.model_validate(row)
    return WalletDetail(**wallet.model_dump(), balances=held.balances, unreachable=held.unreachable)


async def create(context: Context, body: WalletCreate) -> WalletCreated:
    """Create a wallet. The first server wallet is the treasury; on embedded chains it gets gas everywhere."""
    asked = body.kind if "kind" in body.model_fields_set else None
    if rules.kind_of(asked, body.address) is WalletKind.LINKED:
        return await _added(context, _row(context, body, address=body.address, kind=WalletKind.LINKED))
    async with server_keys.new_key(context) as key:
        known = {"address": key.address, "key_ref": key.key_ref, "provider": key.provider}
        row = _row(context, body, kind=WalletKind.SERVER, **known)
        await _lock(context)
        await server_keys.check_quota(context)
        row.is_default = await signing_wallets.find_treasury(context.session, context.organization_id) is None
        return await _added(context, row)


async def _added(context: Context, row: WalletRow) -> WalletCreated:
    context.session.add(row)
    wallet = await _written(context, row)
    await publish(context.session, row.organization_id, "wallet.created", ("wallet", row.id), None, shown(Wallet, row))
    message = rules.creation_message(row.organization_id, row.is_default)
    return WalletCreated(**wallet.model_dump(), message=message)


async def update(context: Context, wallet_id: UUID, body: WalletUpdate) -> Wallet:
    """Change the label, or make the wallet the treasury."""
    await _lock(context)
    row = await _one(context, wallet_id)
    changes = body.model_dump(exclude_unset=True)
    empty = [name for name, value in changes.items() if value is None]
    if empty:
        raise Invalid([{"pointer": f"/{name}", "detail": "cannot be null"} for name in empty])
    before = shown(Wallet, row)
    if body.label is not None:
        row.label = body.label
    if body.is_default is not None and body.is_default != row.is_default:
        rules.check_default(row.kind, body.is_default, await _has(context, _OWNS_TOKENS, row))
        await _make_default(context, row)
    wallet = await _written(context, row)
    subject = ("wallet", row.id)
    await publish_change(context.session, row.organization_id, "wallet.updated", subject, before, shown(Wallet, row))
    return wallet


async def remove(context: Context, wallet_id: UUID) -> None:
    """Delete a wallet that is no longer needed; its key stays with the provider."""
    row = await _one(context, wallet_id)
    await _check_deletable(context, row)
    if row.kind is WalletKind.SERVER:
        await _check_empty(context, row)
    await _lock(context)
    row = await _one(context, wallet_id)
    await _check_deletable(context, row)
    await context.session.delete(row)
    await _written(context, row)
    await publish(context.session, row.organization_id, "wallet.removed", ("wallet", row.id), shown(Wallet, row))


async def _check_deletable(context: Context, row: WalletRow) -> None:
    is_issuer = await _has(context, "select 1 from issuers where wallet_id = :id", row)
    rules.check_deletable(row.kind, row.is_default, is_issuer, await _has(context, _HAS_ORDERS, row))


_OWNS_TOKENS = "select 1 from asset_deployments where organization_id = :organization and token_address is not null"
_HAS_ORDERS = "select 1 from orders where maker_address = :address and status in ('open', 'partial')"


async def _has(context: Context, query: str, row: WalletRow) -> bool:
    """Return whether a query finds a row. In SQL, because those tables' packages are above this one."""
    known = {"id": row.id, "organization": row.organization_id, "address": row.address}
    clause = sa.text(f"select exists ({query})")
    return bool(await context.session.scalar(clause, {k: v for k, v in known.items() if f":{k}" in query}))


async def _check_empty(context: Context, row: WalletRow) -> None:
    """Check both networks, regardless of the credential's: after deletion, a balance on either could no longer be
    transferred."""
    for network in Network:
        held = await balances.read(context.session, context.organization_id, network, row.address)
        if held.unreachable:
            response = (
                f"The chains {held.unreachable} do not answer, so the wallet's balances there are unknown. Retry later."
            )
            raise Unavailable(response)
        environments = {c.xchain_eid: c.environment for c in await chains.of_network(context.session, network)}
        rules.check_empty(held.balances, environments)


async def _make_default(context: Context, row: WalletRow) -> None:
    """Unset the old default before setting the new one: an index allows only one."""
    mine = (col(WalletRow.organization_id) == row.organization_id, col(WalletRow.is_default))
    ended = sa.update(WalletRow).where(*mine).values(is_default=False).returning(col(WalletRow.id))
    for wallet_id in (await context.session.scalars(ended)).all():
        subject, was, is_ = ("wallet", wallet_id), {"is_default": True}, {"is_default": False}
        await publish(context.session, row.organization_id, "wallet.updated", subject, was, is_)
    row.is_default = True


async def _lock(context: Context) -> None:
    """Serialize per organization, so that two first wallets do not both become the treasury."""
    await locks.wait(context.session, Purpose.WALLETS, context.organization_id)


async def _one(context: Context, wallet_id: UUID) -> WalletRow:
    row = await context.session.scalar(
        sa.select(WalletRow).where(
            col(WalletRow.id) == wallet_id, col(WalletRow.organization_id) == context.organization_id
        )
    )
    if row is None:
        raise NotFound("There is no wallet with this ID in this organization.")
    return row


def _row(context: Context, body: WalletCreate, **values: Any) -> WalletRow:
    return WalletRow(organization_id=context.organization_id, label=body.label, **values)


async def _written(context: Context, row: WalletRow) -> Wallet:
    try:
        await context.session.flush()
    except IntegrityError as error:
        raise Conflict(
            "This organization already has a wallet with this address, or other records still refer to it."
        ) from error
    return Wallet.model_validate(row)
