"""Workflows that write attestations to the chain and read them back: rows contain only states that were read from the
chain."""

from contextlib import AbstractAsyncContextManager
from uuid import UUID

from backend.attestations import group_workflow, listing, service, states
from backend.attestations.models import AttestationRow
from backend.attestations.schemas import REVOKE, AttestationStatus
from backend.chain.abi.outcome import Outcome
from backend.chain.bindings import registry
from backend.chain.deployment.contracts import contracts_of
from backend.chain.errors import Undone
from backend.chain.models import TransactionStatus
from backend.chain.transactions.execution import execute, find
from backend.core import db
from backend.core.db import Write
from backend.core.errors import Conflict, SignumError, Unavailable
from backend.issuers import service as issuers
from backend.issuers.models import IssuerWalletRow
from backend.requests.models import RequestRow
from backend.requests.runs import Run
from backend.requests.workflows import workflow

__all__ = ["group_workflow", "issue", "revoke"]


async def _issue_failed(run: Run, error: SignumError) -> None:
    """Mark as failed, unless a transaction with an unknown result is out: then it stays pending, and the retry finds
    it."""
    sent = await find(run.key("attest"))
    is_open = isinstance(error, Unavailable) and sent is not None and sent.status is not TransactionStatus.FAILED
    status = AttestationStatus.PENDING if is_open else AttestationStatus.FAILED
    async with run.transaction() as session:
        row = await session.get_one(AttestationRow, run.subject_id, with_for_update=True)
        if row.status is AttestationStatus.PENDING or isinstance(error, Undone):
            await states.change(session, row, status=status, failure=error.detail)


async def _check_retry(session: Write, request: RequestRow) -> None:
    row = await session.get_one(AttestationRow, request.subject_id)
    await service.check_is_current(session, row, request.id)


@workflow(service.ISSUE, on_failure=_issue_failed, on_retry=_check_retry)
async def issue(run: Run) -> None:
    """Attest from the issuer's wallet, then read the attestation back."""
    async with run.transaction() as session:
        row = await session.get_one(AttestationRow, run.subject_id, with_for_update=True)
        await service.check_is_current(session, row, run.request_id)
        await states.change(session, row, status=AttestationStatus.PENDING, failure=None)
        attester = await issuers.attester_on(session, run.organization_id, row.chain_eid)
        await run.begin_step(session, "attest")
    outcome = await _attest(run, row, attester)
    uid = str(outcome.event("Attested")["uid"])
    async with run.step("read_back") as step:
        at = (await contracts_of(row.chain_eid)).registry
        answer = await registry.attestation(row.chain_eid, at, uid)
        if not answer.is_valid or not listing.is_same(row, answer):
            raise Conflict("The registry's attestation differs from the one that was sent.")
        step.detail = f"Valid at block {answer.block_number}"
    found = {"uid": uid, "tx_hash": outcome.tx_hash, "attested_at": states.time_of(answer.issued_at)}

    async def activate(session: Write) -> None:
        await states.activate(session, {row.id: found})

    run.at_success.append(activate)


async def _attest(run: Run, row: AttestationRow, attester: IssuerWalletRow | None) -> Outcome:
    async with run.step("attest", is_begun=True) as step:
        if attester is None:
            raise Conflict("The organization is no longer registered as an issuer on this chain.")
        call = await service.attest_call(row)
        intent = call.intent(
            run.key("attest"),
            eid=row.chain_eid,
            signer=attester.address,
            organization_id=run.organization_id,
            request_id=run.request_id,
            label="attest",
        )
        outcome = await execute(intent, on_stored=lambda tx_hash: step.say("Waiting for the chain", tx_hash))
        step.tx_hash, step.detail = outcome.tx_hash, f"Attested in block {outcome.block_number}"
    return outcome


@workflow(REVOKE)
async def revoke(run: Run) -> None:
    """Revoke from the account that the request names, then read the revocation back. On failure it stays active.

    The attestation may belong to an organization below the requesting one; that was checked when the request was
    accepted.
    """
    async with _both_organizations(run) as session:
        row = await session.get_one(AttestationRow, run.subject_id)
    at, uid = (await contracts_of(row.chain_eid)).registry, str(row.uid)
    async with run.step("revoke") as step:
        answer = await registry.attestation(row.chain_eid, at, uid)
        if not answer.revoked_at or await find(run.key("revoke")):
            call = registry.revoke(at, uid, run.arguments["reason"])
            intent = call.intent(
                run.key("revoke"),
                eid=row.chain_eid,
                signer=run.arguments["signer"],
                organization_id=run.organization_id,
                request_id=run.request_id,
                label="revoke attestation",
            )
            outcome = await execute(intent, on_stored=lambda tx_hash: step.say("Waiting for the chain", tx_hash))
            step.tx_hash, step.detail = outcome.tx_hash, f"Revoked in block {outcome.block_number}"
    async with run.step("read_back") as step:
        answer = await registry.attestation(row.chain_eid, at, uid)
        if not answer.revoked_at:
            raise Conflict("The registry does not show the revocation.")
        step.detail = f"Revoked as of block {answer.block_number}"
        async with _both_organizations(run) as session:
            ended = {"revocation_reason": run.arguments["reason"], "revoked_at": states.time_of(answer.revoked_at)}
            await _set(session, run, status=AttestationStatus.REVOKED, **ended)


def _both_organizations(run: Run) -> AbstractAsyncContextManager[Write]:
    """Open a transaction that sees the request's organization and the attestation's."""
    return db.step(run.organization_id, UUID(run.arguments["organization"]))


async def _set(session: Write, run: Run, **values: object) -> None:
    row = await session.get_one(AttestationRow, run.subject_id, with_for_update=True)
    await states.change(session, row, **values)
