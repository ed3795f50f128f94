"""Workflows of an accepted activation, cancellation or payment; every step reads the chain before it writes there."""

from dataclasses import asdict
from typing import Any

from backend.assets import records
from backend.assets.models import AssetRow
from backend.assets.transaction_step import write
from backend.assets.transfer_check import Place
from backend.chain.abi.outcome import Outcome
from backend.chain.bindings import distributor, quote_token, registry, token
from backend.chain.deployment.contracts import contracts_of
from backend.chain.errors import Reverted, Undone
from backend.chain.indexer import indexer
from backend.chain.rpc.json_rpc import connect
from backend.core.db import Write
from backend.core.errors import Conflict, SignumError
from backend.distributions import currencies, funding, payments, proofs, rules, states
from backend.distributions.models import DistributionRow
from backend.distributions.rules import Payout
from backend.distributions.schemas import DistributionStatus, Proof
from backend.issuers import service as issuers
from backend.requests.models import RequestRow
from backend.requests.runs import Run, StepNotes
from backend.requests.workflows import workflow


async def activation_failed(run: Run, error: SignumError) -> None:
    """Return the distribution to draft, with the reason; the next attempt uses what was done on chain."""
    row = await _row(run)
    if row.request_id != run.request_id:
        return  # a newer activation decides about the status
    if row.status is DistributionStatus.ACTIVATING or isinstance(error, Undone):
        await _note(run, status=DistributionStatus.DRAFT, failure=error.detail)


async def check_activation(session: Write, request: RequestRow) -> None:
    """Raise 409 if a newer request activated the distribution."""
    row = await session.get_one(DistributionRow, request.subject_id, with_for_update=True)
    rules.check_is_current(request.id, row.request_id)


@workflow("distribution.activate", on_failure=activation_failed, on_retry=check_activation)
async def activate(run: Run) -> None:
    """Create the distributor, its attestation, the sum and the root; active once the chain confirms it."""
    row = await _begin(run)
    place = await _place(run, row)
    async with run.step("distributor_created") as step:
        row = await _create(run, step, row, place)
    if row.currency_address is None:
        async with run.step("distributor_attested") as step:
            await _attest(run, step, row, place)
    async with run.step("distribution_funded") as step:
        await _approve(run, step, row, place)
    async with run.step("distribution_active") as step:
        await _activate(run, step, row, place)


async def _begin(run: Run) -> DistributionRow:
    async with run.transaction() as session:
        row = await session.get_one(DistributionRow, run.subject_id, with_for_update=True)
        rules.check_is_current(run.request_id, row.request_id)
        if row.status is DistributionStatus.CANCELLED:
            raise Conflict("The distribution was cancelled in the meantime.")
        if row.status is DistributionStatus.DRAFT:
            await states.change(session, row, status=DistributionStatus.ACTIVATING, failure=None)
        if "merkle_root" in run.arguments:  # requests of earlier versions lack it
            await states.change(session, row, **asdict(Payout.of(run.arguments)))
        return row


async def _place(run: Run, row: DistributionRow) -> Place:
    async with run.transaction() as session:
        rows = records.active(await records.deployments(session, row.asset_id))
    at = next((r.token_address for r in rows if r.chain_eid == row.chain_eid), None)
    if at is None:
        raise Conflict("The asset no longer has an active token on the distribution's chain.")
    return Place(run.organization_id, row.chain_eid, at, (await contracts_of(row.chain_eid)).registry)


async def _create(run: Run, step: StepNotes, row: DistributionRow, place: Place) -> DistributionRow:
    if row.distributor_address is None:
        owner = await token.owner(place.eid, place.token)
        call = distributor.deploy(owner, row.currency_address or place.token)
        outcome = await write(run, step, call, "distributor", eid=place.eid, signer=owner, label="create distributor")
        row = await _note(run, distributor_address=outcome.created, block_number=outcome.block_number)
    step.detail = row.distributor_address
    return row


async def _attest(run: Run, step: StepNotes, row: DistributionRow, place: Place) -> None:
    """Attest with the organization's attester, unless the token's rules already let the distributor hold it."""
    at = _address(row)
    if await _is_activated(row) or await funding.is_eligible(place, at):
        step.detail = step.detail or "The token's rules let the distributor hold the sum."
        return
    async with run.transaction() as session:
        attester = await issuers.attester_on(session, run.organization_id, place.eid)
    means = await funding.check(place, attester.address if attester else None, row.total_amount or 0)
    call = registry.attest(
        place.registry,
        subject=at,
        level=means.level,
        country=distributor.COUNTRY,
        accredited=means.accredited,
        schema=distributor.SCHEMA,
    )
    key = f"attest.{run.attempt}"
    await write(run, step, call, key, eid=place.eid, signer=means.attester, label="attest distributor")
    step.detail = f"Attested at KYC level {means.level}; a distributor has no country."


async def _approve(run: Run, step: StepNotes, row: DistributionRow, place: Place) -> None:
    if await _is_activated(row):
        return
    if not row.total_amount:
        step.detail = "No sum was given: transfers to the distributor fund the claims."
        return
    owner, at = await token.owner(place.eid, place.token), _address(row)
    if row.currency_address is not None:
        call = quote_token.approve(row.currency_address, at, row.total_amount)
    else:
        call = token.approve(place.token, at, row.total_amount)
    await write(run, step, call, f"approve.{run.attempt}", eid=place.eid, signer=owner, label="approve distribution")


