"""An attestation as pages show it, and its current on-chain state."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from backend.attestations.schemas import AttestationRead, AttestationStatus
from backend.compliance.countries import country_name
from state.chains.lookup import Chains
from state.core.dates import stamp
from state.core.session import initials
from state.core.units import shortened
from state.requests.views import shown_status

SOON = timedelta(days=30)


@dataclass
class AttestationView:
    """An attestation; empty strings for null. `shown` is its status, `expiring` within 30 days of
    expiry, or `awaiting_approval`."""

    id: str = ""
    party_id: str = ""
    name: str = ""
    mark: str = ""
    email: str = ""
    eid: int = 0
    chain: str = ""
    wallet: str = ""
    wallet_words: str = ""
    """The short address, and the label if the organization has one."""
    wallet_url: str = ""
    level: int = 0
    accredited: bool = False
    country: str = ""
    country_name: str = ""
    expires_at: str = ""
    uid: str = ""
    status: str = ""
    shown: str = ""
    tx_hash: str = ""
    tx_url: str = ""
    request_id: str = ""
    reason: str = ""
    revoked_at: str = ""
    revoked_by: str = ""
    failure: str = ""
    created_at: str = ""
    updated_at: str = ""


def attestation_view(record: AttestationRead, chains: Chains) -> AttestationView:
    """Convert the API's attestation; `chains` is a state that has read the chains."""
    name, eid = record.party.name if record.party else "", record.chain_eid
    return AttestationView(
        id=str(record.id),
        party_id=str(record.party_id),
        name=name,
        mark=initials(name or "?"),
        email=(record.party.email if record.party else None) or "",
        eid=eid,
        chain=chains._chain_name(eid),
        wallet=record.wallet_address,
        wallet_words=_wallet_words(record),
        wallet_url=chains._address_url(eid, record.wallet_address),
        level=record.kyc_level,
        accredited=record.accredited,
        country=record.country,
        country_name=country_name(record.country),
        expires_at=stamp(record.expires_at),
        uid=record.uid or "",
        status=record.status,
        shown="expiring" if _expires_soon(record) else shown_status(record),
        tx_hash=record.tx_hash or "",
        tx_url=chains._transaction_url(eid, record.tx_hash),
        request_id=str(record.request_id or ""),
        reason=record.revocation_reason or "",
        revoked_at=stamp(record.revoked_at),
        revoked_by=record.revoked_by_name or "",
        failure=record.failure or "",
        created_at=stamp(record.created_at),
        updated_at=stamp(record.updated_at),
    )


def _expires_soon(record: AttestationRead) -> bool:
    if record.status is not AttestationStatus.ACTIVE or record.expires_at is None:
        return False
    return record.expires_at - datetime.now(UTC) <= SOON


def _wallet_words(record: AttestationRead) -> str:
    short = shortened(record.wallet_address)
    return f"{short} ({record.wallet_label})" if record.wallet_label else short
