"""Issue and revoke attestations: checks, rows, and the requests that write them to the chain."""

import asyncio
import hashlib
from collections import defaultdict
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.attestations import authority, drafts, revocation_impact, rules
from backend.attestations.drafts import Draft
from backend.attestations.models import AttestationRow
from backend.attestations.revocation_impact import Affected
from backend.attestations.rules import Described, Statement
from backend.attestations.schemas import (
    REVOKE,
    Attestation,
    AttestationAccepted,
    AttestationCreate,
    AttestationImpact,
    AttestationPlan,
    AttestationRevoke,
    AttestationStatus,
)
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.chain.abi.calls import Call, Intent
from backend.chain.bindings import registry
from backend.chain.deployment.contracts import contracts_of
from backend.chain.devnet import clock
from backend.chain.errors import InsufficientFunds
from backend.chain.rpc import json_rpc
from backend.chain.transactions import lost_transactions, several
from backend.chain.transactions.execution import rehearse
from backend.chains import service as chains
from backend.core import db
from backend.core.changes import publish, shown
from backend.core.errors import Conflict
from backend.core.units import shortened
from backend.parties.models import PartyRow
from backend.requests import groups
from backend.requests import service as requests
from backend.requests.accept import accept, acceptance_message
from backend.requests.groups import Asked
from backend.requests.models import RequestRow
from backend.requests.schemas import FINAL, Action
from backend.requests.second_person import Below
from backend.requests.service import Step
from backend.requests.waiting import accepted_status

ISSUE = "attestation.issue"


async def create(context: Context, body: AttestationCreate, dry_run: bool) -> AttestationAccepted | AttestationPlan:
    """Run every check that is possible now, then write the row and enqueue its request."""
    chain = await chains.usable(context, body.chain_eid)
    expires_at = rules.expiry(body.expires_at, clock.chain_now())
    draft = await drafts.one(context, chain, body, expires_at)
    async with lost_transactions.considered(context.session, chain.xchain_eid), db.paused(context.session):
        await _check_signer(context, chain, draft.attester, await attest_call(draft.row))
    draft = await drafts.one(context, chain, body, expires_at)  # again, because the first check held no lock
    party, row = draft.party, draft.row
    if dry_run:
        return _plan(
            chain,
            row,
            [f"Attest {party.name} on {chain.display_name}", ("Read the attestation back")],
            replaced=draft.replaced,
        )
    request = await accept(
        context,
        ISSUE,
        _title(draft),
        subject=("attestation", row.id),
        scope=Scope.ATTESTATIONS_WRITE,
        order=party.id,
        below=Below(Action.ATTEST),
        steps=_steps(draft),
    )
    return await _written(context, row, request)


async def create_together(context: Context, items: Mapping[int, AttestationCreate]) -> dict[int, AttestationAccepted]:
    """Issue attestations as `create` does, in few round trips; return the acceptances of those that are accepted.

    It accepts none where each needs a decision of its own: `create` makes it, and says why one is refused.
    """
    below = Below(Action.ATTEST)
    if not await groups.can_accept(context, ISSUE, below):
        return {}
    found = await drafts.several(context, items)
    async with db.paused(context.session):
        passing = await _passing(context, found)
    found = await drafts.several(context, {index: items[index] for index in passing})
    if not found or not await groups.can_accept(context, ISSUE, below):  # again: a policy may be new since
        return {}
    asked = [
        Asked(
            _title(draft),
            ("attestation", draft.row.id),
            order=draft.party.id,
            steps=_steps(draft),
            eid=draft.row.chain_eid,
            signer=draft.attester,
        )
        for draft in found.values()
    ]
    written = await groups.accept(context, ISSUE, asked, scope=Scope.ATTESTATIONS_WRITE, below=below)
    return {
        index: await _written(context, draft.row, request)
        for (index, draft), request in zip(found.items(), written, strict=True)
    }