async def _activate(run: Run, step: StepNotes, row: DistributionRow, place: Place) -> None:
    at, outcome = _address(row), None
    assert row.merkle_root is not None
    if not await _is_activated(row):
        call = distributor.activate(at, row.merkle_root, row.total_amount or 0, row.total_recipients or 0)
        owner = await token.owner(place.eid, place.token)
        outcome = await write(run, step, call, "activate", eid=place.eid, signer=owner, label="activate distribution")
    info = await distributor.info(place.eid, at)
    if (info.root, info.total_recipients) != (row.merkle_root, row.total_recipients):
        raise Conflict("The root or count on chain differs from what was sent.")
    recipients = "1 recipient" if row.total_recipients == 1 else f"{row.total_recipients:,} recipients"
    step.detail = f"{await _written(run, row, row.total_amount or 0)} for {recipients}."
    async with run.transaction() as session:
        row = await session.get_one(DistributionRow, run.subject_id, with_for_update=True)
        if row.status is DistributionStatus.ACTIVATING:
            await states.change(session, row, status=DistributionStatus.ACTIVE, failure=None)
    await _catch_up(place.eid, outcome)


async def _catch_up(eid: int, outcome: Outcome | None) -> None:
    if outcome is not None:
        await indexer.catch_up(eid, outcome.block_number)


async def check_cancellation(session: Write, request: RequestRow) -> None:
    """Raise 409 if the distribution was activated after its cancellation was requested."""
    row = await session.get_one(DistributionRow, request.subject_id, with_for_update=True)
    rules.check_same_status(request.arguments.get("status"), row.status)


@workflow("distribution.cancel", on_retry=check_cancellation)
async def cancel(run: Run) -> None:
    """Close the distributor, which returns unclaimed amounts, and read that back. On failure it stays active."""
    row = await _row(run)
    async with run.step("distribution_closed") as step:
        if row.status is DistributionStatus.COMPLETED:
            raise Conflict("Everything was claimed in the meantime.")
        if row.distributor_address is not None and await _is_activated(row):
            await _close(run, step, row)
        await _note(run, status=DistributionStatus.CANCELLED, failure=None)


async def _close(run: Run, step: StepNotes, row: DistributionRow) -> None:
    at, outcome = _address(row), None
    info = await distributor.info(row.chain_eid, at)
    if not info.is_closed:
        call = distributor.close(at)
        outcome = await write(
            run, step, call, f"close.{run.attempt}", eid=row.chain_eid, signer=info.owner, label="close distribution"
        )
        info = await distributor.info(row.chain_eid, at)
    if not info.is_closed:
        raise Conflict("The chain does not show the distributor as closed.")
    step.detail = f"{await _written(run, row, (row.total_amount or 0) - info.claimed_amount)} returned."
    await _catch_up(row.chain_eid, outcome)


@workflow(payments.KIND)
async def pay(run: Run) -> None:
    """Send a recipient's claim. It succeeds too if the amount was claimed in the meantime, by anyone."""
    row = await _row(run)
    async with run.transaction() as session:
        proof = await proofs.of(session, row, run.arguments["address"])
    async with run.step("recipient_paid") as step:
        await _pay(run, step, row, proof)


async def _pay(run: Run, step: StepNotes, row: DistributionRow, proof: Proof) -> None:
    eid, at = row.chain_eid, _address(row)
    outcome = None if await distributor.is_claimed(eid, at, proof.index) else await _claim(run, step, row, proof)
    elsewhere = "" if outcome else " It was claimed in the meantime."
    step.detail = f"{await _written(run, row, int(proof.amount))} paid to {proof.address}.{elsewhere}"
    await indexer.catch_up(eid, outcome.block_number if outcome else await (await connect(eid)).height())


async def _claim(run: Run, step: StepNotes, row: DistributionRow, proof: Proof) -> Outcome | None:
    """Send a claim; return None if another one came first."""
    eid, at = row.chain_eid, _address(row)
    info = await distributor.info(eid, at)
    if info.is_closed:
        raise Conflict("The distribution was cancelled in the meantime.")
    call = distributor.claim(at, proof.index, proof.address, int(proof.amount), proof.proof)
    try:
        return await write(run, step, call, f"pay.{run.attempt}", eid=eid, signer=info.owner, label="pay recipient")
    except Reverted:
        if await distributor.is_claimed(eid, at, proof.index):
            return None
        raise


async def _written(run: Run, row: DistributionRow, units: int) -> str:
    async with run.transaction() as session:
        return currencies.written(row, await session.get_one(AssetRow, row.asset_id), units)


async def _is_activated(row: DistributionRow) -> bool:
    return (await distributor.info(row.chain_eid, _address(row))).root is not None


def _address(row: DistributionRow) -> str:
    assert row.distributor_address is not None
    return row.distributor_address


async def _row(run: Run) -> DistributionRow:
    async with run.transaction() as session:
        return await session.get_one(DistributionRow, run.subject_id)


async def _note(run: Run, **values: Any) -> DistributionRow:
    async with run.transaction() as session:
        row = await session.get_one(DistributionRow, run.subject_id, with_for_update=True)
        await states.change(session, row, **values)
        return row
