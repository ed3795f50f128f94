"""Parties whose latest attestation on a chain was revoked: no page offers to attest them again in one step."""

from collections.abc import Iterable

from backend.attestations.schemas import REPLACED, AttestationRead, AttestationStatus
from backend.client import SessionClient

BECAME_VALID = (AttestationStatus.ACTIVE, AttestationStatus.EXPIRED, AttestationStatus.REVOKED)
"""Statuses of attestations that were on the chain. One that is pending or failed changes nothing."""


def revoked_of(records: Iterable[AttestationRead]) -> list[AttestationRead]:
    """Return each chain's latest attestation if it was revoked, from a party's attestations, the newest first."""
    latest: dict[int, AttestationRead] = {}
    for record in records:
        if record.status in BECAME_VALID:
            latest.setdefault(record.chain_eid, record)
    return [one for one in latest.values() if is_revoked(one)]


def is_revoked(record: AttestationRead) -> bool:
    """Return whether someone revoked it. One that a newer one replaced has that status too."""
    return record.status is AttestationStatus.REVOKED and record.revocation_reason != REPLACED


async def read_revoked(api: SessionClient, org_id: str, party_id: str) -> list[AttestationRead]:
    """Return a party's revoked attestations by chain, as `revoked_of`."""
    return revoked_of((await api.list_attestations(org_id, party_id=party_id, limit=100)).attestations)


async def refusal_to_attest(api: SessionClient, org_id: str, party_id: str, eid: int) -> str:
    """Return why a party is not attested again in one step on a chain; empty if nothing was revoked there."""
    found = [one for one in await read_revoked(api, org_id, party_id) if one.chain_eid == eid]
    return f"{revocation_words(found[0])} Review the party's case first." if found else ""


def revocation_words(record: AttestationRead) -> str:
    """Return when an attestation was revoked, by whom and why, as far as it is known."""
    on = f" on {record.revoked_at:%-d %b %Y}" if record.revoked_at else ""
    by = f" by {record.revoked_by_name}" if record.revoked_by_name else ""
    reason = (record.revocation_reason or "").rstrip(".")
    return f"The attestation was revoked{on}{by}{f': {reason}' if reason else ''}."
