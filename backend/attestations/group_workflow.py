"""Attestations of a group: written to one chain from one wallet, and read back, in few round trips."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.orm import aliased
from sqlmodel import col

from backend.attestations import listing, service, states
from backend.attestations.models import AttestationRow
from backend.attestations.schemas import AttestationStatus
from backend.chain.abi.outcome import Outcome
from backend.chain.bindings import registry
from backend.chain.bindings.registry import Attestation
from backend.chain.deployment.contracts import contracts_of
from backend.core.db import Write
from backend.core.errors import Conflict
from backend.issuers import service as issuers
from backend.parties.models import PartyRow
from backend.requests import group_rows
from backend.requests.group_rows import Notes
from backend.requests.groups import Group, together
from backend.requests.runs import Run

Rows = Mapping[UUID, AttestationRow]
"""Attestations by their requests."""


@together(service.ISSUE)
async def issue(group: Group) -> None:
    """Attest, and read the attestations back. What is refused or no longer true is not sent here."""
    async with group.transaction() as session:
        rows = await _current(session, group.runs)
        if not rows:
            return
        eid = next(iter(rows.values())).chain_eid
        attester = await issuers.attester_on(session, group.organization_id, eid)
        if attester is None:
            return
        await group_rows.begin_step(session, "attest", rows.keys())
    calls = {one: await service.attest_call(row) for one, row in rows.items()}
    outcomes = await group.send("attest", calls, ["attest"], eid=eid, signer=attester.address, label="attest")
    found = await _read_back(rows, eid, outcomes)
    if found:
        async with group.transaction() as session:
            await _record(session, rows, outcomes, found)


async def _current(session: Write, runs: Sequence[Run]) -> Rows:
    """Return the attestations that would still say something true, locked. The newest of a wallet only."""
    newer = aliased(AttestationRow)
    query = sa.select(AttestationRow, PartyRow).join(PartyRow, col(PartyRow.id) == col(AttestationRow.party_id))
    is_newer = sa.and_(
        *(col(getattr(newer, name)) == col(getattr(AttestationRow, name)) for name in states.PLACE),
        col(newer.created_at) > col(AttestationRow.created_at),
        col(newer.status) != AttestationStatus.FAILED,
    )
    mine = col(AttestationRow.id).in_([run.subject_id for run in runs])
    pending = col(AttestationRow.status) == AttestationStatus.PENDING
    query = query.where(mine, pending, ~sa.exists().where(is_newer)).order_by(col(AttestationRow.id))
    locked = await session.execute(query.with_for_update(of=AttestationRow))
    found = {row.id: row for row, party in locked if _is_true(row, party)}
    return {run.request_id: found[run.subject_id] for run in runs if run.subject_id in found}


def _is_true(row: AttestationRow, party: PartyRow) -> bool:
    try:
        service.check_is_true(row, party)
    except Conflict:
        return False
    return True


async def _read_back(rows: Rows, eid: int, outcomes: Mapping[UUID, Outcome]) -> Mapping[UUID, tuple[str, Attestation]]:
    """Return the IDs and answers of the attestations that the registry shows as they were sent, by request."""
    if not outcomes:
        return {}
    uids = {one: str(outcome.event("Attested")["uid"]) for one, outcome in outcomes.items()}
    answers = await registry.attestations(eid, (await contracts_of(eid)).registry, list(uids.values()))
    return {
        one: (uid, answer)
        for (one, uid), answer in zip(uids.items(), answers, strict=True)
        if answer.is_valid and listing.is_same(rows[one], answer)
    }


async def _record(
    session: Write, rows: Rows, outcomes: Mapping[UUID, Outcome], found: Mapping[UUID, tuple[str, Attestation]]
) -> None:
    """End the steps and the requests, and set the attestations to what was read back."""
    sent = {one: Notes(outcomes[one].tx_hash, f"Attested in block {outcomes[one].block_number}") for one in found}
    read = {one: Notes(None, f"Valid at block {answer.block_number}") for one, (_, answer) in found.items()}
    await group_rows.note_step(session, "attest", sent, ends=True)
    await group_rows.note_step(session, "read_back", read, ends=True)
    values = dict[UUID, dict[str, Any]]()
    for one in await group_rows.conclude(session, found.keys()):
        uid, answer = found[one]
        values[rows[one].id] = {
            "uid": uid,
            "tx_hash": outcomes[one].tx_hash,
            "attested_at": states.time_of(answer.issued_at),
        }
    await states.activate(session, values)