async def _passing(context: Context, found: Mapping[int, Draft]) -> set[int]:
    """Return the drafts whose transactions would pass."""
    intents = defaultdict[tuple[int, str], list[Intent]](list)
    for index, draft in found.items():
        call, eid = await attest_call(draft.row), draft.row.chain_eid
        intent = call.intent(str(index), eid=eid, signer=draft.attester, organization_id=context.organization_id)
        intents[eid, draft.attester].append(intent)
    passing = await asyncio.gather(*(several.rehearse(one) for one in intents.values()))
    return {int(key) for keys in passing for key in keys}


def _title(draft: Draft) -> str:
    return f"Attest {draft.party.name} on {draft.chain.display_name}"


def _steps(draft: Draft) -> list[Step]:
    return [
        Step("attest", f"Attest on {draft.chain.display_name}", draft.row.chain_eid),
        Step("read_back", "Read back from the chain", draft.row.chain_eid),
    ]


async def _written(context: Context, row: AttestationRow, request: RequestRow) -> AttestationAccepted:
    """Write an accepted attestation."""
    row.request_id = request.id
    context.session.add(row)
    subject = ("attestation", row.id)
    await publish(context.session, row.organization_id, "attestation.created", subject, None, shown(Attestation, row))
    return _accepted(row, request, acceptance_message(request, "The attestation is being sent to the chain."))


async def revoke(
    context: Context, attestation_id: UUID, body: AttestationRevoke, dry_run: bool
) -> AttestationAccepted | AttestationPlan:
    """Revoke an active attestation, by the wallet that issued it or by an issuer above that may revoke others'."""
    row = await _revocable(context, attestation_id)
    chain = await chains.usable(context, row.chain_eid)
    async with lost_transactions.considered(context.session, row.chain_eid):
        signer = await _check_revocation(context, chain, row, body.reason)
    row = await _revocable(context, attestation_id)  # again, because the first check held no lock
    if dry_run:
        steps = [f"Revoke on {chain.display_name}", "Read the revocation back"]
        return _plan(chain, row, steps, affected=await revocation_impact.affected(context, row, chain))
    party = await context.session.get(PartyRow, row.party_id)
    name = party.name if party else shortened(row.wallet_address)
    request = await accept(
        context,
        REVOKE,
        f"Revoke the attestation of {name} on {chain.display_name}",
        subject=("attestation", row.id),
        scope=Scope.ATTESTATIONS_WRITE,
        order=row.party_id,
        arguments={"reason": body.reason, "signer": signer, "organization": str(row.organization_id)},
        below=Below(Action.REVOKE, row.organization_id),
        steps=[
            Step("revoke", f"Revoke on {chain.display_name}", row.chain_eid),
            Step("read_back", "Read back from the chain", row.chain_eid),
        ],
    )
    asked = {"revocation_reason": body.reason, "request_id": str(request.id)}
    await publish(context.session, row.organization_id, "attestation.revoking", ("attestation", row.id), None, asked)
    return _accepted(row, request, acceptance_message(request, "The revocation is being sent to the chain."))


async def check_is_current(session: db.Write, row: AttestationRow, request_id: UUID) -> None:
    """Raise 409 if an attestation would now say something untrue, or replace a newer one; not once it was sent."""
    if await requests.has_sent(session, request_id):
        return
    party = await session.get_one(PartyRow, row.party_id, populate_existing=True)
    check_is_true(row, party)
    newer = sa.select(col(AttestationRow.id)).where(
        col(AttestationRow.organization_id) == row.organization_id,
        col(AttestationRow.chain_eid) == row.chain_eid,
        col(AttestationRow.wallet_address) == row.wallet_address,
        col(AttestationRow.created_at) > row.created_at,
        col(AttestationRow.status) != AttestationStatus.FAILED,
    )
    if await session.scalar(newer.limit(1)) is not None:
        raise Conflict("A newer attestation of this wallet exists on this chain. This one would replace it.")


