"""Registration of an organization as an attestation issuer."""

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
from backend.core import locks
from backend.core.changes import publish, shown
from backend.core.db import Write
from backend.core.errors import NotFound
from backend.core.locks import Purpose
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
from backend.requests.accept import accept, acceptance_message
from backend.requests.models import RequestRow
from backend.requests.schemas import FINAL, Action
from backend.requests.second_person import Below
from backend.requests.service import Step
from backend.wallets import signing_wallets
from backend.wallets.models import WalletRow

IN_PROGRESS = "The registration is in progress. Follow its request instead of registering again."
GIVEN = "given"
"""Name of the requested terms in a registration's arguments, until they are written."""


async def get(context: Context) -> Issuer:
    """Return the organization as an issuer; 404 before registration."""
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
    """Return the issuer's row, if it exists."""
    return await session.scalar(sa.select(IssuerRow).where(col(IssuerRow.organization_id) == organization_id))


async def attester_on(session: AsyncSession, organization_id: UUID, eid: int) -> IssuerWalletRow | None:
    """Return the organization's confirmed attester on a chain."""
    return await session.scalar(
        sa.select(IssuerWalletRow).where(
            col(IssuerWalletRow.organization_id) == organization_id,
            col(IssuerWalletRow.chain_eid) == eid,
            col(IssuerWalletRow.status) == IssuerStatus.REGISTERED,
        )
    )


async def register(context: Context, body: IssuerRegister) -> IssuerRegistered:
    """Publish REGISTER_ISSUER for every enabled chain that has not confirmed it. A repeated call adds the missing
    chains."""
    _, enabled = await _ready(context)
    path = await lineage.path_of(context.session, context.organization_id)
    missing = await lineage.unwritten(context.session, path, [c.xchain_eid for c in enabled])
    await _lock(context)
    wallet, enabled = await _ready(context)
    row = await _issuer(context, wallet)
    last = await _waiting(context, row)
    before = rules.terms(_given(last), _terms_of(row), row.name)
    wanted = rules.terms(body, before, row.name)
    open_chains = await _pend(context, row, enabled)
    if wanted != before:
        open_chains = {c.xchain_eid for c in enabled}
    elif last is not None:
        open_chains |= set(last.arguments["chains"]) & {c.xchain_eid for c in enabled}
    covered = last is not None and wanted == before and open_chains <= set(last.arguments["chains"])
    if open_chains and not covered:
        await _publish(context, row, body, wanted, [c for c in enabled if c.xchain_eid in open_chains], missing)
    message = await _progress(context, row)
    return IssuerRegistered(registered=not open_chains, request_id=row.request_id, message=message)


async def _progress(context: Context, row: IssuerRow) -> str | None:
    """Return what the last registration waits for; None if it has finished."""
    last = await _waiting(context, row)
    return acceptance_message(last, IN_PROGRESS) if last else None


async def plan(context: Context, body: IssuerRegister) -> IssuerPlan:
    """Run every check of a registration, and return what it would write where."""
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
    return IssuerPlan(steps=steps or ["Every enabled chain has already confirmed it"], impact=impact)


async def _ready(context: Context) -> tuple[WalletRow, Sequence[Any]]:
    """Return the treasury and the enabled chains; 400 if one of them is missing."""
    wallet = await signing_wallets.find_treasury(context.session, context.organization_id)
    enabled = await chains.enabled(context.session, context.organization_id, context.network)
    usable = {} if enabled else await chains.usable_names(context)
    rules.check_ready(context.organization_id, wallet is not None, len(enabled), usable)
    assert wallet is not None
    return wallet, enabled


async def _terms(context: Context, row: IssuerRow | None, body: IssuerRegister) -> tuple[Terms | None, Terms]:
    """Return the terms of the last registration that started, and those requested now."""
    known = _terms_of(row) if row else None
    return known, rules.terms(body, known, await _name(context))


def _terms_of(row: IssuerRow) -> Terms:
    return Terms(row.name, row.max_kyc_level, row.can_revoke_others)


async def _name(context: Context) -> str:
    text = sa.text("select name from organizations where id = :id")
    return str(await context.session.scalar(text, {"id": context.organization_id}))


async def _issuer(context: Context, wallet: WalletRow) -> IssuerRow:
    """Return the issuer's row. A new one has the default terms: a registration writes its own when it starts, because
    one that is denied before must leave none to a later one."""
    row = await find(context.session, context.organization_id)
    if row is None:
        terms = rules.terms(IssuerRegister(), None, await _name(context))
        row = IssuerRow(organization_id=context.organization_id, wallet_id=wallet.id, **terms.__dict__)
        context.session.add(row)
        await context.session.flush()
    return row


