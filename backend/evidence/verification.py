"""The verification of a pack: its files, its origin and its audit entries, and what it says about the chains."""

import asyncio
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.assets import records
from backend.audit import rules as audit_rules
from backend.audit.schemas import AuditEntry
from backend.auth.principal import Context
from backend.core import db
from backend.core.db import now
from backend.evidence import chain_checks, rules, words
from backend.evidence.pack import MANIFEST, Pack, Unreadable
from backend.evidence.places import MOST_SHOWN, Place, hashed
from backend.evidence.schemas import CheckKind, CheckResult, EvidenceCheck, EvidenceVerification

PATIENCE = 60.0
"""Seconds that the checks of a chain may take."""
EXPORTED = "asset.evidence_exported"
"""The action of the audit log's entry of an exported pack."""
_ORIGIN = sa.text("""
  select a.at from audit_log a
  where a.organization_id = :org and a.subject_id = :asset and a.action = :action and a.after ->> 'sha256' = :sha256
  order by a.seq limit 1
""")
_LOG = sa.text("select * from audit_log where organization_id = :org and seq = any(:seqs)")


async def verified(context: Context, asset_id: UUID, pack: Pack) -> EvidenceVerification:
    """Return the checks of a pack. Chains are queried: the session's transaction is paused."""
    checks = rules.file_checks(pack.described(), pack.missing())
    checks.append(await _origin(context, asset_id, pack))
    checks += await _audit(context, pack)
    places = await _places(context, asset_id, pack)
    async with db.paused(context.session):
        for found in await asyncio.gather(*(_of_chain(place) for place in places)):
            checks += found
    counts = {result: sum(check.result is result for check in checks) for result in CheckResult}
    return EvidenceVerification(
        result=rules.verdict(checks),
        at=now(),
        sha256=pack.sha256,
        ok=counts[CheckResult.OK],
        differs=counts[CheckResult.DIFFERS],
        unchecked=counts[CheckResult.UNCHECKED],
        checks=checks,
    )


async def _places(context: Context, asset_id: UUID, pack: Pack) -> list[Place]:
    names = await records.chain_names(context.session)
    rows = {row.chain_eid: row for row in await records.deployments(context.session, asset_id)}
    decimals = (await records.asset(context.session, context.organization_id, asset_id)).decimals
    places = []
    for one in pack.manifest.blocks:
        row = rows.get(one.chain_eid)
        name = names.get(one.chain_eid, f"Chain {one.chain_eid}")
        at, first = (row.token_address, row.block_number or 0) if row else (None, 0)
        places.append(Place(pack, one, name, at, first, decimals))
    return places


async def _of_chain(place: Place) -> list[EvidenceCheck]:
    try:
        async with asyncio.timeout(PATIENCE):
            return await chain_checks.checked(place)
    except TimeoutError:
        reason = f"{place.name} took longer than {PATIENCE:.0f} s to answer."
        place.add(CheckKind.BLOCK, "Chain", CheckResult.UNCHECKED, reason=reason)
        return place.checks


async def _origin(context: Context, asset_id: UUID, pack: Pack) -> EvidenceCheck:
    """Compare the manifest with the hash that the audit log has of it: it covers the hash of every other file."""
    sha256 = next(file.sha256 for file in pack.described() if file.path == MANIFEST)
    values = {"org": context.organization_id, "asset": str(asset_id), "action": EXPORTED, "sha256": sha256}
    at = await context.session.scalar(_ORIGIN, values)
    subject = "Made by Signum"
    if at is not None:
        reason = f"The audit log has the export of this pack, at {words.exact(at)}."
        return EvidenceCheck(kind=CheckKind.ORIGIN, subject=subject, result=CheckResult.OK, reason=reason)
    if not pack.manifest.asset_name:
        reason = "Exports of this earlier version of Signum are not in the audit log."
        return EvidenceCheck(kind=CheckKind.ORIGIN, subject=subject, result=CheckResult.UNCHECKED, reason=reason)
    return EvidenceCheck(
        kind=CheckKind.ORIGIN,
        subject=subject,
        result=CheckResult.DIFFERS,
        expected=hashed(sha256),
        reason="The audit log has no export with this manifest. Its list of files was changed, or another installation "
        "made the pack.",
    )


async def _audit(context: Context, pack: Pack) -> list[EvidenceCheck]:
    """Compare each audit entry with its own hash, and the hash with the audit log's."""
    if "audit.json" not in pack.files:
        return []
    try:
        entries = pack.audit()
    except Unreadable as error:
        return [_audit_check("Audit entries", CheckResult.UNCHECKED, reason=str(error))]
    values = {"org": context.organization_id, "seqs": [entry.seq for entry in entries if 0 < entry.seq < 2**63]}
    rows = [dict(row) for row in (await context.session.execute(_LOG, values)).mappings()]
    known = {row["seq"]: _hashes(row) for row in rows}
    faults = [(entry, why) for entry in entries if (why := _fault(entry, known.get(entry.seq)))]
    if not faults:
        return [_audit_check("Audit entries", CheckResult.OK, count=len(entries))] if entries else []
    return [
        _audit_check(f"Audit entry {entry.seq:,}", CheckResult.DIFFERS, reason=why)
        for entry, why in faults[:MOST_SHOWN]
    ]


def _audit_check(subject: str, result: CheckResult, *, count: int = 1, reason: str | None = None) -> EvidenceCheck:
    return EvidenceCheck(kind=CheckKind.AUDIT, subject=subject, result=result, count=count, reason=reason)


def _hashes(row: dict[str, Any]) -> tuple[str, ...]:
    """Return the hash of an entry of the log, then that of the rest after an erasure."""
    return (row["hash"],) if row["erased_by"] is None else (row["hash"], audit_rules.hash_of(row))


def _fault(entry: AuditEntry, known: tuple[str, ...] | None) -> str | None:
    if known is None:
        return "The audit log does not have this entry."
    if known[0] != entry.hash:
        return "The audit log has another hash for this entry."
    if not entry.withheld and not _fits(entry, known):
        return "The entry's content does not match its hash."
    return None


def _fits(entry: AuditEntry, known: tuple[str, ...]) -> bool:
    """Return whether an entry has its original content, or the rest after an erasure."""
    try:
        return audit_rules.hash_of(_as_row(entry)) in known
    except (ValueError, OverflowError):  # no entry of the log has such numbers, texts or times
        return False


def _as_row(entry: AuditEntry) -> dict[str, object]:
    """Return an entry with the columns of the log."""
    subject = {"subject_type": entry.subject.type, "subject_id": entry.subject.id}
    return entry.model_dump(exclude={"subject"}) | subject | {"at": entry.at}
