"""Registering an organization as an attestation issuer."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from backend.auth import operator_paid
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.chains import service as chains
from backend.changes import shown, tell
from backend.db import Write
from backend.errors import NotFound
from backend.issuers import lineage, rules
from backend.issuers.models import IssuerRow, IssuerWalletRow
from backend.issuers.rules import Terms
from backend.issuers.schemas import (
    Issuer,
    IssuerImpact,
    IssuerPlan,
    IssuerRegister,
    IssuerRegistered,
    IssuerStatus,
    IssuerWallet,
)
from backend.requests.accept import accept
from backend.requests.models import RequestRow
from backend.requests.schemas import FINAL
from backend.requests.service import Step
from backend.wallets import service as wallets
from backend.wallets.models import WalletRow


async def get(context: Context) -> Issuer:
    """The organization as an issuer; 404 before it was ever registered."""
    row = await find(context.session, context.organization_id)
    if row is None:
        raise NotFound("This organization is not registered as an issuer.")
    attesters = await _attesters(context.session, row)
    shown = [IssuerWallet.model_validate(w) for w in sorted(attesters.values(), key=lambda w: w.chain_eid)]
    return Issuer(
        name=row.name,
        max_kyc_level=row.max_kyc_level,
        can_revoke_others=row.can_revoke_others,
        request_id=row.request_id,
        wallets=shown,
    )


async def find(session: AsyncSession, organization_id: UUID) -> IssuerRow | None:
    """The issuer's row, where there is one."""
    return await session.scalar(sa.select(IssuerRow).where(col(IssuerRow.organization_id) == organization_id))


async def attester_on(session: AsyncSession, organization_id: UUID, eid: int) -> IssuerWalletRow | None:
    """The attester an organization is on a chain, where that is confirmed."""
    return await session.scalar(
        sa.select(IssuerWalletRow).where(
            col(IssuerWalletRow.organization_id) == organization_id,
            col(IssuerWalletRow.chain_eid) == eid,
            col(IssuerWalletRow.status) == IssuerStatus.REGISTERED,
        )
    )


async def register(context: Context, body: IssuerRegister) -> IssuerRegistered:
    """Publish REGISTER_ISSUER for every enabled chain that has not confirmed it. Repeating it completes what lacks."""
    _, enabled = await _ready(context)
    path = await lineage.path_of(context.session, context.organization_id)
    missing = await lineage.unwritten(context.session, path, [c.xchain_eid for c in enabled])
    await _lock(context)
    wallet, enabled = await _ready(context)
    row, has_new_terms = await _issuer(context, body, wallet)
    open_chains = await _pend(context, row, enabled, has_new_terms)
    if open_chains and not await _is_running(context, row, open_chains, has_new_terms):
        await _publish(context, row, [c for c in enabled if c.xchain_eid in open_chains], missing)
    return IssuerRegistered(registered=not open_chains)


async def plan(context: Context, body: IssuerRegister) -> IssuerPlan:
    """Every check of a registration, and what it would write where."""
    wallet, enabled = await _ready(context)
    row = await find(context.session, context.organization_id)
    known, wanted = await _terms(context, row, body)
    address, states = wallet.address, {}
    if row is not None:
        address = (await context.session.get_one(WalletRow, row.wallet_id)).address
        states = {eid: w.status for eid, w in (await _attesters(context.session, row)).items()}
    eids = [c.xchain_eid for c in enabled]
    written = set(eids) if known is not None and known != wanted else rules.unregistered(eids, states)
    steps = [f"Add the attester on {c.display_name}" for c in enabled if c.xchain_eid in written]
    impact = IssuerImpact(wallet_address=address, **wanted.__dict__, chains=sorted(written))
    return IssuerPlan(steps=steps or ["Every enabled chain has confirmed it already"], impact=impact)


async def _ready(context: Context) -> tuple[WalletRow, Sequence[Any]]:
    """The treasury and the enabled chains; 400 where one of them is missing."""
    wallet = await wallets.treasury(context.session, context.organization_id)
    enabled = await chains.enabled(context.session, context.organization_id, context.network)
    rules.check_ready(wallet is not None, len(enabled))
    assert wallet is not None
    return wallet, enabled


async def _terms(context: Context, row: IssuerRow | None, body: IssuerRegister) -> tuple[Terms | None, Terms]:
    """The terms that were asked for last, and those that are wanted now."""
    name = await context.session.scalar(
        sa.text("select name from organizations where id = :id"), {"id": context.organization_id}
    )
    known = Terms(row.name, row.max_kyc_level, row.can_revoke_others) if row else None
    return known, rules.terms(body, known, str(name))