def check_is_true(row: AttestationRow, party: PartyRow) -> None:
    """Raise 409 if an attestation that was not sent would say what is no longer true of its party."""
    said = Described(row.wallet_address, row.country, Statement(row.kyc_level, row.accredited))
    known = Described(party.wallet_address, party.country, Statement(party.kyc_level, party.accredited))
    rules.check_is_true(said, known, party.status)


async def attest_call(row: AttestationRow) -> Call:
    """Return the registry's call for a record. The commitment is the record's ID: it contains no personal data."""
    at = (await contracts_of(row.chain_eid)).registry
    commitment = hashlib.sha256(row.id.bytes).digest()
    return registry.attest(
        at,
        subject=row.wallet_address,
        level=row.kyc_level,
        country=row.country,
        accredited=row.accredited,
        expires_at=rules.seconds(row.expires_at),
        schema=row.schema_name,
        data_hash=commitment,
    )


async def _check_signer(context: Context, chain: Any, signer: str, call: Call) -> None:
    """Raise 409 if the chain would refuse the call, or the issuer's wallet cannot pay for it."""
    try:
        await rehearse(call.intent("", eid=chain.xchain_eid, signer=signer, organization_id=context.organization_id))
    except InsufficientFunds as error:
        held = await json_rpc.native_balance(chain.xchain_eid, signer)
        raise Conflict(
            f"The issuer's wallet {signer} holds {held / 10**18:.6f} {chain.native_currency_symbol} on "
            f"{chain.display_name}, which does not cover the transaction. Fund it, then send the request again."
        ) from error


async def _check_revocation(context: Context, chain: Any, row: AttestationRow, reason: str) -> str:
    """Return the address that will revoke, after checking that the chain would accept it."""
    at = (await contracts_of(row.chain_eid)).registry
    async with db.paused(context.session):
        answer = await registry.attestation(row.chain_eid, at, str(row.uid))
    signer = await authority.signer(context, chain, row, answer)
    if not answer.revoked_at:
        async with db.paused(context.session):
            await _check_signer(context, chain, signer, registry.revoke(at, str(row.uid), reason))
    return signer


async def _revocable(context: Context, attestation_id: UUID) -> AttestationRow:
    """Return the attestation, locked, if it is active and not being revoked."""
    row = await authority.reached(context, attestation_id)
    rules.check_revocable(_status(row))
    await _check_not_revoking(context, row)
    return row


async def _check_not_revoking(context: Context, row: AttestationRow) -> None:
    query = sa.select(col(RequestRow.id)).where(
        col(RequestRow.subject_id) == row.id, col(RequestRow.kind) == REVOKE, col(RequestRow.status).not_in(FINAL)
    )
    if await context.session.scalar(query) is not None:
        raise Conflict("This attestation is already being revoked.")


def _status(row: AttestationRow) -> AttestationStatus:
    """Return the effective status, also between two sweeps."""
    is_over = row.expires_at is not None and row.expires_at <= clock.chain_now()
    return AttestationStatus.EXPIRED if row.status is AttestationStatus.ACTIVE and is_over else row.status


def _plan(
    chain: Any,
    row: AttestationRow,
    steps: list[str],
    replaced: UUID | None = None,
    affected: Affected | None = None,
) -> AttestationPlan:
    impact = AttestationImpact(
        wallet_address=row.wallet_address,
        chain_eid=chain.xchain_eid,
        kyc_level=row.kyc_level,
        accredited=row.accredited,
        country=row.country,
        expires_at=row.expires_at,
        replaces=replaced,
        **(affected.fields() if affected else {}),
    )
    return AttestationPlan(steps=steps, impact=impact)


def _accepted(row: AttestationRow, request: RequestRow, message: str) -> AttestationAccepted:
    return AttestationAccepted(
        attestationId=row.id, status=accepted_status(request, row.status), request_id=str(request.id), message=message
    )