async def _waiting(context: Context, row: IssuerRow) -> RequestRow | None:
    """Return the last registration, while it waits or runs."""
    last = await context.session.get(RequestRow, row.request_id) if row.request_id else None
    return None if last is None or last.status in FINAL else last


def _given(request: RequestRow | None) -> IssuerRegister:
    """Return the terms that a registration has not written yet."""
    return IssuerRegister.model_validate(request.arguments.get(GIVEN, {}) if request else {})


async def apply(session: Write, request_id: UUID) -> None:
    """Write the terms of a registration that starts to the issuer, once. With new terms, confirmed chains are pending
    again."""
    request = await session.get_one(RequestRow, request_id, with_for_update=True)
    row = await session.get_one(IssuerRow, request.subject_id, with_for_update=True)
    known = _terms_of(row)
    terms = rules.terms(_given(request), known, row.name)
    request.arguments = {name: value for name, value in request.arguments.items() if name != GIVEN}
    for name, value in terms.__dict__.items():
        setattr(row, name, value)
    if terms != known:
        for attester in (await _attesters(session, row)).values():
            if attester.chain_eid in request.arguments["chains"]:
                attester.status = IssuerStatus.PENDING


async def _pend(context: Context, row: IssuerRow, enabled: Sequence[Any]) -> set[int]:
    """Write rows for the enabled chains; return the endpoint IDs that have not confirmed the attester."""
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
        elif known.status is IssuerStatus.FAILED:
            known.status = IssuerStatus.PENDING
    await context.session.flush()
    states = {eid: w.status for eid, w in (await _attesters(context.session, row)).items()}
    return rules.unregistered([c.xchain_eid for c in enabled], states)


async def _publish(
    context: Context,
    row: IssuerRow,
    body: IssuerRegister,
    wanted: Terms,
    places: Sequence[Any],
    missing: Mapping[int, int],
) -> None:
    """Publish REGISTER_ISSUER: write the request and its workflow in this transaction."""
    chains, given = [c.xchain_eid for c in places], body.model_dump(exclude_unset=True, exclude_none=True)
    lacks = {c.xchain_eid: missing.get(c.xchain_eid, 0) for c in places}
    await operator_paid.count(context.session, context.organization_id, len(places) + sum(lacks.values()))
    request = await accept(
        context,
        "issuer.register",
        f"Register {wanted.name} as an issuer",
        subject=("issuer", row.id),
        scope=Scope.ATTESTATIONS_WRITE,
        order=row.id,
        arguments={"chains": chains, GIVEN: given, **lineage.noted(lacks)},
        steps=[Step(f"register:{c.xchain_eid}", f"Add the attester on {c.display_name}", c.xchain_eid) for c in places],
        below=Below(Action.REVOKE) if wanted.can_revoke_others and not row.can_revoke_others else None,
    )
    row.request_id = request.id
    answer = {**wanted.__dict__, "chains": chains}
    await publish(context.session, row.organization_id, "issuer.registering", ("issuer", row.id), None, answer)


async def _attesters(session: AsyncSession, row: IssuerRow) -> dict[int, IssuerWalletRow]:
    found = await session.scalars(sa.select(IssuerWalletRow).where(col(IssuerWalletRow.issuer_id) == row.id))
    return {w.chain_eid: w for w in found}


async def _lock(context: Context) -> None:
    await locks.wait(context.session, Purpose.ISSUER, context.organization_id)


async def note(session: Write, organization_id: UUID, eid: int, status: IssuerStatus, tx_hash: str | None) -> None:
    """Record how the registration on one chain ended. Without a hash, the previous one stays."""
    mine = (col(IssuerWalletRow.organization_id) == organization_id, col(IssuerWalletRow.chain_eid) == eid)
    for row in (await session.scalars(sa.select(IssuerWalletRow).where(*mine).with_for_update())).all():
        await _settle(session, row, status, tx_hash)


async def fail_pending(session: Write, organization_id: UUID, eids: Sequence[int]) -> None:
    """Mark the unconfirmed chains of a failed registration as failed."""
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
        answer = {"chain_eid": row.chain_eid, "address": row.address, "status": status, "tx_hash": row.tx_hash}
        subject = ("issuer", row.issuer_id)
        await publish(session, row.organization_id, f"issuer.{status}", subject, before, answer)