async def _issuer(context: Context, body: IssuerRegister, wallet: WalletRow) -> tuple[IssuerRow, bool]:
    """The issuer's row with the terms wanted now, and whether they differ from what was confirmed."""
    row = await find(context.session, context.organization_id)
    known, wanted = await _terms(context, row, body)
    if row is None:
        row = IssuerRow(organization_id=context.organization_id, wallet_id=wallet.id, **wanted.__dict__)
        context.session.add(row)
        await context.session.flush()
    for key, value in wanted.__dict__.items():
        setattr(row, key, value)
    return row, known is not None and wanted != known


async def _pend(context: Context, row: IssuerRow, enabled: Sequence[Any], has_new_terms: bool) -> set[int]:
    """Rows for the enabled chains; the endpoint ids that have to be written (again)."""
    attesters = await _attesters(context.session, row)
    address = await context.session.scalar(sa.select(col(WalletRow.address)).where(col(WalletRow.id) == row.wallet_id))
    for chain in enabled:
        known = attesters.get(chain.xchain_eid)
        if known is None:
            context.session.add(
                IssuerWalletRow(
                    organization_id=row.organization_id,
                    issuer_id=row.id,
                    chain_eid=chain.xchain_eid,
                    address=str(address),
                )
            )
        elif has_new_terms or known.status is IssuerStatus.FAILED:
            known.status = IssuerStatus.PENDING
    await context.session.flush()
    states = {eid: w.status for eid, w in (await _attesters(context.session, row)).items()}
    return rules.unregistered([c.xchain_eid for c in enabled], states)


async def _is_running(context: Context, row: IssuerRow, eids: set[int], has_new_terms: bool) -> bool:
    """Whether the command that was published last still runs and covers these chains with these terms."""
    last = await context.session.get(RequestRow, row.request_id) if row.request_id else None
    return last is not None and last.status not in FINAL and not has_new_terms and eids <= set(last.arguments["chains"])


async def _publish(context: Context, row: IssuerRow, places: Sequence[Any], missing: Mapping[int, int]) -> None:
    """REGISTER_ISSUER: the request and its workflow, in this transaction."""
    lacks = {c.xchain_eid: missing.get(c.xchain_eid, 0) for c in places}
    await operator_paid.count(context.session, context.organization_id, len(places) + sum(lacks.values()))
    request = await accept(
        context,
        "issuer.register",
        f"Register {row.name} as an issuer",
        subject=("issuer", row.id),
        scope=Scope.ATTESTATIONS_WRITE,
        order=row.id,
        arguments={"chains": [c.xchain_eid for c in places], **lineage.noted(lacks)},
        steps=[Step(f"register:{c.xchain_eid}", f"Attester added on {c.display_name}", c.xchain_eid) for c in places],
    )
    row.request_id = request.id
    terms = {"name": row.name, "max_kyc_level": row.max_kyc_level, "can_revoke_others": row.can_revoke_others}
    told = terms | {"chains": [c.xchain_eid for c in places]}
    await tell(context.session, row.organization_id, "issuer.registering", ("issuer", row.id), None, told)


async def _attesters(session: AsyncSession, row: IssuerRow) -> dict[int, IssuerWalletRow]:
    found = await session.scalars(sa.select(IssuerWalletRow).where(col(IssuerWalletRow.issuer_id) == row.id))
    return {w.chain_eid: w for w in found}


async def _lock(context: Context) -> None:
    name = f"issuer:{context.organization_id}"
    await context.session.execute(sa.text("select pg_advisory_xact_lock(hashtextextended(:n, 0))"), {"n": name})


async def note(session: Write, organization_id: UUID, eid: int, status: IssuerStatus, tx_hash: str | None) -> None:
    """How the registration on one chain ended. Without a hash the one before stays."""
    mine = (col(IssuerWalletRow.organization_id) == organization_id, col(IssuerWalletRow.chain_eid) == eid)
    for row in (await session.scalars(sa.select(IssuerWalletRow).where(*mine).with_for_update())).all():
        await _settle(session, row, status, tx_hash)


async def fail_pending(session: Write, organization_id: UUID, eids: Sequence[int]) -> None:
    """What a registration that ended badly leaves unconfirmed has failed."""
    pending = sa.select(IssuerWalletRow).where(
        col(IssuerWalletRow.organization_id) == organization_id,
        col(IssuerWalletRow.chain_eid).in_(eids),
        col(IssuerWalletRow.status) == IssuerStatus.PENDING,
    )
    for row in (await session.scalars(pending.with_for_update())).all():
        await _settle(session, row, IssuerStatus.FAILED, None)


async def _settle(session: Write, row: IssuerWalletRow, status: IssuerStatus, tx_hash: str | None) -> None:
    before, was = shown(IssuerWallet, row), row.status
    row.status, row.tx_hash = status, tx_hash or row.tx_hash
    await session.flush()
    if status is not was:
        told = {"chain_eid": row.chain_eid, "address": row.address, "status": status, "tx_hash": row.tx_hash}
        subject = ("issuer", row.issuer_id)
        await tell(session, row.organization_id, f"issuer.{status}", subject, before, told)
